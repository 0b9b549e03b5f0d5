import { expect } from 'vitest';
import { openSession, registerMachine } from '../factories.ts';
import type { Scenario } from '../scenarios.ts';
import type { World } from '../world.ts';

const opening = ({ ours }: World, fields: object = {}) => ({
  body: { environmentId: ours.environmentId, agentInstallationId: ours.installationId, ...fields },
});

/** Bodies that opening a session refuses. */
const UNUSABLE: [name: string, fields: (world: World) => object, Pick<Scenario, 'code' | 'says'>][] = [
  ['no environment', () => ({ environmentId: undefined }), { code: 'validation_failed', says: /^\/environmentId / }],
  ['an unknown environment', () => ({ environmentId: 'env_none' }), { code: 'environment_unusable' }],
  [
    'a foreign environment',
    ({ theirs }) => ({ environmentId: theirs.environmentId }),
    { code: 'environment_unusable' },
  ],
  [
    'a revoked environment',
    ({ ours }) => ({ environmentId: ours.revokedEnvironmentId }),
    { code: 'environment_unusable' },
  ],
  ['no installation', () => ({ agentInstallationId: undefined }), { says: /^\/agentInstallationId / }],
  ['an unknown installation', () => ({ agentInstallationId: 'ins_none' }), { code: 'installation_unusable' }],
  [
    'a foreign installation',
    ({ theirs }) => ({ agentInstallationId: theirs.installationId }),
    { code: 'installation_unusable' },
  ],
  [
    'a disabled installation',
    ({ ours }) => ({ agentInstallationId: ours.disabledInstallationId }),
    { code: 'installation_unusable' },
  ],
  ["an agent that is not the installation's", () => ({ agentId: 'goose' }), { says: /^\/agentId / }],
  ['a title of 301 characters', () => ({ title: 't'.repeat(301) }), { says: /^\/title / }],
  ['a title with a NUL', () => ({ title: 'a\u0000' }), { says: /^\/title / }],
  ['a branch of 4097 characters', () => ({ gitBranch: 'b'.repeat(4097) }), { says: /^\/gitBranch / }],
];

const fresh = async ({ service, ours }: World) => ({ params: { sessionId: await openSession(service, ours.live) } });

export const WRONG_TIMES = [
  'yesterday',
  '',
  '2026-11-21',
  '2026-11-21T09:00:00',
  '2026-02-30T00:00:00Z',
  '2026-01-01T00:00:00Z[Europe/Paris]',
  1_700_000_000,
];
/** In UTC the first is in the year -1, the second in the year 10000. */
export const TIMES_OUT_OF_RANGE = ['0000-01-01T00:00:00+00:01', '9999-12-31T23:59:59-00:01'];

