import { expect } from 'vitest';
import type { Scenario } from '../scenarios.ts';

const append = (events: unknown, fields: object = {}) => ({ body: { events, ...fields } });
const one = (fields: object = {}) => append([{ eventType: 'notice', ...fields }]);
const many = (count: number) => append(Array.from({ length: count }, () => ({ eventType: 'notice' })));

const REFUSED: [name: string, ask: { body: unknown }, says: RegExp][] = [
  ['no events', append(undefined), /^\/events /],
  ['0 events', many(0), /^\/events /],
  ['51 events', many(51), /^\/events /],
  ['events in an object', append({ eventType: 'x' }), /^\/events /],
  ['an event that is a text', append(['x']), /^\/events\/0 /],
  ['no type', append([{ payload: {} }]), /^\/events\/0\/eventType /],
  ['an empty type', one({ eventType: '' }), /^\/events\/0\/eventType /],
  ['a type of 257 characters', one({ eventType: 'x'.repeat(257) }), /^\/events\/0\/eventType /],
  ['a type with a line break', one({ eventType: 'a\nb' }), /^\/events\/0\/eventType /],
  ['a type with a NUL', one({ eventType: 'a\u0000' }), /^\/events\/0\/eventType /],
  ['a type with DEL', one({ eventType: 'a\u007f' }), /^\/events\/0\/eventType /],
  ['a type with a C1 control', one({ eventType: 'a\u0085' }), /^\/events\/0\/eventType /],
  ['a payload of null', one({ payload: null }), /^\/events\/0\/payload /],
  ['a payload that is a list', one({ payload: [] }), /^\/events\/0\/payload /],
  ['a payload that is a text', one({ payload: '{}' }), /^\/events\/0\/payload /],
  ['a payload that is a number', one({ payload: 1 }), /^\/events\/0\/payload /],
  [
    'an invalid event behind two valid ones',
    append([{ eventType: 'a' }, { eventType: 'b' }, {}]),
    /^\/events\/2\/eventType /,
  ],
  ['an empty key', append([{ eventType: 'a' }], { idempotencyKey: '' }), /^\/idempotencyKey /],
  ['a key with a space', append([{ eventType: 'a' }], { idempotencyKey: 'a b' }), /^\/idempotencyKey /],
  ['a key of 256 characters', append([{ eventType: 'a' }], { idempotencyKey: 'k'.repeat(256) }), /^\/idempotencyKey /],
  ['a key that is a number', append([{ eventType: 'a' }], { idempotencyKey: 1 }), /^\/idempotencyKey /],
];

export const EVENTS: readonly Scenario[] = [
  {
    route: 'appendEvents',
    name: 'numbers continue from the last event',
    ask: many(2),
    status: 200,
    body: ({ ours, service }) => ({
      ...{ sessionId: ours.sessionId, accepted: 2, firstSequence: 3, lastSequence: 4 },
      async: service.isAsync,
    }),
  },
  {
    route: 'appendEvents',
    name: '50 events',
    ask: many(50),
    status: 200,
    body: () => ({ accepted: 50, firstSequence: 5, lastSequence: 54 }),
  },
  { route: 'appendEvents', name: 'a type of 256 characters', ask: one({ eventType: 'é'.repeat(256) }), status: 200 },
  {
    route: 'appendEvents',
    name: 'unknown fields of the body and of an event are ignored',
    ask: append([{ eventType: 'notice', at: 1, payload: { kept: true } }], { batch: 'x' }),
    status: 200,
    async after({ service, ours }, { body }) {
      const url = `/v1/organizations/me/sessions/${ours.sessionId}/window?from=${body.firstSequence}`;
      const page = await service.call('GET', url, { as: ours.member });
      expect(page.body.events).toMatchObject([{ eventType: 'notice', payload: { kept: true } }]);
      expect(page.body.events[0]).not.toHaveProperty('at');
    },
  },
  ...REFUSED.map(
    ([name, ask, says]): Scenario => ({
      route: 'appendEvents',
      name,
      ask,
      status: 400,
      code: 'validation_failed',
      says,
      async after({ service, ours }) {
        const { body } = await service.call('GET', `/v1/organizations/me/sessions/${ours.sessionId}`, {
          as: ours.member,
        });
        expect(body.session.eventCount).toBe(56);
      },
    }),
  ),
  { route: 'appendEvents', name: 'no body', ask: { body: '' }, status: 400, code: 'malformed_json' },
  { route: 'appendEvents', name: 'an unknown session', ask: { params: { sessionId: 'ses_none' } }, status: 404 },
  { route: 'appendEvents', name: 'a session id with a NUL', ask: { params: { sessionId: 'ses\0' } }, status: 404 },
  {
    route: 'appendEvents',
    name: 'a closed session',
    ask: ({ ours }) => ({ params: { sessionId: ours.closedSessionId } }),
    status: 409,
    code: 'session_closed',
  },
  {
    route: 'listSessionEvents',
    name: 'payloads come back as they were sent',
    status: 200,
    after({ ours }, { body }) {
      expect(body.events[0]).toMatchObject({ sessionId: ours.sessionId, sequence: 1, payload: { text: 'ours one' } });
      expect(body.events[2]).toMatchObject({ sequence: 3, payload: {} });
    },
  },
  {
    route: 'listSessionEvents',
    name: 'a malformed cursor',
    ask: { query: { cursor: '%' } },
    status: 400,
    says: /^\/cursor /,
  },
  { route: 'listSessionEvents', name: 'an unknown session', ask: { params: { sessionId: 'ses_none' } }, status: 404 },
  {
    route: 'getEventWindow',
    name: 'a window starts at the given sequence',
    ask: { query: { from: 4, limit: 2 } },
    status: 200,
    body: () => ({ events: [{ sequence: 4 }, { sequence: 5 }], nextCursor: expect.any(String) }),
  },
  { route: 'getEventWindow', name: 'a window from 0', ask: { query: { from: 0 } }, status: 400, says: /^\/from / },
  {
    route: 'getEventWindow',
    name: 'a limit that is no number',
    ask: { query: { limit: 'all' } },
    status: 400,
    says: /^\/limit /,
  },
  { route: 'getEventWindow', name: 'an unknown session', ask: { params: { sessionId: 'ses_none' } }, status: 404 },
];
