import { expect } from 'vitest';
import { openSession, registerMachine } from '../factories.ts';
import type { Ask } from '../requests.ts';
import type { Scenario } from '../scenarios.ts';
import type { World } from '../world.ts';

const machine = (fields: object = {}) => ({
  body: { hostname: 'box', platform: 'linux', serviceCliVersion: '1.0.0', ...fields },
});

/** States that a machine may report. */
const COVERAGE = { captured: 40, keptBack: 2, waiting: 1 };
const GAPS = [
  { kind: 'ending', agent: 'codex', count: 3 },
  { kind: 'record', agent: 'claude-code', version: '2.2.0', count: 1 },
];
const COMPARISON = {
  comparedAt: '2026-11-20T09:00:00.000Z',
  sessions: 40,
  records: 1200,
  problems: [{ problem: 'missing', count: 2 }],
};
const STATES = [
  { state: 'pause', since: '2026-11-28T13:05:00.000Z', until: '2026-11-28T15:05:00.000Z' },
  { state: 'full' },
  { state: 'of-a-later-version' },
];

const WRONG_FIELDS: [field: string, name: string, value: unknown][] = [
  ['hostname', 'no value', undefined],
  ['hostname', 'empty', ''],
  ['hostname', '256 characters', 'h'.repeat(256)],
  ['hostname', 'a NUL', 'a\u0000'],
  ['hostname', 'a number', 1],
  ['platform', 'no value', undefined],
  ['platform', 'an unknown name', 'freebsd'],
  ['platform', 'another letter case', 'Linux'],
  ['serviceCliVersion', 'no value', undefined],
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
    'every field at its maximum length',
    { hostname: 'h'.repeat(255), displayName: 'd'.repeat(200), gitBranch: 'b'.repeat(4096) },
  ],
  ['a POSIX path', { hostname: 'posix', repoRoot: '/home/dev/app' }],
  ['a Windows path', { hostname: 'drive', platform: 'win32', repoRoot: 'C:\\code\\app' }],
  ['a Windows share', { hostname: 'share', platform: 'win32', repoRoot: '\\\\server\\share' }],
  ['unknown fields', { hostname: 'newer', kernel: '6.1', nested: { a: [1] } }],
];