export const SESSIONS: readonly Scenario[] = [
  {
    route: 'openSession',
    name: 'a new session is active, empty and on the plane of its secret',
    ask: (world) => opening(world, { agentId: 'codex', title: 't'.repeat(300), repoRoot: '/srv', gitBranch: 'main' }),
    status: 201,
    body: ({ service, ours }) => ({
      session: {
        organizationId: ours.organizationId,
        environmentId: ours.environmentId,
        agentInstallationId: ours.installationId,
        agentId: 'codex',
        status: 'active',
        secretEnvironment: 'live',
        title: 't'.repeat(300),
        startedAt: new Date(service.clock.now).toISOString(),
        eventCount: 0,
      },
    }),
    after: (_, { body }) => expect(body.sessionId).toBe(body.session.sessionId),
  },
  {
    route: 'openSession',
    name: 'a secret of the test plane opens a session on the test plane',
    as: ({ ours }) => ours.test,
    status: 201,
    body: () => ({ session: { secretEnvironment: 'test' } }),
  },
  {
    route: 'openSession',
    name: 'an installation without a machine is accepted',
    ask: async (world) => {
      const { service, ours } = world;
      const body = { agentId: 'cursor' };
      const made = await service.call('POST', '/v1/organizations/me/agents', { as: ours.owner, body });
      return opening(world, { agentInstallationId: made.body.installation.installationId });
    },
    status: 201,
    body: () => ({ session: { agentId: 'cursor' } }),
  },
  {
    route: 'openSession',
    name: 'an installation of another machine',
    ask: async (world) => {
      const other = await registerMachine(world.service, world.ours.live);
      return opening(world, { agentInstallationId: other.installationId });
    },
    status: 400,
    code: 'installation_unusable',
  },
  ...UNUSABLE.map(
    ([name, fields, expected]): Scenario => ({
      route: 'openSession',
      name,
      ask: (world) => opening(world, fields(world)),
      status: 400,
      ...expected,
    }),
  ),
  {
    route: 'completeSession',
    name: 'without a body the session is completed now',
    ask: fresh,
    status: 200,
    body: ({ service }, { params }) => ({
      sessionId: params?.sessionId,
      status: 'completed',
      endedAt: new Date(service.clock.now).toISOString(),
    }),
  },
  {
    route: 'completeSession',
    name: 'a session is closed as failed at the given time',
    ask: async (world) => ({
      ...(await fresh(world)),
      body: { status: 'failed', endedAt: '2020-02-29T23:59:59+05:30' },
    }),
    status: 200,
    body: () => ({ status: 'failed', endedAt: '2020-02-29T18:29:59.000Z' }),
    async after({ service, ours }, _, { params }) {
      const url = `/v1/organizations/me/sessions/${params?.sessionId}`;
      const { body } = await service.call('GET', url, { as: ours.member });
      expect(body.session).toMatchObject({ status: 'failed', endedAt: '2020-02-29T18:29:59.000Z' });
    },
  },
  {
    route: 'completeSession',
    name: 'a leap second is accepted',
    ask: async (world) => ({ ...(await fresh(world)), body: { endedAt: '2016-12-31T23:59:60Z' } }),
    status: 200,
    body: () => ({ endedAt: '2016-12-31T23:59:59.000Z' }),
  },
  ...WRONG_TIMES.map(
    (endedAt): Scenario => ({
      route: 'completeSession',
      name: `the time ${JSON.stringify(endedAt)}`,
      ask: { body: { endedAt } },
      status: 400,
      code: 'validation_failed',
      says: /^\/endedAt /,
    }),
  ),
  ...TIMES_OUT_OF_RANGE.map(
    (endedAt): Scenario => ({
      route: 'completeSession',
      name: `the time ${endedAt} leaves the session open`,
      ask: async (world) => ({ ...(await fresh(world)), body: { endedAt } }),
      status: 400,
      code: 'validation_failed',
      async after({ service, ours }, _, { params }) {
        const url = `/v1/organizations/me/sessions/${params?.sessionId}`;
        const { body } = await service.call('GET', url, { as: ours.member });
        expect(body.session.status).toBe('active');
      },
    }),
  ),
  {
    route: 'completeSession',
    name: 'an unknown status',
    ask: { body: { status: 'done' } },
    status: 400,
    says: /^\/status /,
  },
  { route: 'completeSession', name: 'the status active', ask: { body: { status: 'active' } }, status: 400 },
  { route: 'completeSession', name: 'an unknown session', ask: { params: { sessionId: 'ses_none' } }, status: 404 },
  {
    route: 'completeSession',
    name: 'a closed session stays as it is',
    ask: ({ ours }) => ({ params: { sessionId: ours.closedSessionId }, body: { status: 'failed' } }),
    status: 409,
    code: 'session_already_closed',
    async after({ service, ours }) {
      const url = `/v1/organizations/me/sessions/${ours.closedSessionId}`;
      const { body } = await service.call('GET', url, { as: ours.member });
      expect(body.session.status).toBe('completed');
    },
  },
  {
    route: 'getSession',
    name: 'the answer has nothing of the stored repository',
    status: 200,
    body: ({ ours }) => ({ session: { sessionId: ours.sessionId, eventCount: 2, status: 'active' } }),
  },
  {
    route: 'getSession',
    name: 'a session on the test plane',
    ask: ({ ours }) => ({ params: { sessionId: ours.testSessionId } }),
    status: 200,
    body: () => ({ session: { secretEnvironment: 'test' } }),
  },
  { route: 'getSession', name: 'an unknown session', ask: { params: { sessionId: 'ses_none' } }, status: 404 },
  { route: 'listSessions', name: 'a page of sessions', status: 200, body: () => ({ nextCursor: null }) },
  {
    route: 'listSessions',
    name: 'an unknown plane',
    ask: { query: { secretEnvironment: 'both' } },
    status: 400,
    code: 'validation_failed',
    says: /^\/secretEnvironment /,
  },
  {
    route: 'listSessions',
    name: 'a malformed cursor',
    ask: { query: { cursor: 'x' } },
    status: 400,
    says: /^\/cursor /,
  },
];
