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

/** A session of ours with one captured event between two events that were not captured. */
async function openCaptured({ service, ours }: World): Promise<string> {
  const sessionId = await openSession(service, ours.live, ours);
  const plain = { eventType: 'notice', payload: { text: 'a private word' } };
  const body = { events: [plain, captured, { eventType: 'notice' }] };
  await service.call('POST', `/v1/sessions/${sessionId}/events`, { as: ours.live, body });
  return sessionId;
}

const asking = (sessionId: string, more: object = {}) => ({
  body: { nonce: NONCE, sessions: [{ sessionId }], ...more },
});

const PRIVATE = () => ['private', 'agent-session', 'r1"'];

const route = 'listEventDigests';

const none = [{ sessionId: 'ses_none' }];

const WRONG_BODIES: object[] = [
  { sessions: none },
  ...['', 'n'.repeat(21), 'n'.repeat(65), `${'n'.repeat(22)}/`].map((nonce) => ({ nonce, sessions: none })),
  ...[0, -1, 10_001, 1.5, 'x'].map((limit) => ({ nonce: NONCE, sessions: none, limit })),
  ...[0, -1, 1.5, 'x', null].map((from) => ({ nonce: NONCE, sessions: [{ sessionId: 'ses_none', from }] })),
  { nonce: NONCE },
  { nonce: NONCE, sessions: [] },
  { nonce: NONCE, sessions: [{}] },
  { nonce: NONCE, sessions: Array.from({ length: 101 }, () => none[0]) },
];

const REFUSED = { code: 'not_found', error: 'No such session in this organization and plane.' };

export const DIGEST_SCENARIOS: readonly Scenario[] = [
  {
    route,
    name: 'digests reveal no content, and events that were not captured have none',
    ask: async (world) => asking(await openCaptured(world)),
    status: 200,
    body: () => ({
      results: [
        {
          digests: [
            { sequence: 1, eventType: 'notice' },
            { sequence: 2, eventType: 'user.message', position: 0 },
            { sequence: 3, eventType: 'notice' },
          ],
          nextFrom: null,
        },
      ],
    }),
    without: PRIVATE,
  },
  {
    route,
    name: 'a session on the test plane',
    as: ({ ours }) => ours.test,
    ask: ({ ours }) => asking(ours.testSessionId),
    status: 200,
    body: ({ ours }) => ({ results: [{ sessionId: ours.testSessionId, digests: [], nextFrom: null }] }),
  },
  {
    route,
    name: 'a closed session',
    ask: ({ ours }) => asking(ours.closedSessionId),
    status: 200,
    body: ({ ours }) => ({ results: [{ sessionId: ours.closedSessionId, nextFrom: null }] }),
  },
  ...WRONG_BODIES.map(
    (body): Scenario => ({
      route,
      name: JSON.stringify(body).slice(0, 80),
      ask: { body },
      status: 400,
      code: 'validation_failed',
    }),
  ),
  {
    route,
    name: 'an unknown session is refused, and the other session of the request is answered',
    ask: ({ ours }) => ({
      body: { nonce: NONCE, sessions: ['ses_none', ours.sessionId].map((sessionId) => ({ sessionId })) },
    }),
    status: 200,
    body: ({ ours }) => ({
      results: [
        { sessionId: 'ses_none', ...REFUSED },
        { sessionId: ours.sessionId, nextFrom: null },
      ],
    }),
  },
  {
    route,
    name: 'a session on the other plane is refused',
    as: ({ ours }) => ours.test,
    ask: ({ ours }) => asking(ours.sessionId),
    status: 200,
    body: ({ ours }) => ({ results: [{ sessionId: ours.sessionId, ...REFUSED }] }),
  },
];
