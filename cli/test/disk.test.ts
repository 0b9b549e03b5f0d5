import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { setUpDaemon } from './daemon.ts';
import { makeFolder, removeFiles, write } from './folder.ts';
import { run } from './program.ts';
import { startService } from './service.ts';
import { prompt, sessionId } from './transcripts.ts';

/** Mounts a disk of a few megabytes, which needs root. */
function mountSmallDisk(): string | undefined {
  const folder = makeFolder();
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=6m', 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    return undefined;
  }
  onTestFinished(() => void execFileSync('umount', ['-l', folder]));
  return folder;
}

/** Fills a disk. @returns a function that frees the space again */
function fill(disk: string): () => void {
  const ballast = join(disk, 'ballast');
  for (let size = 4 * 1024 * 1024; size >= 1024; size /= 2) {
    for (let part = 0; part < 8; part++) {
      try {
        writeFileSync(`${ballast}-${size}-${part}`, Buffer.alloc(size));
      } catch {
        rmSync(`${ballast}-${size}-${part}`, { force: true });
        break;
      }
    }
  }
  return () => removeFiles(disk, /^ballast/);
}

test('capture on a full disk warns and waits, then continues without loss or duplicates', async (context) => {
  const disk = mountSmallDisk();
  if (disk === undefined) return context.skip('mounting a small disk takes root');
  const state = join(disk, 'state');
  mkdirSync(state);
  const set = await setUpDaemon({ state });
  set.say(1, 0, 'one');
  const daemon = await set.start();
  await set.waitForTexts(1, ['one']);

  const makeRoom = fill(disk);
  const words = Array.from(
    { length: 40 },
    (_, n) => `${n} ${Array.from({ length: 3000 }, (_, i) => Math.sin(i * n + 1).toString(36)).join('')}`,
  );
  words.forEach((text, n) => void set.say(2, n, text));
  await vi.waitFor(() => expect(daemon.warnings()).toMatch(/full/), { timeout: 60_000 });
  makeRoom();
  await set.waitForTexts(2, words);
  set.say(1, 1, 'two');
  await set.waitForTexts(1, ['one', 'two']);
}, 60_000);

test('status on a full disk first advises freeing space, and init on a read-only disk asks to make it writable', async (context) => {
  const disk = mountSmallDisk();
  if (disk === undefined) return context.skip('mounting a small disk takes root');
  const variables = { CAPTURE_HOME: join(disk, 'state') };
  const home = makeFolder();
  const service = await startService();
  onTestFinished(service.stop);
  const capture = (words: string[], input = '') => run(words, { home, variables, input });
  await capture(['login', '--secret-stdin', '--url', service.url], 'sk_live_test');
  write(join(home, '.claude/projects/shop', `${sessionId(1)}.jsonl`), `${prompt(1, 0, 'one', { cwd: home })}\n`);
  const fixesOf = async () => [...(await capture(['status'])).stdout.matchAll(/^ +→ (.*)$/gm)].map(([, fix]) => fix);

  const makeRoom = fill(disk);
  expect(await capture(['import'])).toMatchObject({
    exitCode: 75,
    stderr: expect.stringMatching(/full/),
  });
  const [first, ...others] = await fixesOf();
  expect(first).toMatch(/^df -h /);
  expect(others).not.toContainEqual(expect.stringMatching(/^capture import/));
  makeRoom();

  execFileSync('mount', ['-o', 'remount,ro', disk]);
  const { exitCode, stderr } = await capture(['init', '--yes', '--no-daemon']);
  expect({ exitCode, stderr }).toEqual({
    exitCode: 1,
    stderr: expect.stringMatching(/^error: .*EROFS.*\nhint: Make it writable for you, or set CAPTURE_HOME /m),
  });
});
