import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { createPolicy } from '../privacy/policy.ts';
import { makeFolder } from '../test/folder.ts';
import { openReading } from '../test/reading.ts';
import { DECISIONS_FILE } from './decisions.ts';
import { openSpool } from './open.ts';

/** Keeps a session back. Its arguments are the spool, the session's id, and the verdict. */
const KEEP_BACK = `
  import { openSpool } from ${JSON.stringify(pathToFileURL(join(import.meta.dirname, 'open.ts')))};
  const spool = openSpool(process.argv[1]);
  process.stdout.write('opened');
  spool.transact(() => spool.keepBack(Number(process.argv[2]), process.argv[3], 1));`;
/** `ulimit -f` counts in these. */
const BLOCK_BYTES = 512;
/** So many rows make the log of one file much longer than that of the other. */
const ROWS = 5000;

/** A spool with a session that has a prompt, an event that waits to be sent and a refused one. */
function setUp() {
  const path = join(makeFolder(), 'spool.db');
  const spool = openSpool(path);
  onTestFinished(spool.close);
  const session = spool.sessions.ensure('codex', 'one');
  spool.sessions.learn(session, { prompt: 'hello', modifiedAt: 1 });
  spool.refused.add({ session, event: '{}', problem: 'too_large', refusedAt: 1 });
  const texts = { digests: new Uint8Array(), body: new Uint8Array(), marks: {} };
  spool.batches.add({ session, key: 'key', events: 1, madeAt: 0, ...texts });
  const keys = Array.from({ length: ROWS }, (_, index) => Buffer.alloc(16, String(index).padStart(16)));
  return { path, spool, session, keys };
}

/** Keeps the session back in a process that cannot write to the log of a file. That log must be the longest file. */
function keepBackWithout(file: string, path: string, session: number, verdict = 'skipped'): void {
  const most = Math.floor(statSync(`${file}-wal`).size / BLOCK_BYTES);
  const words = [process.execPath, '--input-type=module', '--eval', KEEP_BACK, path, String(session), verdict];
  const limited = ['-c', `ulimit -f ${most}; exec "$@"`, 'sh', ...words];
  const { stdout, stderr } = spawnSync('sh', limited, { encoding: 'utf8' });
  expect(stdout).toBe('opened');
  expect(stderr).toMatch(/disk I\/O error|database or disk is full/);
}

test('if a skip cannot be stored, the session is still wanted and its waiting events are still sent', () => {
  const { path, spool, session, keys } = setUp();
  spool.transact(() => {
    for (const key of keys) spool.decisions.addFirstRecord('codex', 'other', key);
  });
  keepBackWithout(join(dirname(path), DECISIONS_FILE), path, session);
  expect(spool.decisions.isKeptBack('codex', 'one')).toBe(false);
  expect(spool.batches.depth().events).toBe(1);
});

test('if only the deletion of the waiting events cannot be stored, the session is kept back and no event is sent', () => {
  const { path, spool, session, keys } = setUp();
  spool.transact(() => {
    for (const key of keys) spool.seen.meetRecord(key, session);
  });
  keepBackWithout(path, path, session);
  expect(spool.decisions.isKeptBack('codex', 'one')).toBe(true);
  expect(spool.batches.depth().events).toBe(0);
  expect(spool.batches.keptBack()).toEqual([session]);
});

test.each([
  ['skipped', 1],
  ['deleted', 0],
])('the next look throws away the rest of a %s session if that could not be stored', (verdict, refused) => {
  const { path, spool, session, keys } = setUp();
  const fork = spool.sessions.ensure('codex', 'fork');
  spool.sessions.learn(fork, { prompt: 'hello again', modifiedAt: 1 });
  const found = { agent: 'codex', verdict: 'wanted', decidedAt: 0, isByPerson: false, facts: [] } as const;
  spool.transact(() => {
    spool.decisions.store({ ...found, session: 'fork', facts: [], parents: ['one'] });
    for (const key of keys) spool.seen.meetRecord(key, session);
  });
  keepBackWithout(path, path, session, verdict);
  expect(spool.sessions.get(session)).toMatchObject({ prompt: 'hello' });
  const home = dirname(path);
  const policy = createPolicy({ ...spool, home, variables: {}, platform: 'linux', now: Date.now });
  const { findWork } = openReading(home, path, { policy });
  findWork();
  for (const id of [session, fork]) expect(spool.sessions.get(id).prompt).toBeUndefined();
  expect(spool.batches.keptBack()).toEqual([]);
  expect(spool.refused.ofSession(session)).toHaveLength(refused);
});
