import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { codeOf } from '../failure.ts';
import { readPlainFile } from '../plain-file.ts';

/** Settings are some kilobytes. A file that is larger by far is not what it seems. */
const MOST_BYTES = 16 * 1024 * 1024;

/** The file itself where a path is a link: it is what is written, the link stays. */
export const followLinks = (path: string): string =>
  lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()
    ? followLinks(resolve(dirname(path), readlinkSync(path)))
    : path;

/** Undefined where there is no file. Throws the system's errors, and one for what cannot be read as a whole. */
export function readFile(path: string): Buffer | undefined {
  try {
    return readPlainFile(path, MOST_BYTES);
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}

/**
 * Puts bytes in a file's place in one step, so that nobody finds half of them, even after a power failure. Keeps mode
 * and owner of the file that was there, and a link to it.
 */
export function replaceFile(path: string, bytes: string | Uint8Array, newMode: number): void {
  const target = followLinks(path);
  const folder = dirname(target);
  // Closed to others' writing even without a umask: what runs hooks lies here.
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  const before = statSync(target, { throwIfNoEntry: false });
  const temporary = join(folder, `.session-capture-${process.pid}.tmp`);
  rmSync(temporary, { force: true });
  try {
    writeFileSync(temporary, bytes, { flag: 'wx', mode: 0o600, flush: true });
    if (before) keepOwner(temporary, before);
    chmodSync(temporary, before ? before.mode & 0o7777 : newMode);
    renameSync(temporary, target);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** Only root may give files away; for others the owner is the same, or cannot be kept. */
function keepOwner(file: string, { uid, gid }: { uid: number; gid: number }): void {
  try {
    chownSync(file, uid, gid);
  } catch (error) {
    if (codeOf(error) !== 'EPERM') throw error;
  }
}

/** Removes those folders that hold nothing any more, innermost first. */
export function removeEmpty(folders: readonly string[]): void {
  for (const folder of [...folders].reverse()) {
    try {
      rmdirSync(folder);
    } catch {
      // Something else is in it.
    }
  }
}
