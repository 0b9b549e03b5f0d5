import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeFolder } from '../test/folder.ts';
import type { Deferral } from './deferrals.ts';
import { openSpool, type Spool } from './open.ts';

const HOUR_MS = 3_600_000;
const DEFERRED: Deferral = { state: 'deferred', sentence: 'Not now.', hint: 'Ask.', exitCode: 1, until: 1000 };

/** A spool with a session that has something to send, and a way to open it again, as after a crash. */
function setUp() {
  const path = join(makeFolder(), 'spool.db');
  let spool = openSpool(path);
  const session = spool.sessions.ensure('codex', 'one');
  spool.batches.add({
    session,
    key: 'key',
    events: 1,
    digests: new Uint8Array(),
    marks: {},
    body: new Uint8Array(),
    madeAt: 0,
  });
  return {
    session,
    spool,
    reopen(): Spool {
      spool.close();
      spool = openSpool(path);
      return spool;
    },
    waiting: (now: number) => spool.batches.waiting({ order: 'oldest', limit: 10, changedSince: 0, without: [], now }),
  };
}

test('a deferred session is not sent before its time, also after a crash', () => {
  const { session, spool, reopen, waiting } = setUp();
  spool.deferrals.defer(session, DEFERRED);
  expect(reopen().deferrals.list()).toEqual([{ agent: 'codex', agentSession: 'one', ...DEFERRED }]);
  expect([waiting(999), waiting(1000)]).toEqual([[], [session]]);
});

test('a session that was deferred while the clock was ahead is tried once the clock is right again', () => {
  const { session, spool, waiting } = setUp();
  spool.deferrals.defer(session, { ...DEFERRED, until: 1_000_000_000 });
  expect([waiting(1_000_000_000 - HOUR_MS), waiting(1000)]).toEqual([[], [session]]);
});

test('a refused session is tried again once the service accepts something, and a deferred one is not', () => {
  const { session, spool, waiting } = setUp();
  spool.deferrals.defer(session, { ...DEFERRED, state: 'refused' });
  spool.deferrals.endRefused();
  expect(waiting(0)).toEqual([session]);
  spool.deferrals.defer(session, DEFERRED);
  spool.deferrals.endRefused();
  expect(waiting(0)).toEqual([]);
  spool.deferrals.endAll();
  expect(waiting(0)).toEqual([session]);
});

test('reopenings are counted in a row', () => {
  const { session, spool, reopen } = setUp();
  expect([1, 2].map(() => spool.deferrals.countReopening(session))).toEqual([1, 2]);
  const { deferrals } = reopen();
  expect(deferrals.countReopening(session)).toBe(3);
  deferrals.end(session);
  expect(deferrals.countReopening(session)).toBe(1);
});

test('a session without waiting events is no longer listed', () => {
  const { session, spool } = setUp();
  spool.deferrals.defer(session, DEFERRED);
  spool.batches.removeSession(session);
  expect(spool.deferrals.list()).toEqual([]);
});
