import type { Scenario } from '../scenarios.ts';

/** What is derived, as it is read. */
export const REVIEW_SCENARIOS: readonly Scenario[] = [
  {
    route: 'getSessionIndex',
    name: 'a line for all events',
    status: 200,
    body: () => [{ first: 1, last: 2, entries: [{ kind: 'prompt', text: 'ours one' }, { text: 'ours two' }] }],
  },
  {
    route: 'getSessionIndex',
    name: 'from behind the last event on',
    ask: { query: { from: '3' } },
    status: 200,
    body: () => [],
  },
  {
    route: 'getSessionIndex',
    name: 'from no sequence',
    ask: { query: { from: '0' } },
    status: 400,
  },
  {
    route: 'getSessionIndex',
    name: "another organization's session",
    ask: ({ theirs }) => ({ params: { sessionId: theirs.sessionId } }),
    status: 404,
  },
  {
    route: 'getSessionFacts',
    name: 'of a session with two prompts',
    status: 200,
    body: ({ ours }) => ({ summary: { sessionId: ours.sessionId, prompts: 2, summarizedThrough: 2 }, related: [] }),
  },
  {
    route: 'getSessionFacts',
    name: 'of a session without events',
    ask: ({ ours }) => ({ params: { sessionId: ours.closedSessionId } }),
    status: 200,
    body: () => ({ summary: { prompts: 0, summarizedThrough: 0 }, files: [], usage: [] }),
  },
  {
    route: 'getSessionFacts',
    name: "another organization's session",
    ask: ({ theirs }) => ({ params: { sessionId: theirs.sessionId } }),
    status: 404,
  },
];
