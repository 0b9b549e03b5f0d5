import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { makeFolder } from '../test/folder.ts';
import { DECISIONS_FILE } from './decisions.ts';
import { openSpool } from './open.ts';

/** Skips a session. Its arguments are the spool and the session's id. */
const SKIP = `
  import { openSpool } from ${JSON.stringify(pathToFileURL(join(import.meta.dirname, 'open.ts')))};
  const spool = openSpool(process.argv[1]);
  process.stdout.write('opened');
  spool.transact(() => spool.keepBack(Number(process.argv[2]), 'skipped', 1));`;
/** `ulimit -f` counts in these. */
const BLOCK_BYTES = 512;
/** So many rows make the log of one file much longer than that of the other. */
const ROWS = 5000;

/** A spool with an event that waits to be sent. */
function setUp() {
  const path = join(makeFolder(), 'spool.db');
  const spool = openSpool(path);
  onTestFinished(spool.close);
  const session = spool.sessions.ensure('codex', 'one');
  const texts = { digests: new Uint8Array(), body: new Uint8Array(), marks: {} };
  spool.batches.add({ session, key: 'key', events: 1, madeAt: 0, ...texts });
  const keys = Array.from({ length: ROWS }, (_, index) => Buffer.alloc(16, String(index).padStart(16)));
  return { path, spool, session, keys };
}

/** Skips the session in a process that cannot write to the log of a file. That log must be the longest file. */
function skipWithout(file: string, path: string, session: number): void {
  const most = Math.floor(statSync(`${file}-wal`).size / BLOCK_BYTES);
  const words = [process.execPath, '--input-type=module', '--eval', SKIP, path, String(session)];
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
  skipWithout(join(dirname(path), DECISIONS_FILE), path, session);
  expect(spool.decisions.isKeptBack('codex', 'one')).toBe(false);
  expect(spool.batches.depth().events).toBe(1);
});

test('if only the deletion of the waiting events cannot be stored, the session is kept back and no event is sent', () => {
  const { path, spool, session, keys } = setUp();
  spool.transact(() => {
    for (const key of keys) spool.seen.meetRecord(key, session);
  });
  skipWithout(path, path, session);
  expect(spool.decisions.isKeptBack('codex', 'one')).toBe(true);
  expect(spool.batches.depth().events).toBe(0);
  expect(spool.batches.keptBack()).toEqual([session]);
});
