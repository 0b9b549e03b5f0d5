import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ENGINES } from './engines.ts';
import { signIn } from './factories.ts';
import type { TestReply } from './harness.ts';
import { type AnyRouteName, type Ask, RIGHT, ROUTE_NAMES, request, TABLE } from './requests.ts';
import { startWorld, type World } from './world.ts';

const MEMBERS = '/v1/organizations/me/members';
const DIRECTORY = '/v1/organizations/me/directory';

/** A caller, and the end of their permission. */
interface Ending {
  as: string;
  end: () => Promise<TestReply>;
}

let counter = 0;

/** A new owner, and their id. */
async function newOwner({ service, ours }: World) {
  const name = `slow-${++counter}`;
  const body = { email: `${name}@example.com`, role: 'owner' };
  await service.call('POST', MEMBERS, { as: ours.owner, body });
  const as = await signIn(service, name);
  return { as, userId: (await service.call('GET', '/v1/me', { as })).body.userId as string };
}

const removed = async (world: World): Promise<Ending> => {
  const { as, userId } = await newOwner(world);
  const end = () => world.service.call('DELETE', `${MEMBERS}/${userId}`, { as: world.ours.owner });
  return { as, end };
};

const demoted = async (world: World): Promise<Ending> => {
  const { as, userId } = await newOwner(world);
  const body = { role: 'member' };
  const end = () => world.service.call('PATCH', `${MEMBERS}/${userId}`, { as: world.ours.owner, body });
  return { as, end };
};

/** Another organization's member when the rest of the body arrives. */
const moved = async (world: World): Promise<Ending> => {
  const { as, userId } = await newOwner(world);
  const { service, ours, theirs } = world;
  async function end() {
    await service.call('DELETE', `${MEMBERS}/${userId}`, { as: ours.owner });
    const body = { email: `slow-${counter}@example.com`, role: 'owner' };
    await service.call('POST', MEMBERS, { as: theirs.owner, body });
    return service.call('GET', '/v1/me', { as });
  }
  return { as, end };
};

const revoked = async ({ service, ours }: World): Promise<Ending> => {
  const issued = await service.call('POST', '/v1/organizations/me/secrets', { as: ours.owner });
  const { value, secretId } = issued.body;
  const end = () => service.call('DELETE', `/v1/organizations/me/secrets/${secretId}`, { as: ours.owner });
  return { as: value, end };
};

const replaced = async ({ service, ours }: World): Promise<Ending> => {
  const issue = () => service.call('POST', `${DIRECTORY}/token`, { as: ours.owner });
  return { as: (await issue()).body.value, end: issue };
};

const expired = async ({ service }: World): Promise<Ending> => {
  const as = await signIn(service, `slow-${++counter}`);
  const { verify } = service.identity;
  const refused = await service.identity.token({ subject: 'late' }, -60);
  async function end() {
    service.identity.verify = () => verify(refused);
    return service.call('GET', '/health');
  }
  return { as, end };
};

const ENDINGS = {
  public: {},
  visitor: {},
  secret: { 'a revoked secret': [revoked, 401] },
  user: { 'a person whose sign-in ended': [expired, 401] },
  member: { 'a removed member': [removed, 403], 'a member of another organization by then': [moved, 403] },
  admin: { 'a removed admin': [removed, 403], 'an admin who was made a member': [demoted, 403] },
  directory: { 'a directory whose token was replaced': [replaced, 401] },
} as const;

const ROWS = ROUTE_NAMES.filter((route) => TABLE[route].body).flatMap((route) =>
  Object.entries<readonly [(world: World) => Promise<Ending>, number]>(ENDINGS[TABLE[route].auth]).map(
    ([who, [make, status]]) => ({ route, who, make, status }),
  ),
);

describe.each(ENGINES)('a body that arrives slowly on %s', (engine) => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld(engine);
  });
  afterAll(() => world.service.close());

  /** Moves the clock while the last byte is held back. */
  const late = (end?: Ending['end']) => ({
    async beforeLastByte() {
      if (end) expect((await end()).status).toBeLessThan(300);
      world.service.clock.now += 150;
    },
  });

  test.each(ROWS)('$route refuses $who', async ({ route, make, status }) => {
    const { verify } = world.service.identity;
    const { as, end } = await make(world);
    const reply = await request(world.service, route, askOf(world, route), as, late(end));
    world.service.identity.verify = verify;
    expect(reply, reply.text).toMatchObject({ status });
  });

  test('is accepted from a caller whose permission did not end', async () => {
    const { as } = await newOwner(world);
    const reply = await request(world.service, 'renameOrganization', { body: { name: 'ours' } }, as, late());
    expect(reply.status).toBe(200);
  });
});

/** A valid request whose body is not empty. */
const askOf = (world: World, route: AnyRouteName): Ask => ({ body: {}, ...RIGHT[route](world) });
