import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { makeFolder, write } from '../test/folder.ts';
import { setUpMachine } from '../test/machine.ts';
import { run } from '../test/program.ts';
import { prompt, sessionId } from '../test/transcripts.ts';
import { readTree } from '../test/tree.ts';

/** The bytes of every file, but only the rows of the spool, because SQLite rewrites its files when it opens and closes them. */
function contentsOf(home: string) {
  const files = Object.entries(readTree(home)).filter(([path]) => !/spool\.db|\.lock(-journal)?$/.test(path));
  const db = new DatabaseSync(join(home, 'state/spool.db'));
  const tables = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
  const rows = tables.map(({ name }) => [name, db.prepare(`SELECT * FROM ${name}`).all()]);
  db.close();
  return { files, rows };
}

test('an inspection changes and registers nothing', async () => {
  const { home, service, capture } = await setUpMachine();
  const before = contentsOf(home);
  service.state.requests = [];
  await capture(['status']);
  expect(contentsOf(home)).toEqual(before);
  expect(service.state.requests.toSorted()).toEqual(['GET /config', 'GET /health', 'GET /v1/secret']);
});

test('an inspection of an unknown machine creates no folder', async () => {
  const home = makeFolder();
  mkdirSync(join(home, '.codex/sessions'), { recursive: true });
  const { exitCode, stdout, stderr } = await run(['status'], { home });
  expect({ exitCode, stderr }).toEqual({ exitCode: 4, stderr: '' });
  expect(stdout).toMatch(/^Failed {3}Nobody is signed in.*\n {9}→ capture login\n/m);
  expect(Object.keys(readTree(home)).filter((path) => path.startsWith('state'))).toEqual([]);
});

test('a person without a home folder still learns what is wrong', async () => {
  const { exitCode, stdout, stderr } = await run(['status'], { home: join(makeFolder(), 'gone') });
  expect({ exitCode, stderr }).toEqual({ exitCode: 4, stderr: '' });
  expect(stdout).toMatch(/^Failed {3}Nobody is signed in/m);
});

test('a read-only state folder is a failure', async () => {
  const home = makeFolder();
  write(join(home, 'state'), 'a file');
  const { stdout } = await run(['status'], { home });
  expect(stdout).toMatch(/^Failed {3}.*state cannot be written to \(ENOTDIR\), so nothing is captured\.\n {9}→ It is/m);
});

test('failures come first, then warnings', async () => {
  const { capture, home, endDaemon } = await setUpMachine();
  const well = await capture(['status']);
  expect(well).toMatchObject({ exitCode: 0, stderr: '' });
  expect(well.stdout).not.toMatch(/^(Failed|Warning)/m);
  mkdirSync(join(home, '.cursor'));
  expect(await capture(['status'])).toMatchObject({
    exitCode: 0,
    stdout: expect.stringMatching(/^Warning {2}Cursor: .*\n {9}→ capture init\n/m),
  });
  endDaemon();
  const failing = await capture(['status']);
  expect(failing).toMatchObject({ exitCode: 1, stderr: '' });
  expect(failing.stdout).toMatch(/^Failed {3}The daemon.*\nWarning {2}Cursor: .*\n/ms);
});

test('a bug report names no home, no secret, and no session', async () => {
  const { capture, home, state, endDaemon } = await setUpMachine();
  const cwd = join(home, 'divorce');
  write(join(home, '.claude/projects/-home-divorce', `${sessionId(2)}.jsonl`), `${prompt(2, 0, 'private', { cwd })}\n`);
  write(join(state, 'preferences.json'), JSON.stringify({ exclude: ['~/divorce'] }));
  endDaemon();
  const { stdout } = await capture(['status', '--report']);
  expect(stdout).not.toContain(home);
  expect(stdout).not.toMatch(/sk_live_test|divorce|private/);
  expect(JSON.parse(stdout)).toMatchObject({
    version: expect.any(String),
    platform: 'linux',
    summary: { ok: expect.any(Number), failed: 1 },
    checks: expect.arrayContaining([
      expect.objectContaining({ check: 'daemon', outcome: 'failed', fix: 'capture init' }),
    ]),
  });
});

test('a bug report replaces the state folder with its variable, wherever it is', async () => {
  const { capture, state } = await setUpMachine();
  chmodSync(state, 0o777);
  const { stdout } = await capture(['status', '--report']);
  expect(stdout).not.toContain(state);
  expect(JSON.parse(stdout).checks).toContainEqual(
    expect.objectContaining({ check: 'state-folders', sentence: expect.stringContaining('$CAPTURE_HOME') }),
  );
});
