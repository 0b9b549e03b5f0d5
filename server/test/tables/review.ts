import type { Scenario } from '../scenarios.ts';

/** Scenarios of the routes that read derived data. */
export const REVIEW_SCENARIOS: readonly Scenario[] = [
  {
    route: 'getSessionIndex',
    name: 'all events have a line',
    status: 200,
    body: () => [{ first: 1, last: 2, entries: [{ kind: 'prompt', text: 'ours one' }, { text: 'ours two' }] }],
  },
  {
    route: 'getSessionIndex',
    name: 'a start behind the last event gives no lines',
    ask: { query: { from: '3' } },
    status: 200,
    body: () => [],
  },
  {
    route: 'getSessionIndex',
    name: 'a start that is no sequence',
    ask: { query: { from: '0' } },
    status: 400,
  },
  {
    route: 'getSessionIndex',
    name: 'a session of another organization',
    ask: ({ theirs }) => ({ params: { sessionId: theirs.sessionId } }),
    status: 404,
  },
  {
    route: 'getUsage',
    name: 'the answer counts the days of our sessions',
    status: 200,
    body: ({ ours }) => ({
      total: { sessions: 1, prompts: 2 },
      groups: [
        { dimension: 'agent', value: 'codex', prompts: 2 },
        { dimension: 'model', value: '', prompts: 2 },
        { dimension: 'repository', value: '', prompts: 2 },
        { dimension: 'environment', value: ours.environmentId, prompts: 2 },
      ],
    }),
  },
  {
    route: 'getUsage',
    name: 'days before the first session have no figures',
    ask: { query: { from: '2020-01-01', to: '2020-12-31', secretEnvironment: 'all' } },
    status: 200,
    body: () => ({ total: { sessions: 0 }, days: [], groups: [], attention: [] }),
  },
  ...[
    { from: '2026-11-30', to: '2026-11-01' },
    { from: '2020-01-01', to: '2026-11-01' },
    { from: '2026-13-01', to: '2026-11-01' },
    { to: '2026-02-31x' },
  ].map(
    (query): Scenario => ({
      route: 'getUsage',
      name: `the query ${JSON.stringify(query)}`,
      ask: { query },
      status: 400,
    }),
  ),
  {
    route: 'listAddOns',
    name: 'sessions without add-ons',
    ask: { query: { from: '2020-01-01', to: '2020-12-31', secretEnvironment: 'all', kind: 'mcp' } },
    status: 200,
    body: () => ({ from: '2020-01-01', to: '2020-12-31', addOns: [], isWhole: true }),
  },
  ...[{ kind: 'tool' }, { from: '2026-11-30', to: '2026-11-01' }, { from: '2020-01-01', to: '2026-11-01' }].map(
    (query): Scenario => ({
      route: 'listAddOns',
      name: `the query ${JSON.stringify(query)}`,
      ask: { query },
      status: 400,
    }),
  ),
  {
    route: 'getSessionFacts',
    name: 'a session with two prompts',
    status: 200,
    body: ({ ours }) => ({ summary: { sessionId: ours.sessionId, prompts: 2, summarizedThrough: 2 }, related: [] }),
  },
  {
    route: 'getSessionFacts',
    name: 'a session without events',
    ask: ({ ours }) => ({ params: { sessionId: ours.closedSessionId } }),
    status: 200,
    body: () => ({ summary: { prompts: 0, summarizedThrough: 0 }, files: [], usage: [] }),
  },
  {
    route: 'getSessionFacts',
    name: 'a session of another organization',
    ask: ({ theirs }) => ({ params: { sessionId: theirs.sessionId } }),
    status: 404,
  },
];
