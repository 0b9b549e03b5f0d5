import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { setUpDaemon } from './daemon.ts';
import { makeFolder } from './folder.ts';

/** A disk of a few megabytes, which only the system's administrator may make. */
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

test('a full disk makes capture wait and say so; with room it continues, and nothing is lost or doubled', async (context) => {
  const disk = mountSmallDisk();
  if (disk === undefined) return context.skip('mounting a small disk takes root');
  const state = join(disk, 'state');
  mkdirSync(state);
  const set = await setUpDaemon({ state });
  set.say(1, 0, 'one');
  const daemon = await set.start();
  await set.waitForTexts(1, ['one']);

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
  const words = Array.from(
    { length: 40 },
    (_, n) => `${n} ${Array.from({ length: 3000 }, (_, i) => Math.sin(i * n + 1).toString(36)).join('')}`,
  );
  words.forEach((text, n) => void set.say(2, n, text));
  await vi.waitFor(() => expect(daemon.warnings()).toMatch(/full/), { timeout: 60_000 });
  for (const file of execFileSync('ls', [disk], { encoding: 'utf8' }).split('\n')) {
    if (file.startsWith('ballast')) rmSync(join(disk, file));
  }
  await set.waitForTexts(2, words);
  set.say(1, 1, 'two');
  await set.waitForTexts(1, ['one', 'two']);
}, 60_000);
