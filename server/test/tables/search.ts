import { expect } from 'vitest';
import { signIn } from '../factories.ts';
import type { Scenario } from '../scenarios.ts';

const NOT_OURS = { sessions: [], nextCursor: null };
const HITS = [{ sequence: 1, eventType: 'user.message', text: 'ours one', marks: [[5, 8]] }];

export const SEARCH_SCENARIOS: readonly Scenario[] = [
  {
    route: 'searchSessions',
    name: 'an empty search finds all sessions, newest first, including those that are not derived yet',
    ask: () => ({ query: {} }),
    status: 200,
    body: ({ ours }) => ({ sessions: listed(ours), nextCursor: null }),
  },
  {
    route: 'searchSessions',
    name: 'words that only another organization has find nothing',
    ask: { query: { q: 'theirs' } },
    status: 200,
    body: () => NOT_OURS,
  },
  {
    route: 'searchSessions',
    name: 'a secret of another organization finds nothing',
    ask: ({ theirs }) => ({ query: { q: `secret:${theirs.secretId}` } }),
    status: 200,
    body: () => NOT_OURS,
  },
  {
    route: 'searchSessions',
    name: 'a machine of another organization finds nothing',
    ask: { query: { q: 'machine:theirs' } },
    status: 200,
    body: () => NOT_OURS,
  },
  {
    route: 'searchSessions',
    name: 'a person without an organization is refused',
    as: ({ service }) => signIn(service),
    status: 403,
  },
  { route: 'searchSessions', name: 'a secret is no credential of a person', as: ({ ours }) => ours.live, status: 401 },
  {
    route: 'searchSessions',
    name: 'a query of 1,001 characters',
    ask: { query: { q: 'x'.repeat(1001) } },
    status: 400,
    says: /^\/q /,
  },
  {
    route: 'searchSessions',
    name: 'an unknown order',
    ask: { query: { order: 'size' } },
    status: 400,
    says: /^\/order /,
  },
  { route: 'searchSessions', name: 'a limit of 0', ask: { query: { limit: 0 } }, status: 400, says: /^\/limit / },
  ...[
    'x',
    'eyJwIjpbMV19',
    Buffer.from('null').toString('base64url'),
    Buffer.from('{"p":["1","a"]}').toString('base64url'),
    Buffer.from('{"p":[1.5,"a"]}').toString('base64url'),
    Buffer.from('{"p":[1e300,"a"]}').toString('base64url'),
  ].map(
    (cursor): Scenario => ({
      route: 'searchSessions',
      name: `the cursor ${cursor}`,
      ask: { query: { cursor } },
      status: 400,
      says: /^\/cursor /,
    }),
  ),
  ...['events', 'failures', 'changes', 'redactions'].map(
    (order): Scenario => ({
      route: 'searchSessions',
      name: `a cursor with a larger value of ${order} than any session has`,
      ask: { query: { order, cursor: Buffer.from('{"p":[2147483648,"a"]}').toString('base64url') } },
      status: 400,
      says: /^\/cursor /,
    }),
  ),
  {
    route: 'findInSession',
    name: 'a word finds the events that have it',
    ask: ({ ours }) => ({ params: { sessionId: ours.sessionId }, query: { q: 'one' } }),
    status: 200,
    body: () => ({ hits: HITS, next: null }),
  },
  {
    route: 'findInSession',
    name: 'a word behind a dash is searched for, not excluded as in the search of sessions',
    ask: ({ ours }) => ({ params: { sessionId: ours.sessionId }, query: { q: '-one' } }),
    status: 200,
    body: () => ({ hits: HITS, next: null }),
  },
  {
    route: 'findInSession',
    name: 'a start behind the last event finds nothing',
    ask: ({ ours }) => ({ params: { sessionId: ours.sessionId }, query: { q: 'one', from: 999_999_999_999_999 } }),
    status: 200,
    body: () => ({ hits: [], next: null }),
  },
  {
    route: 'findInSession',
    name: 'a query of punctuation alone finds nothing',
    ask: ({ ours }) => ({ params: { sessionId: ours.sessionId }, query: { q: '=>' } }),
    status: 200,
    body: () => ({ hits: [], next: null }),
  },
  {
    route: 'findInSession',
    name: 'a session of another organization',
    ask: ({ theirs }) => ({ params: { sessionId: theirs.sessionId }, query: { q: 'theirs' } }),
    status: 404,
    code: 'not_found',
  },
  {
    route: 'findInSession',
    name: 'an empty query',
    ask: ({ ours }) => ({ params: { sessionId: ours.sessionId }, query: { q: '' } }),
    status: 400,
    says: /^\/q /,
  },
];

/** Expects the list to have all our sessions of the live plane. */
const listed = (ours: { sessionId: string; closedSessionId: string; spareSessionId: string }) =>
  expect.arrayContaining(
    [ours.sessionId, ours.closedSessionId, ours.spareSessionId].map((sessionId) =>
      expect.objectContaining({ session: expect.objectContaining({ sessionId }) }),
    ),
  );
