import {
  closeSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
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
export function followLinks(path: string): string {
  let target = path;
  // As many as Linux follows.
  for (let links = 0; links < 40; links++) {
    if (lstatSync(target, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return target;
    target = resolve(dirname(target), readlinkSync(target));
  }
  throw Object.assign(new Error('it is a link that leads round in a circle'), { code: 'ELOOP' });
}

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
    const file = openSync(temporary, 'wx', 0o600);
    try {
      writeFileSync(file, bytes);
      if (before) keepOwner(file, before);
      fchmodSync(file, before ? before.mode & 0o7777 : newMode);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, target);
    syncFolder(folder);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** Only root may give files away; for others the owner is the same, or cannot be kept. */
function keepOwner(file: number, { uid, gid }: { uid: number; gid: number }): void {
  try {
    fchownSync(file, uid, gid);
  } catch (error) {
    if (codeOf(error) !== 'EPERM') throw error;
  }
}

/** Windows opens no folders, and some network file systems sync none. */
function syncFolder(folder: string): void {
  try {
    const file = openSync(folder, 'r');
    try {
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  } catch {
    // The file is whole either way.
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
