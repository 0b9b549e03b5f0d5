import { openSession } from '../factories.ts';
import type { Scenario } from '../scenarios.ts';
import type { World } from '../world.ts';

const NONCE = 'n'.repeat(22);

const captured = {
  eventType: 'user.message',
  payload: {
    source: { agent: 'codex', session: 'agent-session', record: 'r1', file: 'private/path.jsonl', position: 0 },
    text: 'a private word',
    rest: { 'private/name': 1, empty: {} },
  },
};

/** A session of ours with an event made from a record, between two that are not. */
async function openCaptured({ service, ours }: World): Promise<string> {
  const sessionId = await openSession(service, ours.live, ours);
  const plain = { eventType: 'notice', payload: { text: 'a private word' } };
  const body = { events: [plain, captured, { eventType: 'notice' }] };
  await service.call('POST', `/v1/sessions/${sessionId}/events`, { as: ours.live, body });
  return sessionId;
}

const ask = async (world: World, query: Record<string, string> = {}) => ({
  params: { sessionId: await openCaptured(world) },
  query: { nonce: NONCE, ...query },
});

const PRIVATE = () => ['private', 'agent-session', 'r1"'];

const route = 'listEventDigests';

const WRONG_QUERIES: Record<string, string>[] = [
  { nonce: '' },
  { nonce: 'n'.repeat(21) },
  { nonce: 'n'.repeat(65) },
  { nonce: `${'n'.repeat(22)}/` },
  ...['0', '-1', 'x', '1.5', ''].flatMap((number) => [{ from: number }, { limit: number }]),
];

export const DIGEST_SCENARIOS: readonly Scenario[] = [
  {
    route,
    name: 'tell nothing of what events say, nor of what was not captured',
    ask: (world) => ask(world),
    status: 200,
    body: () => ({
      digests: [
        { sequence: 1, eventType: 'notice' },
        { sequence: 2, eventType: 'user.message', position: 0 },
        { sequence: 3, eventType: 'notice' },
      ],
      nextFrom: null,
    }),
    without: PRIVATE,
  },
  {
    route,
    name: 'of a session of the test plane',
    as: ({ ours }) => ours.test,
    ask: ({ ours }) => ({ params: { sessionId: ours.testSessionId } }),
    status: 200,
    body: () => ({ digests: [], nextFrom: null }),
  },
  {
    route,
    name: 'of a closed session',
    ask: ({ ours }) => ({ params: { sessionId: ours.closedSessionId } }),
    status: 200,
  },
  { route, name: 'without a nonce', ask: { query: {} }, status: 400, says: /^\/nonce / },
  ...WRONG_QUERIES.map(
    (query): Scenario => ({
      route,
      name: JSON.stringify(query),
      ask: { query: { nonce: NONCE, ...query } },
      status: 400,
      code: 'validation_failed',
    }),
  ),
  { route, name: 'of an unknown session', ask: { params: { sessionId: 'ses_none' } }, status: 404 },
  {
    route,
    name: "of another organization's session",
    ask: ({ theirs }) => ({ params: { sessionId: theirs.sessionId } }),
    status: 404,
  },
  {
    route,
    name: 'of a session on the other plane',
    as: ({ ours }) => ours.test,
    ask: ({ ours }) => ({ params: { sessionId: ours.sessionId } }),
    status: 404,
  },
  { route, name: 'too many', ask: { query: { nonce: NONCE, limit: '10000' } }, status: 400 },
];
