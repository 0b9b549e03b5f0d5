import { expect } from 'vitest';
import { openSession, registerMachine } from '../factories.ts';
import type { Scenario } from '../scenarios.ts';

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

export const ENVIRONMENTS: readonly Scenario[] = [
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
