import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeFolder, write } from '../test/folder.ts';
import { type RunOptions, run } from '../test/program.ts';
import { startService } from '../test/service.ts';

async function prepare() {
  const service = await startService();
  onTestFinished(service.stop);
  const home = makeFolder();
  const state = join(home, 'state');
  write(join(home, '.cursor/hooks.json'), '{}');
  const capture = (args: string[], options: Partial<RunOptions> = {}) =>
    run(args, { home, url: service.url, secret: 'sk_live_test', ...options });
  await capture(['login']);
  await capture(['import']);
  service.state.organizationId = 'org_other';
  await capture(['import']);
  await capture(['init', '--yes', '--no-daemon']);
  write(join(state, 'inbox/cursor/1-0.json'), '{}');
  write(join(state, 'sessions/cursor/aaaa.jsonl'), '{}\n');
  return { home, state, capture };
}

test('uninstall keeps shared files, and says so with the command to remove them', async () => {
  const { state, capture } = await prepare();
  const kept = () => readdirSync(state).filter((name) => /^(config\.json|spool.*\.db|sessions|inbox)$/.test(name));
  const before = kept();
  const { stdout } = await capture(['uninstall']);
  expect(stdout).toContain(`Kept in ${state}: the sign-in, `);
  expect(stdout).toContain(
    "unmasked notes of Cursor's hooks that were not captured yet. `capture uninstall --purge` deletes it.\n",
  );
  expect([before.length, kept()]).toEqual([5, before]);
});

test('a purge deletes the state folder with the spools of every account, and the hooks', async () => {
  const { home, state, capture } = await prepare();
  expect(readdirSync(state).filter((name) => /^spool(-[0-9a-f]{16})?\.db$/.test(name))).toHaveLength(2);
  const { exitCode, stdout } = await capture(['uninstall', '--purge', '--yes']);
  expect([exitCode, stdout]).toEqual([
    0,
    expect.stringMatching(`${state} is deleted\\.\nOnly the program itself is left: /`),
  ]);
  expect(existsSync(state)).toBe(false);
  expect(readFileSync(join(home, '.cursor/hooks.json'), 'utf8')).toBe('{}');
});

test("other programs' files in the folder stay", async () => {
  const { state, capture } = await prepare();
  for (const name of ['notes.txt', 'bin/mine', 'spool/mine.txt', 'spool-mine.db']) write(join(state, name), 'mine');
  await capture(['uninstall', '--purge', '--yes']);
  expect(readdirSync(state)).toEqual(['bin', 'notes.txt', 'spool', 'spool-mine.db']);
  expect(readdirSync(join(state, 'bin'))).toEqual(['mine']);
});

test('without a yes, nothing is purged or changed, and the loss is named before', async () => {
  const { home, capture } = await prepare();
  expect((await capture(['uninstall', '--purge'])).exitCode).toBe(2);
  const { exitCode, stderr } = await capture(['uninstall', '--purge'], { isTTY: true, input: 'n\n' });
  expect(exitCode).toBe(2);
  expect(stderr).toContain('Unsent events are lost. Sent events stay at the service.\n');
  expect(stderr).toContain('Delete it for good?');
  expect(existsSync(join(home, '.cursor/hooks.json'))).toBe(true);
});

test('a purge waits until broken settings are repaired', async () => {
  const { home, state, capture } = await prepare();
  write(join(home, '.cursor/hooks.json'), `broken ${state}/bin/hook`);
  expect((await capture(['uninstall', '--purge', '--yes'])).exitCode).toBe(1);
  expect(existsSync(join(state, 'hooks/cursor.hooks.json.before-capture'))).toBe(true);
});

test('after `capture stop`, uninstall says that capture was set up and does not start any more', async () => {
  const { state, capture } = await prepare();
  await capture(['uninstall']);
  expect((await capture(['uninstall'])).stdout).toMatch(/^Nothing was installed\.$/m);
  write(join(state, 'setup.json'), '{"starter": "process"}');
  const { stdout } = await capture(['uninstall']);
  expect(stdout).toMatch(/^capture was already stopped, and no longer starts by itself\.$/m);
  expect(stdout).not.toContain('Nothing was installed');
});
