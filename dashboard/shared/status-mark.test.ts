import { expect, test } from 'vitest';
import type { SessionSummary } from '../../contract/review.ts';
import type { Session } from '../../contract/session.ts';
import { stateOf } from './status-mark.tsx';

const NOW = Date.parse('2026-11-22T10:00:00.000Z');

test('a session without times is never live, since it may have just been imported', () => {
  const session = { status: 'active', updatedAt: '2026-11-22T09:59:59.000Z' } as Session;
  const summary = { summarizedThrough: 12 } as SessionSummary;
  expect(stateOf(session, summary, NOW)).toBe('quiet');
  expect(stateOf(session, undefined, NOW)).toBe('live');
});

test.each([
  ['active', '2026-11-22T09:50:00.000Z', undefined, 'live'],
  ['active', '2026-11-22T09:40:00.000Z', undefined, 'quiet'],
  ['active', '2026-11-21T09:59:00.000Z', undefined, 'silent'],
  // Events that were just captured may have happened long ago.
  ['active', '2026-11-22T09:59:59.000Z', '2026-11-20T10:00:00.000Z', 'silent'],
  ['completed', '2026-11-22T09:59:59.000Z', undefined, 'completed'],
  ['failed', '2026-11-22T09:59:59.000Z', undefined, 'failed'],
] as const)(
  'a session with status %s, changed at %s and with its last event at %s is %s',
  (status, updatedAt, lastEventAt, state) => {
    const summary = lastEventAt && ({ lastEventAt } as SessionSummary);
    expect(stateOf({ status, updatedAt } as Session, summary, NOW)).toBe(state);
  },
);
