import { join } from 'node:path';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { waitForSender } from '../read/reader.ts';
import { openSpool } from '../spool/open.ts';
import { makeFolder, write } from '../test/folder.ts';
import { createContext } from '../test/program.ts';
import { createMemory, createSpoolLimit } from './limits.ts';

afterEach(() => void vi.useRealTimers());

test('memory is released once it is quiet after much work, and not for heartbeats', () => {
  vi.useFakeTimers();
  let collected = 0;
  const memory = createMemory({ releaseMemory: () => {} }, () => void collected++);
  vi.advanceTimersByTime(4000);
  expect(collected).toBe(0);
  for (let request = 0; request < 100; request++) memory.use();
  vi.advanceTimersByTime(4000);
  expect(collected).toBe(0);
  vi.advanceTimersByTime(2000);
  expect(collected).toBe(1);
  for (let beat = 0; beat < 10; beat++) {
    memory.use();
    vi.advanceTimersByTime(60_000);
  }
  expect(collected).toBe(1);
  for (let request = 0; request < 100; request++) memory.use();
  memory.close();
  vi.advanceTimersByTime(60_000);
  expect(collected).toBe(1);
});

/** A spool with waiting events of an excluded session. */
function openWithExcluded(bytes: number) {
  const spool = openSpool(':memory:');
  onTestFinished(spool.close);
  const session = spool.sessions.ensure('codex', 'excluded');
  spool.batches.add({
    session,
    key: 'k',
    events: 1,
    digests: new Uint8Array(),
    marks: {},
    body: new Uint8Array(bytes),
    madeAt: 0,
  });
  const decision = { agent: 'codex', session: 'excluded', decidedAt: 0, isByPerson: false, facts: [], parents: [] };
  spool.decisions.store({ ...decision, verdict: 'excluded' });
  return spool;
}

test('events of excluded sessions, which are not sent, do not block reading', async () => {
  const spool = openWithExcluded(65 * 1024 * 1024);
  let asked = 0;
  await waitForSender(spool, { isStopped: () => ++asked > 1, isFlowing: () => true });
  expect(asked).toBe(1);
});

test('a full spool throws away the waiting events of excluded sessions, whose transcripts still contain them', () => {
  const home = makeFolder();
  write(join(home, 'state/preferences.json'), '{"spool":{"maxMegabytes":1}}');
  const { context } = createContext({ home });
  const spool = openWithExcluded(1_100_000);
  const log = { info: () => {}, warn: () => {} };
  expect(createSpoolLimit(context, spool, log)()).toBe(false);
  expect(spool.batches.bytes()).toBe(0);
});
