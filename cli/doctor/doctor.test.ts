import { globSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { setUpMachine } from '../test/doctor.ts';
import { makeFolder, write } from '../test/folder.ts';
import { run } from '../test/program.ts';
import { prompt, sessionId } from '../test/transcripts.ts';
import { readTree } from '../test/tree.ts';

/** Every file byte for byte, and of the spool what is in it: SQLite moves it about when it opens and closes its files. */
function contentsOf(home: string) {
  const files = Object.entries(readTree(home)).filter(([path]) => !/spool\.db|\.lock(-journal)?$/.test(path));
  const db = new DatabaseSync(join(home, 'state/spool.db'));
  const tables = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
  const rows = tables.map(({ name }) => [name, db.prepare(`SELECT * FROM ${name}`).all()]);
  db.close();
  return { files, rows };
}

test('where all is well, nothing is failed and nothing warned of', async () => {
  const { examine } = await setUpMachine();
  const examined = await examine();
  expect(examined.filter(({ outcome }) => outcome === 'failed' || outcome === 'warning')).toEqual([]);
  // Each has a scenario in which it fails in one of the files of `troubles/`; but for what tells who is absent.
  const scenarios = globSync(join(import.meta.dirname, 'troubles/*.test.ts')).map((path) => readFileSync(path, 'utf8'));
  for (const { check } of examined) if (check !== 'absent') expect(scenarios.join('')).toContain(`check: '${check}'`);
});

test('nothing is changed or registered by looking', async () => {
  const { home, service, capture } = await setUpMachine();
  const before = contentsOf(home);
  service.state.requests = [];
  await capture(['doctor']);
  expect(contentsOf(home)).toEqual(before);
  expect(service.state.requests.toSorted()).toEqual(['GET /health', 'GET /v1/secret']);
});

test('on a machine that has never seen it, no folder is made', async () => {
  const home = makeFolder();
  mkdirSync(join(home, '.codex/sessions'), { recursive: true });
  const { exitCode, stdout, stderr } = await run(['doctor'], { home });
  expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringMatching(/^error: 2 checks failed\.\n/) });
  expect(stdout).toMatch(/^Service\n {2}Failed {3}Nobody is signed in.*\n {11}→ capture login\n/);
  expect(Object.keys(readTree(home)).filter((path) => path.startsWith('state'))).toEqual([]);
});

test('where all is well it ends with success, and a warning does not change that', async () => {
  const { capture, home } = await setUpMachine();
  const well = await capture(['doctor']);
  expect(well).toMatchObject({
    exitCode: 0,
    stderr: '',
    stdout: expect.stringMatching(/\n\n\d+ OK, 0 warnings, 0 failed, /),
  });
  mkdirSync(join(home, '.qwen'));
  const warned = await capture(['doctor']);
  expect(warned).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(', 1 warning, 0 failed, ') });
  expect(warned.stdout).toContain('\n           → capture init --agent qwen-code\n');
});

test('what --json answers names no home, no secret, and no session', async () => {
  const { capture, home, state } = await setUpMachine();
  const cwd = join(home, 'divorce');
  write(join(home, '.claude/projects/-home-divorce', `${sessionId(2)}.jsonl`), `${prompt(2, 0, 'private', { cwd })}\n`);
  write(join(state, 'preferences.json'), JSON.stringify({ exclude: ['~/divorce'] }));
  rmSync(join(state, 'bin/hook'));
  const { stdout } = await capture(['doctor', '--json']);
  expect(stdout).not.toContain(home);
  expect(stdout).not.toMatch(/sk_live_test|divorce|private/);
  expect(JSON.parse(stdout)).toMatchObject({
    version: expect.any(String),
    platform: 'linux',
    summary: { ok: expect.any(Number), failed: 1 },
    checks: expect.arrayContaining([
      expect.objectContaining({
        area: 'Agents',
        check: 'agents',
        outcome: 'failed',
        fix: 'capture init --agent claude-code',
      }),
    ]),
  });
  // The person is told.
  expect((await capture(['doctor'])).stdout).toContain('- 1 transcript: "~/divorce" is excluded\n');
});

test('long sentences are wrapped on a terminal, and what mends them is not', async () => {
  const { capture, state } = await setUpMachine();
  write(join(state, 'preferences.json'), '{"exlude": []}');
  const { stdout } = await capture(['doctor'], { isTTY: true });
  for (const line of stdout.split('\n').filter((text) => !text.includes('→'))) expect(line.length).toBeLessThan(81);
});

test('a check that cannot be carried out says so, and the others go on', async () => {
  const { examine } = await setUpMachine();
  const freeBytes = () => {
    throw new Error('No such system call');
  };
  const examined = await examine({}, { freeBytes });
  expect(examined.filter(({ outcome }) => outcome === 'failed')).toMatchObject([
    { check: 'disk', sentence: expect.stringContaining('could not be examined') },
  ]);
  expect(examined.at(-1)).toMatchObject({ check: 'redaction', outcome: 'ok' });
});
