import { expect } from 'vitest';
import { openSession } from '../factories.ts';
import { type Ask, capturing } from '../requests.ts';
import type { Scenario } from '../scenarios.ts';
import type { World } from '../world.ts';
import { captured, events, ofKey } from './captured.ts';
import { DELETIONS } from './deletions.ts';

const KEY = 'a'.repeat(43);

const capture =
  (...sessions: object[]) =>
  (world: World): Ask => ({ body: { sessions: sessions.map((fields) => ({ ...capturing(world, KEY), ...fields })) } });

const expecting = (expectedEvents: number, one: object) => ({ ...one, expectedEvents });

const append = (sessionId: string, idempotencyKey: string, ...texts: string[]) => ({
  sessionId,
  idempotencyKey,
  body: events(...texts),
});

const SESSIONS: readonly Scenario[] = [
  {
    route: 'captureSessions',
    name: 'a new key opens a session with everything that the client knows of it',
    ask: capture({ startedAt: '2020-01-01T00:00:00Z', endedAt: '2020-01-01T01:00:00Z', title: 'old', ...ofKey('b') }),
    status: 200,
    body: () => ({
      results: [
        {
          ...ofKey('b'),
          outcome: 'opened',
          session: { startedAt: '2020-01-01T00:00:00.000Z', title: 'old', status: 'active', eventCount: 0 },
        },
      ],
    }),
    async after({ service, ours }, { body }) {
      const { sessionId } = body.results[0].session;
      const closed = await service.call('POST', `/v1/sessions/${sessionId}/complete`, { as: ours.live });
      expect(closed.body).toEqual({ sessionId, status: 'completed', endedAt: '2020-01-01T01:00:00.000Z' });
    },
  },
  {
    route: 'captureSessions',
    name: 'a known key finds its session with its count and status',
    async ask(world) {
      const sessionId = await captured(world, 'c');
      const as = world.ours.live;
      await world.service.call('POST', `/v1/sessions/${sessionId}/events`, { as, body: events('one', 'two') });
      return capture(ofKey('c'))(world);
    },
    status: 200,
    body: () => ({ results: [{ outcome: 'found', session: { eventCount: 2, status: 'active' } }] }),
  },
  {
    route: 'captureSessions',
    name: 'the same key twice in one request opens one session',
    ask: capture(ofKey('d'), ofKey('d')),
    status: 200,
    body: () => ({ results: [{ outcome: 'opened' }, { outcome: 'found' }] }),
    after(_, { body }) {
      expect(body.results[0].session.sessionId).toBe(body.results[1].session.sessionId);
    },
  },
  {
    route: 'captureSessions',
    name: 'the same key on the other plane opens another session',
    async ask(world) {
      await captured(world, 'e', world.ours.test);
      return capture(ofKey('e'))(world);
    },
    status: 200,
    body: () => ({ results: [{ outcome: 'opened', session: { secretEnvironment: 'live' } }] }),
  },
  {
    route: 'captureSessions',
    name: 'a session that cannot be opened does not affect the others',
    ask: (world) =>
      capture({ ...ofKey('f'), environmentId: 'env_none' }, ofKey('g'), {
        ...ofKey('h'),
        agentInstallationId: world.theirs.installationId,
      })(world),
    status: 200,
    body: () => ({
      results: [
        { outcome: 'refused', code: 'environment_unusable' },
        { outcome: 'opened' },
        { outcome: 'refused', code: 'installation_unusable' },
      ],
    }),
    without: ({ theirs }) => [theirs.installationId],
  },
  {
    route: 'captureSessions',
    name: 'parent and fork are linked by their keys, in either order of arrival',
    async ask(world) {
      const body = {
        sessions: [{ ...capturing(world, 'i'.repeat(43)), continues: 'j'.repeat(43), forkedFrom: 'k'.repeat(43) }],
      };
      await world.service.call('POST', '/v1/captured-sessions', { as: world.ours.live, body });
      return capture(ofKey('j'))(world);
    },
    status: 200,
    async after(world, { body }) {
      const sessionId = await captured(world, 'i');
      const url = `/v1/organizations/me/session-summaries?sessionIds=${sessionId}`;
      const summaries = await world.service.call('GET', url, { as: world.ours.member });
      expect(summaries.body.summaries[0]).toMatchObject({ continues: body.results[0].session.sessionId });
      expect(summaries.body.summaries[0]).not.toHaveProperty('forkedFrom');
    },
  },
  {
    route: 'captureSessions',
    name: 'no session is its own parent, whatever its client says',
    async ask(world) {
      return capture({ ...ofKey('q'), forkedFrom: ofKey('q').clientKey })(world);
    },
    status: 200,
    async after(world, { body }) {
      const { sessionId } = body.results[0].session;
      const url = `/v1/organizations/me/sessions/${sessionId}/facts`;
      const facts = await world.service.call('GET', url, { as: world.ours.member });
      expect(facts.body.related).toEqual([]);
    },
  },
  ...[
    ['no session', []],
    ['101 sessions', Array.from({ length: 101 }, (_, index) => ({ clientKey: `${KEY}${index}` }))],
    ['a short key', [{ clientKey: 'short' }]],
    ['a key with a space', [{ clientKey: `${KEY} ${KEY}` }]],
    ['an invalid time', [{ startedAt: 'yesterday' }]],
  ].map(
    ([name, sessions]): Scenario => ({
      route: 'captureSessions',
      name: name as string,
      ask: capture(...(sessions as object[])),
      status: 400,
      code: 'validation_failed',
      says: /^\/sessions/,
    }),
  ),
];

