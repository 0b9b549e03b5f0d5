import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ENGINES } from './engines.ts';
import type { TestReply } from './harness.ts';
import { RIGHT, RIGHT_CALLER, ROUTE_NAMES, request, TABLE } from './requests.ts';
import { expectProblem } from './shape.ts';
import { type Side, startWorld, type World } from './world.ts';

/** Excludes the token of a share, which is no id: it admits everybody who has it (`tables/shares.ts`). */
const WITH_ID = ROUTE_NAMES.filter((name) => /\{(?!token\})/.test(TABLE[name].path));
const OF_A_SESSION = WITH_ID.filter(
  (name) => TABLE[name].auth === 'secret' && TABLE[name].path.includes('{sessionId}'),
);

/** Ids whose name in the world differs from the name in the address. */
const ID_IN_WORLD: Record<string, keyof Side> = { holdId: 'releasedHoldId' };

/** Everything that a caller sees of an answer, except values that differ for each request. */
function visible({ status, headers, text }: TestReply) {
  const { date, 'x-request-id': requestId, ...rest } = headers;
  return { status, headers: rest, text };
}

describe.each(ENGINES)('strangers on %s', (engine) => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld(engine);
  });
  afterAll(() => world.service.close());

  const ask = (route: (typeof ROUTE_NAMES)[number], id: string, as = RIGHT_CALLER[TABLE[route].auth](world)) => {
    const right = RIGHT[route](world);
    const [param] = Object.keys(right.params ?? {});
    return request(world.service, route, { ...right, params: { [String(param)]: id } }, as);
  };
  const idOf = (route: (typeof ROUTE_NAMES)[number], side: Side) => {
    const [param] = Object.keys(RIGHT[route](world).params ?? {});
    return side[ID_IN_WORLD[String(param)] ?? (param as keyof Side)];
  };

  test.each(WITH_ID)("%s answers another organization's id like an unknown id", async (route) => {
    const foreign = await ask(route, idOf(route, world.theirs));
    expectProblem(foreign, 404, 'not_found');
    const [prefix] = idOf(route, world.theirs).split('_');
    const unknown = await ask(route, `${prefix}_${'0'.repeat(32)}`);
    expect(visible(foreign)).toEqual(visible(unknown));
  });

  test.each(OF_A_SESSION)('%s does not see the other plane', async (route) => {
    const unknown = await ask(route, 'ses_none');
    const { ours } = world;
    expect(visible(await ask(route, ours.testSessionId, ours.live))).toEqual(visible(unknown));
    expect(visible(await ask(route, ours.sessionId, ours.test))).toEqual(visible(unknown));
  });

  test('nothing of the other organization has changed', async () => {
    const { service, theirs } = world;
    const { body } = await service.call('GET', `/v1/organizations/me/sessions/${theirs.sessionId}`, {
      as: theirs.member,
    });
    expect(body.session).toMatchObject({ eventCount: 2, status: 'active' });
    const { secrets } = (await service.call('GET', '/v1/organizations/me/secrets', { as: theirs.member })).body;
    expect(secrets.every(({ status }: { status: string }) => status === 'active')).toBe(true);
    const machine = `/v1/organizations/me/environments/${theirs.environmentId}`;
    expect((await service.call('GET', machine, { as: theirs.member })).body.environment.status).toBe('active');
  });
});
