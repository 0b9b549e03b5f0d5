import { expect } from 'vitest';
import { openSession, registerMachine } from '../factories.ts';
import type { Ask } from '../requests.ts';
import type { Scenario } from '../scenarios.ts';
import type { World } from '../world.ts';

const machine = (fields: object = {}) => ({
  body: { hostname: 'box', platform: 'linux', serviceCliVersion: '1.0.0', ...fields },
});

const WRONG_FIELDS: [field: string, name: string, value: unknown][] = [
  ['hostname', 'none', undefined],
  ['hostname', 'empty', ''],
  ['hostname', '256 characters', 'h'.repeat(256)],
  ['hostname', 'a NUL', 'a\u0000'],
  ['hostname', 'a number', 1],
  ['platform', 'none', undefined],
  ['platform', 'an unknown one', 'freebsd'],
  ['platform', 'other letters', 'Linux'],
  ['serviceCliVersion', 'none', undefined],
  ['serviceCliVersion', '65 characters', '1'.repeat(65)],
  ['displayName', '201 characters', 'd'.repeat(201)],
  ['displayName', 'null', null],
  ['repoRoot', 'a relative path', 'code/app'],
  ['repoRoot', '4097 characters', `/${'r'.repeat(4096)}`],
  ['repoRoot', 'a NUL', '/a\u0000'],
  ['repoRemote', '4097 characters', 'r'.repeat(4097)],
  ['gitBranch', '4097 characters', 'b'.repeat(4097)],
];

const TAKEN_FIELDS: [name: string, fields: object][] = [
  [
    'every length at its limit',
    { hostname: 'h'.repeat(255), displayName: 'd'.repeat(200), gitBranch: 'b'.repeat(4096) },
  ],
  ['a POSIX path', { hostname: 'posix', repoRoot: '/home/dev/app' }],
  ['a Windows path', { hostname: 'drive', platform: 'win32', repoRoot: 'C:\\code\\app' }],
  ['a Windows share', { hostname: 'share', platform: 'win32', repoRoot: '\\\\server\\share' }],
  ['unknown fields', { hostname: 'newer', kernel: '6.1', nested: { a: [1] } }],
];

/** A new machine of nobody, whose person is to be this one. */
const person =
  (wanted: (world: World) => string | null, ...before: ((world: World) => [as: string, userId: string | null])[]) =>
  async (world: World): Promise<Ask> => {
    const { service, ours } = world;
    const { environmentId } = await registerMachine(service, ours.live, `of-a-row-${++machines}`);
    for (const step of before) {
      const [as, userId] = step(world);
      const path = `/v1/organizations/me/environments/${environmentId}/person`;
      await service.call('PUT', path, { as, body: { userId } });
    }
    return { params: { environmentId }, body: { userId: wanted(world) } };
  };
let machines = 0;

const member = ({ ours }: World) => ours.memberId;
const owner = ({ ours }: World) => ours.ownerId;
const nobody = () => null;
const asAdmin = ({ ours }: World) => ours.admin;
const claimed = ({ ours }: World): [string, string] => [ours.member, ours.memberId];
const given = ({ ours }: World): [string, string] => [ours.admin, ours.memberId];

const PERSONS: readonly Scenario[] = [
  {
    route: 'setMachinePerson',
    name: 'a member claims a machine of nobody, and waits for an admin',
    ask: person(member),
    status: 200,
    body: ({ ours }) => ({ environment: { claimedBy: ours.memberId } }),
    after: (_, { body }) => expect(body.environment).not.toHaveProperty('userId'),
  },
  {
    route: 'setMachinePerson',
    name: 'an admin agrees to a claim by the same call',
    as: asAdmin,
    ask: person(member, claimed),
    status: 200,
    body: ({ ours }) => ({ environment: { userId: ours.memberId } }),
    after: (_, { body }) => expect(body.environment).not.toHaveProperty('claimedBy'),
  },
  {
    route: 'setMachinePerson',
    name: 'an admin refuses a claim: it stays nobody’s',
    as: asAdmin,
    ask: person(nobody, claimed),
    status: 200,
    after: (_, { body }) => expect(body.environment).not.toHaveProperty('claimedBy'),
  },
  {
    route: 'setMachinePerson',
    name: 'an admin gives it to another member',
    as: asAdmin,
    ask: person(owner, given),
    status: 200,
    body: ({ ours }) => ({ environment: { userId: ours.ownerId } }),
  },
  {
    route: 'setMachinePerson',
    name: 'an admin makes it nobody’s',
    as: asAdmin,
    ask: person(nobody, given),
    status: 200,
    after: (_, { body }) => expect(body.environment).not.toHaveProperty('userId'),
  },
  { route: 'setMachinePerson', name: 'a member takes a claim back', ask: person(nobody, claimed), status: 200 },
  { route: 'setMachinePerson', name: 'a member claims what is theirs', ask: person(member, given), status: 200 },
  {
    route: 'setMachinePerson',
    name: 'a member names somebody else',
    ask: person(owner),
    status: 403,
    code: 'insufficient_role',
    says: /somebody else’s/,
  },
  {
    route: 'setMachinePerson',
    name: 'a member gives away what is theirs',
    ask: person(nobody, given),
    status: 403,
    says: /nobody’s/,
  },
  {
    route: 'setMachinePerson',
    name: 'a member claims another person’s',
    ask: person(member, ({ ours }) => [ours.admin, ours.ownerId]),
    status: 403,
    says: /another member’s/,
  },
  {
    route: 'setMachinePerson',
    name: 'somebody who is invited, and no member yet',
    as: asAdmin,
    ask: person(({ ours }) => ours.userId),
    status: 404,
    says: /No such member/,
  },
  {
    route: 'setMachinePerson',
    name: 'a member of another organization',
    as: asAdmin,
    ask: person(({ theirs }) => theirs.memberId),
    status: 404,
    says: /No such member/,
  },
  {
    route: 'setMachinePerson',
    name: 'the machine of another organization',
    ask: ({ theirs }) => ({ params: { environmentId: theirs.environmentId } }),
    status: 404,
    says: /No such environment/,
  },
  ...[{}, { userId: '' }, { userId: 1 }].map(
    (body): Scenario => ({ route: 'setMachinePerson', name: JSON.stringify(body), ask: { body }, status: 400 }),
  ),
];

