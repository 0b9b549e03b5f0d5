import { existsSync, mkdirSync, readdirSync } from 'node:fs';
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
  mkdirSync(join(home, '.cursor'));
  const capture = (args: string[], options: Partial<RunOptions> = {}) =>
    run(args, { home, url: service.url, secret: 'sk_live_test', ...options });
  await capture(['login']);
  await capture(['import']);
  await capture(['init', '--yes', '--no-daemon']);
  write(join(state, 'inbox/cursor/1-0.json'), '{}');
  write(join(state, 'sessions/cursor/aaaa.jsonl'), '{}\n');
  return { home, state, capture };
}

test('uninstall tells what it leaves, and how to be rid of it', async () => {
  const { state, capture } = await prepare();
  const { stdout } = await capture(['uninstall']);
  expect(stdout).toContain(`  1 message that hooks left and nobody read (${state}/inbox)\n`);
  expect(stdout).toContain(`  what Cursor's hooks told, with the secrets in it (${state}/sessions)\n`);
  expect(stdout).toContain(`  the sign-in (${state}/config.json)\n`);
  expect(stdout).toContain('`capture uninstall --purge` deletes that, too.');
  expect(existsSync(join(state, 'sessions/cursor/aaaa.jsonl'))).toBe(true);
});

test('purged, the state folder is gone, and the hooks with it', async () => {
  const { home, state, capture } = await prepare();
  const { exitCode, stdout } = await capture(['uninstall', '--purge', '--yes']);
  expect([exitCode, stdout]).toEqual([0, expect.stringContaining(`${state} is deleted.`)]);
  expect(existsSync(state)).toBe(false);
  expect(readdirSync(join(home, '.cursor'))).toEqual([]);
});

test("what is not capture's stays in its folder", async () => {
  const { state, capture } = await prepare();
  write(join(state, 'notes.txt'), 'mine');
  write(join(state, 'spool/mine.txt'), 'mine');
  await capture(['uninstall', '--purge', '--yes']);
  expect(readdirSync(state)).toEqual(['notes.txt', 'spool']);
});

test('without a yes nothing is purged, nor anything else done', async () => {
  const { home, capture } = await prepare();
  expect((await capture(['uninstall', '--purge'])).exitCode).toBe(2);
  const refused = await capture(['uninstall', '--purge'], { isTTY: true, input: 'n\n' });
  expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining('Delete it for good?')]);
  expect(existsSync(join(home, '.cursor/hooks.json'))).toBe(true);
});

test('as long as settings cannot be put right, what would put them right is not purged', async () => {
  const { home, state, capture } = await prepare();
  write(join(home, '.cursor/hooks.json'), 'broken');
  expect((await capture(['uninstall', '--purge', '--yes'])).exitCode).toBe(1);
  expect(existsSync(join(state, 'hooks/cursor.json'))).toBe(true);
});
