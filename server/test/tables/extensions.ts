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
    name: 'a person without an organization',
    as: ({ service }) => signIn(service, 'lonely'),
    status: 200,
    body: () => ({ email: 'lonely@example.com', emailVerified: true }),
    without: () => ['role', 'organization'],
  },
  {
    route: 'getPerson',
    name: 'an admin with their organization',
    as: ({ ours }) => ours.admin,
    status: 200,
    body: ({ ours }) => ({ role: 'admin', organization: { organizationId: ours.organizationId } }),
  },
  {
    route: 'identifySecret',
    name: 'a secret of the live plane',
    status: 200,
    body: ({ ours }) => ({
      organizationId: ours.organizationId,
      organizationName: 'ours',
      secretEnvironment: 'live',
    }),
  },
  {
    route: 'identifySecret',
    name: 'a secret of the test plane',
    as: ({ ours }) => ours.test,
    status: 200,
    body: ({ ours }) => ({ secretId: ours.secretId, secretEnvironment: 'test' }),
  },
  {
    route: 'openPastSession',
    name: 'a past session keeps its own start',
    ask: past({ startedAt: '2020-01-01T00:00:00.5+01:00', title: 'old' }),
    status: 201,
    body: () => ({ session: { startedAt: '2019-12-31T23:00:00.500Z', title: 'old', status: 'active' } }),
  },
  {
    route: 'openPastSession',
    name: 'a start in the future becomes the present',
    ask: past({ startedAt: '2999-01-01T00:00:00Z' }),
    status: 201,
    body: ({ service }) => ({ session: { startedAt: new Date(service.clock.now).toISOString() } }),
  },
  ...[undefined, ...WRONG_TIMES].map(
    (startedAt): Scenario => ({
      route: 'openPastSession',
      name: `a start at ${JSON.stringify(startedAt)}`,
      ask: past({ startedAt }),
      status: 400,
      code: 'validation_failed',
      says: /^\/startedAt /,
    }),
  ),
  ...TIMES_OUT_OF_RANGE.map(
    (startedAt): Scenario => ({
      route: 'openPastSession',
      name: `a start at ${startedAt}`,
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
    name: 'summaries come only from our sessions, even if the request names others',
    ask: ({ ours, theirs }) => ({ query: { sessionIds: `${ours.sessionId},${theirs.sessionId},ses_none` } }),
    status: 200,
    body: ({ ours }) => ({
      summaries: [{ sessionId: ours.sessionId, firstPrompt: 'ours one', prompts: 2, summarizedThrough: 2 }],
    }),
  },
  { route: 'listSessionSummaries', name: 'no ids', ask: { query: {} }, status: 400, says: /^\/sessionIds / },
  {
    route: 'listSessionSummaries',
    name: 'ids that are only commas',
    ask: { query: { sessionIds: ',,' } },
    status: 400,
  },
  {
    route: 'listSessionSummaries',
    name: '101 ids',
    ask: { query: { sessionIds: Array.from({ length: 101 }, (_, index) => `ses_${index}`).join() } },
    status: 400,
    says: /^\/sessionIds /,
  },
  {
    route: 'listSessionSummaries',
    name: '100 unknown ids give no summaries',
    ask: { query: { sessionIds: Array.from({ length: 100 }, (_, index) => `ses_${index}`).join() } },
    status: 200,
    body: () => ({ summaries: [] }),
  },
];
