import { signIn } from '../factories.ts';
import type { Ask } from '../requests.ts';
import type { Scenario } from '../scenarios.ts';
import type { World } from '../world.ts';
import { TIMES_OUT_OF_RANGE, WRONG_TIMES } from './sessions.ts';

const past =
  (fields: object) =>
  ({ ours }: World): Ask => ({
    body: {
      environmentId: ours.environmentId,
      agentInstallationId: ours.installationId,
      startedAt: '2020-01-01T00:00:00Z',
      ...fields,
    },
  });

export const EXTENSION_SCENARIOS: readonly Scenario[] = [
  {
    route: 'getPerson',
    name: 'who belongs nowhere',
    as: ({ service }) => signIn(service, 'lonely'),
    status: 200,
    body: () => ({ email: 'lonely@example.com', emailVerified: true }),
    without: () => ['role', 'organization'],
  },
  {
    route: 'getPerson',
    name: 'an admin',
    as: ({ ours }) => ours.admin,
    status: 200,
    body: ({ ours }) => ({ role: 'admin', organization: { organizationId: ours.organizationId } }),
  },
  {
    route: 'identifySecret',
    name: 'of the live plane',
    status: 200,
    body: ({ ours }) => ({
      organizationId: ours.organizationId,
      organizationName: 'ours',
      secretEnvironment: 'live',
    }),
  },
  {
    route: 'identifySecret',
    name: 'of the test plane',
    as: ({ ours }) => ours.test,
    status: 200,
    body: ({ ours }) => ({ secretId: ours.secretId, secretEnvironment: 'test' }),
  },
  {
    route: 'openPastSession',
    name: 'it starts when it started',
    ask: past({ startedAt: '2020-01-01T00:00:00.5+01:00', title: 'old' }),
    status: 201,
    body: () => ({ session: { startedAt: '2019-12-31T23:00:00.500Z', title: 'old', status: 'active' } }),
  },
  {
    route: 'openPastSession',
    name: 'not in the future',
    ask: past({ startedAt: '2999-01-01T00:00:00Z' }),
    status: 201,
    body: ({ service }) => ({ session: { startedAt: new Date(service.clock.now).toISOString() } }),
  },
  ...[undefined, ...WRONG_TIMES].map(
    (startedAt): Scenario => ({
      route: 'openPastSession',
      name: `at ${JSON.stringify(startedAt)}`,
      ask: past({ startedAt }),
      status: 400,
      code: 'validation_failed',
      says: /^\/startedAt /,
    }),
  ),
  ...TIMES_OUT_OF_RANGE.map(
    (startedAt): Scenario => ({
      route: 'openPastSession',
      name: `at ${startedAt}`,
      ask: past({ startedAt }),
      status: 400,
      code: 'validation_failed',
    }),
  ),
  {
    route: 'openPastSession',
    name: 'an unknown environment',
    ask: past({ environmentId: 'env_none' }),
    status: 400,
    code: 'environment_unusable',
  },
  {
    route: 'listSessionSummaries',
    name: 'of our sessions only, whoever is asked for',
    ask: ({ ours, theirs }) => ({ query: { sessionIds: `${ours.sessionId},${theirs.sessionId},ses_none` } }),
    status: 200,
    body: ({ ours }) => ({
      summaries: [{ sessionId: ours.sessionId, firstPrompt: 'ours one', prompts: 2, summarizedThrough: 2 }],
    }),
  },
  { route: 'listSessionSummaries', name: 'of nothing', ask: { query: {} }, status: 400, says: /^\/sessionIds / },
  { route: 'listSessionSummaries', name: 'of commas', ask: { query: { sessionIds: ',,' } }, status: 400 },
  {
    route: 'listSessionSummaries',
    name: 'of 101 sessions',
    ask: { query: { sessionIds: Array.from({ length: 101 }, (_, index) => `ses_${index}`).join() } },
    status: 400,
    says: /^\/sessionIds /,
  },
  {
    route: 'listSessionSummaries',
    name: 'of 100 sessions that are none',
    ask: { query: { sessionIds: Array.from({ length: 100 }, (_, index) => `ses_${index}`).join() } },
    status: 200,
    body: () => ({ summaries: [] }),
  },
];