/** Registers a machine without a person and applies the earlier steps; the request then sets its person. */
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
    name: 'a member who claims a machine of nobody waits for an admin',
    ask: person(member),
    status: 200,
    body: ({ ours }) => ({ environment: { claimedBy: ours.memberId } }),
    after: (_, { body }) => expect(body.environment).not.toHaveProperty('userId'),
  },
  {
    route: 'setMachinePerson',
    name: 'an admin accepts a claim with the same call',
    as: asAdmin,
    ask: person(member, claimed),
    status: 200,
    body: ({ ours }) => ({ environment: { userId: ours.memberId } }),
    after: (_, { body }) => expect(body.environment).not.toHaveProperty('claimedBy'),
  },
  {
    route: 'setMachinePerson',
    name: 'a machine stays nobody’s if an admin refuses the claim',
    as: asAdmin,
    ask: person(nobody, claimed),
    status: 200,
    after: (_, { body }) => expect(body.environment).not.toHaveProperty('claimedBy'),
  },
  {
    route: 'setMachinePerson',
    name: 'an admin gives the machine to another member',
    as: asAdmin,
    ask: person(owner, given),
    status: 200,
    body: ({ ours }) => ({ environment: { userId: ours.ownerId } }),
  },
  {
    route: 'setMachinePerson',
    name: 'an admin takes the machine away from its person',
    as: asAdmin,
    ask: person(nobody, given),
    status: 200,
    after: (_, { body }) => expect(body.environment).not.toHaveProperty('userId'),
  },
  { route: 'setMachinePerson', name: 'a member withdraws a claim', ask: person(nobody, claimed), status: 200 },
  {
    route: 'setMachinePerson',
    name: 'a member may claim their own machine again',
    ask: person(member, given),
    status: 200,
  },
  {
    route: 'setMachinePerson',
    name: 'a member may not name somebody else',
    ask: person(owner),
    status: 403,
    code: 'insufficient_role',
    says: /somebody else’s/,
  },
  {
    route: 'setMachinePerson',
    name: 'a member may not give up their own machine',
    ask: person(nobody, given),
    status: 403,
    says: /nobody’s/,
  },
  {
    route: 'setMachinePerson',
    name: 'a member may not claim another member’s machine',
    ask: person(member, ({ ours }) => [ours.admin, ours.ownerId]),
    status: 403,
    says: /another member’s/,
  },
  {
    route: 'setMachinePerson',
    name: 'an invited person is no member yet',
    as: asAdmin,
    ask: person(({ ours }) => ours.userId),
    status: 404,
    says: /No such member/,
  },
  {
    route: 'setMachinePerson',
    name: 'a member of another organization is unknown here',
    as: asAdmin,
    ask: person(({ theirs }) => theirs.memberId),
    status: 404,
    says: /No such member/,
  },
  {
    route: 'setMachinePerson',
    name: 'a machine of another organization is unknown here',
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
    name: 'a new machine is registered',
    ask: machine({ displayName: 'Box', repoRoot: '/srv', repoRemote: 'git@host:a.git', gitBranch: 'main' }),
    status: 201,
    body: ({ ours }) => ({
      environment: { organizationId: ours.organizationId, displayName: 'Box', hostname: 'box', status: 'active' },
    }),
    after: (_, { body }) => expect(body.environmentId).toBe(body.environment.environmentId),
  },
  {
    route: 'registerEnvironment',
    name: 'a repeated registration keeps the fields that it leaves out',
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
    name: 'the same host name on another platform is another machine',
    ask: machine({ platform: 'darwin' }),
    status: 201,
  },
  {
    route: 'registerEnvironment',
    name: 'a host name that another organization uses is a machine of its own here',
    ask: machine({ hostname: 'theirs-host' }),
    status: 201,
    body: ({ ours }) => ({ environment: { organizationId: ours.organizationId } }),
  },
  {
    route: 'registerEnvironment',
    name: 'a revoked machine stays revoked',
    ask: machine({ hostname: 'ours-revoked-host', serviceCliVersion: '9' }),
    status: 200,
    body: ({ ours }) => ({
      environmentId: ours.revokedEnvironmentId,
      environment: { status: 'revoked', serviceCliVersion: '1.0.0' },
    }),
  },
  {
    route: 'registerEnvironment',
    name: 'a secret of the test plane finds the same machine',
    as: ({ ours }) => ours.test,
    status: 200,
  },
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
    name: 'a heartbeat without a body moves the time',
    status: 200,
    body: ({ service, ours }) => ({
      environmentId: ours.environmentId,
      lastSeenAt: new Date(service.clock.now).toISOString(),
    }),
  },
  {
    route: 'heartbeat',
    name: 'a heartbeat with a version stores it',
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
  { route: 'heartbeat', name: 'the body null', ask: { body: 'null' }, status: 400, code: 'validation_failed' },
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
    name: 'members see the waiting events and states that the machine reported with its secret',
    ask: { body: { waiting: 12, states: [...STATES.map((one) => ({ ...one, file: 'secret-plan.md' })), STATES[1]] } },
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
        states: STATES,
      });
      expect(of(ours.revokedEnvironmentId)).toBeUndefined();
    },
  },
  {
    route: 'reportHealth',
    name: 'members see the numbers of transcripts, what is not read, and the last comparison',
    ask: {
      body: {
        waiting: 0,
        states: [],
        coverage: { ...COVERAGE, file: 'secret-plan.md' },
        gaps: GAPS.map((gap) => ({ ...gap, file: 'secret-plan.md' })),
        comparison: { ...COMPARISON, file: 'secret-plan.md' },
      },
    },
    status: 200,
    async after({ service, ours, theirs }) {
      const { body, text } = await service.call('GET', '/v1/organizations/me/machine-health', { as: ours.member });
      expect(body.machines).toContainEqual(
        expect.objectContaining({ coverage: COVERAGE, gaps: GAPS, comparison: COMPARISON }),
      );
      expect(text).not.toContain('secret-plan');
      const other = await service.call('GET', '/v1/organizations/me/machine-health', { as: theirs.member });
      expect(other.text).not.toContain('codex');
    },
  },
  ...[
    { waiting: -1, states: [] },
    { waiting: 1 },
    { waiting: 1, states: [{ state: 'a file name' }] },
    { waiting: 1, states: [{ state: 'pause', since: 'in the morning' }] },
    { waiting: 1, states: [], coverage: { captured: 1, keptBack: -1, waiting: 0 } },
    { waiting: 1, states: [], gaps: [{ kind: 'ending', agent: '~/.codex/sessions', count: 1 }] },
    { waiting: 1, states: [], gaps: [{ kind: 'ending', agent: 'codex', version: 'a b', count: 1 }] },
    { waiting: 1, states: [], comparison: { ...COMPARISON, problems: [{ problem: 'a file name', count: 1 }] } },
  ].map((body): Scenario => ({ route: 'reportHealth', name: JSON.stringify(body), ask: { body }, status: 400 })),
  ...(['revokedEnvironmentId', 'theirs'] as const).map(
    (whose): Scenario => ({
      route: 'reportHealth',
      name: `the machine ${whose}`,
      ask: ({ ours, theirs }) => ({
        params: { environmentId: whose === 'theirs' ? theirs.environmentId : ours.revokedEnvironmentId },
      }),
      status: 404,
    }),
  ),
  {
    route: 'listMachineHealth',
    name: 'a machine with an older command line is marked as behind',
    ask: async ({ service, ours }) => {
      const body = { hostname: 'old', platform: 'linux', serviceCliVersion: '0.0.9' };
      await service.call('POST', '/v1/environments', { as: ours.live, body });
      return {};
    },
    status: 200,
    body: () => ({ machines: expect.arrayContaining([expect.objectContaining({ isOutdated: true, states: [] })]) }),
  },
  {
    route: 'listEnvironments',
    name: 'revoked machines are included',
    status: 200,
    after: ({ ours }, { text }) => expect(text).toContain(ours.revokedEnvironmentId),
    without: ({ theirs }) => [theirs.revokedEnvironmentId, 'repoRoot', 'gitBranch'],
  },
  {
    route: 'getEnvironment',
    name: 'the answer has nothing of the stored repository',
    status: 200,
    body: ({ ours }) => ({ environment: { environmentId: ours.environmentId, hostname: 'ours-host' } }),
  },
  { route: 'getEnvironment', name: 'an unknown machine', ask: { params: { environmentId: 'env_none' } }, status: 404 },
  { route: 'getEnvironment', name: 'an id with a NUL', ask: { params: { environmentId: '\0' } }, status: 404 },
  {
    route: 'revokeEnvironment',
    name: "the machine's open sessions are closed as failed",
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
    name: 'a revoked machine stays as it is',
    ask: ({ ours }) => ({ params: { environmentId: ours.revokedEnvironmentId } }),
    status: 200,
    body: () => ({ environment: { status: 'revoked' } }),
  },
  {
    route: 'revokeEnvironment',
    name: 'an unknown machine',
    ask: { params: { environmentId: 'env_none' } },
    status: 404,
  },
];
