import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { KINDS, statusFor } from './authorization.ts';
import { CALLERS, type Caller } from './callers.ts';
import { ENGINES, type TestEngine } from './engines.ts';
import type { TestReply } from './harness.ts';
import { type AnyRouteName, type Ask, RIGHT, ROUTE_NAMES, request, TABLE } from './requests.ts';
import { expectProblem } from './shape.ts';
import { type Side, startWorld, type World } from './world.ts';

/** Routes that end things that other routes need if they succeed. They are called last, in this order. */
const LATE: readonly AnyRouteName[] = [
  'getDeletionReceipt',
  'forgetDeletion',
  'setMachinePerson',
  'deleteView',
  'repeatInvitation',
  'removeMember',
  'revokeEnvironment',
  'deleteScimUser',
  'revokeDirectoryToken',
  'leaveOrganization',
  'deleteAccount',
  'createOrganization',
  'deleteOrganization',
];

describe.each(ENGINES)('callers on %s', (engine) => {
  const refused = CALLERS.filter(({ kind }) => KINDS[kind].credential === 'none');
  describe('without a valid credential', () => play(engine, refused));
  describe.each(CALLERS.filter((caller) => !refused.includes(caller)))('$name', (caller) => play(engine, [caller]));
});

/** Sends the valid request of each route as each of the callers, in one world. */
function play(engine: TestEngine, callers: readonly Caller[]): void {
  let world: World;
  const sent = new Map<Caller, Record<string, string>>();
  beforeAll(async () => {
    world = await startWorld(engine);
    for (const caller of callers) sent.set(caller, await caller.headers(world));
  });
  afterAll(() => world.service.close());

  const rows = ROUTE_NAMES.flatMap((route) =>
    callers.map((caller) => ({ route, name: caller.name, status: statusFor(route, caller.kind), caller })),
  ).toSorted((one, other) => turnOf(one) - turnOf(other));

  test.each(rows)('$route answers $status to $name', async ({ route, status, caller }) => {
    if (route === 'deleteOrganization') await releaseHolds(world);
    const ask = { ...RIGHT[route](world), ...asked(route), headers: sent.get(caller) ?? {} };
    const { auth, replies, contentType } = TABLE[route];
    const isStream = contentType === 'text/event-stream' && status in replies;
    const reply = isStream ? await beginStream(world, route, ask) : await request(world.service, route, ask);
    if (status in replies) expect(reply, reply.text).toMatchObject({ status });
    else {
      const missing = auth === 'secret' ? caller.withoutSecret : caller.withoutPerson;
      expectProblem(reply, status, status === 401 ? missing : undefined);
    }
    if ('isForeign' in KINDS[caller.kind] && auth !== 'public') expectNothingOf(world.ours, ask, reply.text);
  });
}

const turnOf = ({ route, status }: { route: AnyRouteName; status: number }) =>
  status >= 400 ? -1 : LATE.indexOf(route) + 1;

/** A different valid request for the route whose usual request would end shared things. */
const asked = (route: AnyRouteName): Ask => (route === 'deleteOrganization' ? { body: { name: 'ours' } } : {});

/** Releases all holds, because held sessions cannot be deleted. */
async function releaseHolds({ service, ours }: World): Promise<void> {
  const url = '/v1/organizations/me/holds';
  const { holds } = (await service.call('GET', url, { as: ours.owner })).body;
  for (const { holdId } of holds) await service.call('DELETE', `${url}/${holdId}`, { as: ours.owner });
}

/** Reads only the head of a stream, because the stream does not end. */
async function beginStream({ service }: World, route: AnyRouteName, { headers = {} }: Ask): Promise<TestReply> {
  const { method, path } = TABLE[route];
  const reply = await service.app.inject({ method, url: path, headers, payloadAsStream: true });
  reply.stream().destroy();
  return { status: reply.statusCode, headers: {}, text: '', body: undefined };
}

/** Expects an answer to another organization to contain nothing of this one, unless the request had it. */
function expectNothingOf(side: Side, ask: Ask, text: string): void {
  const sent = JSON.stringify(ask);
  const { ownerId, memberId, organizationId, environmentId, installationId, secretId, sessionId, live } = side;
  const theirs = [ownerId, memberId, organizationId, environmentId, installationId, secretId, sessionId, live];
  for (const id of theirs.filter((id) => !sent.includes(id))) expect(text).not.toContain(id);
}

describe.each(ENGINES)('credentials on %s', (engine) => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld(engine);
  });
  afterAll(() => world.service.close());

  test.each(ROUTE_NAMES)('%s refuses an invalid credential before it reads the body', async (route) => {
    const { auth, body } = TABLE[route];
    if (auth === 'public' || !body) return;
    expectProblem(await request(world.service, route, { ...RIGHT[route](world), body: '{' }), 401);
  });

  test('the secret header is accepted, and wins over a bearer token', async () => {
    const { service, ours } = world;
    const both = { 'x-service-secret': ours.test, authorization: `Bearer ${ours.live}` };
    const reply = await service.call('GET', '/v1/secret', { headers: both });
    expect(reply).toMatchObject({ status: 200, body: { secretEnvironment: 'test' } });
    const lower = await service.call('GET', '/v1/secret', { headers: { authorization: `bearer  ${ours.live} ` } });
    expect(lower).toMatchObject({ status: 200, body: { secretEnvironment: 'live' } });
  });
});