const APPENDS: readonly Scenario[] = [
  {
    route: 'appendBatches',
    name: 'each session numbers its own events, in the order of its batches',
    async ask(world) {
      const [one, two] = [await captured(world, 'l'), await captured(world, 'm')];
      return { body: { appends: [append(one, '1', 'a', 'b'), append(two, '1', 'c'), append(one, '2', 'd')] } };
    },
    status: 200,
    body: ({ service }) => ({
      results: [
        { accepted: 2, firstSequence: 1, lastSequence: 2, async: service.isAsync, replayed: false },
        { firstSequence: 1, lastSequence: 1 },
        { firstSequence: 3, lastSequence: 3 },
      ],
    }),
  },
  {
    route: 'appendBatches',
    name: 'a batch repeats an append that was sent alone before, and gets its answer',
    async ask(world) {
      const sessionId = await captured(world, 'n');
      const request = { as: world.ours.live, headers: { 'idempotency-key': 'once' }, body: events('only') };
      await world.service.call('POST', `/v1/sessions/${sessionId}/events`, request);
      return { body: { appends: [append(sessionId, 'once', 'only')] } };
    },
    status: 200,
    body: () => ({ results: [{ firstSequence: 1, lastSequence: 1, replayed: true }] }),
  },
  {
    route: 'appendBatches',
    name: 'after a refused batch the rest of its session is refused too, and other sessions are stored',
    async ask(world) {
      const [one, two] = [await captured(world, 'o'), await captured(world, 'p')];
      await world.service.call('POST', '/v1/appends', {
        as: world.ours.live,
        body: { appends: [append(one, 'used', 'first')] },
      });
      const appends = [append(one, 'used', 'other'), append(one, 'next', 'later'), append(two, '1', 'fine')];
      return { body: { appends } };
    },
    status: 200,
    body: () => ({
      results: [{ code: 'idempotency_key_reused' }, { code: 'service_unavailable' }, { firstSequence: 1 }],
    }),
  },
  {
    route: 'appendBatches',
    name: 'a batch with a wrong expected count is refused with the actual count, and stores nothing',
    async ask(world) {
      const [one, two] = [await captured(world, 'R'), await captured(world, 'S')];
      const first = { appends: [append(one, 'known', 'a', 'b')] };
      await world.service.call('POST', '/v1/appends', { as: world.ours.live, body: first });
      const others = [expecting(0, append(two, '1', 'c')), expecting(1, append(two, '2', 'd'))];
      const late = [expecting(0, append(one, 'known', 'a', 'b')), expecting(0, append(one, 'new', 'c'))];
      return { body: { appends: [...others, ...late, expecting(2, append(one, 'next', 'd'))] } };
    },
    status: 200,
    body: () => ({
      results: [
        { firstSequence: 1 },
        { firstSequence: 2 },
        { firstSequence: 1, lastSequence: 2, replayed: true },
        { code: 'sequence_mismatch', eventCount: 2 },
        { code: 'service_unavailable' },
      ],
    }),
    async after(world, { body }) {
      const { sessionId } = body.results[3];
      const again = { appends: [expecting(2, append(sessionId, 'new', 'c'))] };
      const reply = await world.service.call('POST', '/v1/appends', { as: world.ours.live, body: again });
      expect(reply.body.results).toMatchObject([{ firstSequence: 3, replayed: false }]);
    },
  },
  {
    route: 'appendBatches',
    name: 'an expected count changes nothing for a session that is unknown, on the other plane or closed',
    ask: ({ ours }) => ({
      body: {
        appends: [
          expecting(99, append('ses_none', '1', 'x')),
          expecting(0, append(ours.testSessionId, '1', 'x')),
          expecting(99, append(ours.closedSessionId, '1', 'x')),
        ],
      },
    }),
    status: 200,
    body: () => ({ results: [{ code: 'not_found' }, { code: 'not_found' }, { code: 'session_closed' }] }),
  },
  {
    route: 'appendBatches',
    name: 'sessions that are foreign, on the other plane, closed or unknown are refused',
    ask: ({ ours }) => ({
      body: {
        appends: [
          append('ses_none', '1', 'x'),
          append(ours.testSessionId, '1', 'x'),
          append(ours.closedSessionId, '1', 'x'),
        ],
      },
    }),
    status: 200,
    body: () => ({ results: [{ code: 'not_found' }, { code: 'not_found' }, { code: 'session_closed' }] }),
  },
  {
    route: 'appendBatches',
    name: 'a batch with an invalid event is refused with its pointer, and other sessions are stored',
    async ask(world) {
      const [one, two] = [await captured(world, 'T'), await captured(world, 'U')];
      const wrong = { ...append(one, '1'), body: { events: [{}] } };
      return { body: { appends: [wrong, append(one, '2', 'later'), append(two, '1', 'fine')] } };
    },
    status: 200,
    body: () => ({
      results: [
        { code: 'validation_failed', error: expect.stringMatching(/^\/events\/0\/eventType /) },
        { code: 'service_unavailable' },
        { firstSequence: 1 },
      ],
    }),
  },
  { route: 'appendBatches', name: 'an empty list', ask: { body: { appends: [] } }, status: 400, says: /^\/appends / },
];

const COMPLETIONS: readonly Scenario[] = [
  {
    route: 'completeSessions',
    name: 'each session has an outcome of its own',
    async ask(world) {
      const open = await openSession(world.service, world.ours.live, world.ours);
      const { closedSessionId, testSessionId } = world.ours;
      const sessions = [{ sessionId: open, status: 'failed', endedAt: '2020-01-01T00:00:00Z' }];
      return { body: { sessions: [...sessions, { sessionId: closedSessionId }, { sessionId: testSessionId }] } };
    },
    status: 200,
    body: () => ({
      results: [
        { status: 'failed', endedAt: '2020-01-01T00:00:00.000Z' },
        { code: 'session_already_closed' },
        { code: 'not_found' },
      ],
    }),
  },
  {
    route: 'completeSessions',
    name: 'an empty list',
    ask: { body: { sessions: [] } },
    status: 400,
    says: /^\/sessions /,
  },
];

export const CAPTURE_SCENARIOS: readonly Scenario[] = [...SESSIONS, ...APPENDS, ...COMPLETIONS, ...DELETIONS];