export const ENVIRONMENTS: readonly Scenario[] = [
  ...PERSONS,
  {
    route: 'registerEnvironment',
    name: 'a new machine',
    ask: machine({ displayName: 'Box', repoRoot: '/srv', repoRemote: 'git@host:a.git', gitBranch: 'main' }),
    status: 201,
    body: ({ ours }) => ({
      environment: { organizationId: ours.organizationId, displayName: 'Box', hostname: 'box', status: 'active' },
    }),
    after: (_, { body }) => expect(body.environmentId).toBe(body.environment.environmentId),
  },
  {
    route: 'registerEnvironment',
    name: 'the same machine again keeps what is left out',
    ask: async ({ service, ours }) => {
      await service.call('POST', '/v1/environments', {
        as: ours.live,
        ...machine({ hostname: 'known', displayName: 'K' }),
      });
      service.clock.now += 60_000;
      return machine({ hostname: 'known', serviceCliVersion: '2.0.0' });
    },
    status: 200,
    body: ({ service }) => ({
      environment: {
        displayName: 'K',
        serviceCliVersion: '2.0.0',
        lastSeenAt: new Date(service.clock.now).toISOString(),
        createdAt: new Date(service.clock.now - 60_000).toISOString(),
      },
    }),
  },
  {
    route: 'registerEnvironment',
    name: 'the same name on another platform is another machine',
    ask: machine({ platform: 'darwin' }),
    status: 201,
  },
  {
    route: 'registerEnvironment',
    name: 'a name another organization has is a machine of its own',
    ask: machine({ hostname: 'theirs-host' }),
    status: 201,
    body: ({ ours }) => ({ environment: { organizationId: ours.organizationId } }),
  },
  {
    route: 'registerEnvironment',
    name: 'a revoked one does not come back',
    ask: machine({ hostname: 'ours-revoked-host', serviceCliVersion: '9' }),
    status: 200,
    body: ({ ours }) => ({
      environmentId: ours.revokedEnvironmentId,
      environment: { status: 'revoked', serviceCliVersion: '1.0.0' },
    }),
  },
  { route: 'registerEnvironment', name: 'the test plane shares machines', as: ({ ours }) => ours.test, status: 200 },
  ...TAKEN_FIELDS.map(
    ([name, fields]): Scenario => ({ route: 'registerEnvironment', name, ask: machine(fields), status: 201 }),
  ),
  ...WRONG_FIELDS.map(
    ([field, name, value]): Scenario => ({
      route: 'registerEnvironment',
      name: `${field} of ${name}`,
      ask: machine({ [field]: value }),
      status: 400,
      code: 'validation_failed',
      says: new RegExp(`^/${field} `),
    }),
  ),
  {
    route: 'heartbeat',
    name: 'without a body the time moves',
    status: 200,
    body: ({ service, ours }) => ({
      environmentId: ours.environmentId,
      lastSeenAt: new Date(service.clock.now).toISOString(),
    }),
  },
  {
    route: 'heartbeat',
    name: 'with a version it is kept',
    ask: { body: { serviceCliVersion: '3.1.4' } },
    status: 200,
    async after({ service, ours }) {
      const url = `/v1/organizations/me/environments/${ours.environmentId}`;
      const { body } = await service.call('GET', url, { as: ours.member });
      expect(body.environment.serviceCliVersion).toBe('3.1.4');
    },
  },
  {
    route: 'heartbeat',
    name: 'a version of 65 characters',
    ask: { body: { serviceCliVersion: 'v'.repeat(65) } },
    status: 400,
  },
  { route: 'heartbeat', name: 'a body that is null', ask: { body: 'null' }, status: 400, code: 'validation_failed' },
  {
    route: 'heartbeat',
    name: 'a revoked machine',
    ask: ({ ours }) => ({ params: { environmentId: ours.revokedEnvironmentId } }),
    status: 403,
    code: 'environment_revoked',
  },
  { route: 'heartbeat', name: 'an unknown machine', ask: { params: { environmentId: 'env_none' } }, status: 404 },
  {
    route: 'reportHealth',
    name: 'what waits, and why, is shown to members with the secret of the machine',
    ask: { body: { waiting: 12, troubles: ['held', 'held', 'full', 'ofALaterVersion'] } },
    status: 200,
    async after({ service, ours }) {
      const { body } = await service.call('GET', '/v1/organizations/me/machine-health', { as: ours.member });
      const of = (id: string) =>
        body.machines.find(({ environmentId }: { environmentId: string }) => environmentId === id);
      expect(of(ours.environmentId)).toEqual({
        environmentId: ours.environmentId,
        secretIds: [expect.stringMatching(/^sec_/)],
        isOutdated: false,
        reportedAt: new Date(service.clock.now).toISOString(),
        waiting: 12,
        troubles: ['held', 'full', 'ofALaterVersion'],
      });
      expect(of(ours.revokedEnvironmentId)).toBeUndefined();
    },
  },
  ...[{ waiting: -1, troubles: [] }, { waiting: 1 }, { waiting: 1, troubles: ['a file name'] }].map(
    (body): Scenario => ({ route: 'reportHealth', name: JSON.stringify(body), ask: { body }, status: 400 }),
  ),
  ...(['revokedEnvironmentId', 'theirs'] as const).map(
    (whose): Scenario => ({
      route: 'reportHealth',
      name: `of ${whose}`,
      ask: ({ ours, theirs }) => ({
        params: { environmentId: whose === 'theirs' ? theirs.environmentId : ours.revokedEnvironmentId },
      }),
      status: 404,
    }),
  ),
  {
    route: 'listMachineHealth',
    name: 'an older command line is told',
    ask: async ({ service, ours }) => {
      const body = { hostname: 'old', platform: 'linux', serviceCliVersion: '0.0.9' };
      await service.call('POST', '/v1/environments', { as: ours.live, body });
      return {};
    },
    status: 200,
    body: () => ({ machines: expect.arrayContaining([expect.objectContaining({ isOutdated: true, troubles: [] })]) }),
  },
  {
    route: 'listEnvironments',
    name: 'revoked ones included',
    status: 200,
    after: ({ ours }, { text }) => expect(text).toContain(ours.revokedEnvironmentId),
    without: ({ theirs }) => [theirs.revokedEnvironmentId, 'repoRoot', 'gitBranch'],
  },
  {
    route: 'getEnvironment',
    name: 'what was stored of the repository is not told',
    status: 200,
    body: ({ ours }) => ({ environment: { environmentId: ours.environmentId, hostname: 'ours-host' } }),
  },
  { route: 'getEnvironment', name: 'an unknown one', ask: { params: { environmentId: 'env_none' } }, status: 404 },
  { route: 'getEnvironment', name: 'an id that holds a NUL', ask: { params: { environmentId: '\0' } }, status: 404 },
  {
    route: 'revokeEnvironment',
    name: 'its open sessions are closed as failed',
    ask: async ({ service, ours }) => {
      const fresh = await registerMachine(service, ours.live);
      const sessionId = await openSession(service, ours.live, fresh);
      return { params: { environmentId: fresh.environmentId }, headers: { 'x-session': sessionId } };
    },
    status: 200,
    body: (_, { params }) => ({ environment: { environmentId: params?.environmentId, status: 'revoked' } }),
    async after({ service, ours }, _, { headers }) {
      const sessionId = headers?.['x-session'];
      const append = { as: ours.live, body: { events: [{ eventType: 'notice' }] } };
      const refused = await service.call('POST', `/v1/sessions/${sessionId}/events`, append);
      expect(refused).toMatchObject({ status: 409, body: { code: 'session_closed' } });
      const { body } = await service.call('GET', `/v1/organizations/me/sessions/${sessionId}`, { as: ours.member });
      expect(body.session).toMatchObject({ status: 'failed', endedAt: new Date(service.clock.now).toISOString() });
    },
  },
  {
    route: 'revokeEnvironment',
    name: 'a revoked one stays as it is',
    ask: ({ ours }) => ({ params: { environmentId: ours.revokedEnvironmentId } }),
    status: 200,
    body: () => ({ environment: { status: 'revoked' } }),
  },
  { route: 'revokeEnvironment', name: 'an unknown one', ask: { params: { environmentId: 'env_none' } }, status: 404 },
];
