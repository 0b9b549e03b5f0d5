import { lstatSync, mkdirSync, readlinkSync, rmdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { writeAtomically } from '../atomic-file.ts';
import { codeOf } from '../failure.ts';
import { readPlainFile } from '../plain-file.ts';

/** Settings are some kilobytes. A file that is larger by far is not what it seems. */
const MOST_BYTES = 16 * 1024 * 1024;

/** The file itself where a path is a link: it is what is written, the link stays. */
export const followLinks = (path: string): string =>
  lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()
    ? followLinks(resolve(dirname(path), readlinkSync(path)))
    : path;

/** Undefined if there is no file. Throws the system's errors, and one for a file that cannot be read whole. */
export function readFile(path: string): Buffer | undefined {
  try {
    return readPlainFile(path, MOST_BYTES);
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}

/**
 * Puts bytes in a file's place in one step. Keeps the mode and owner of the file that was there, and a link to it.
 */
export function replaceFile(path: string, bytes: string | Uint8Array, newMode: number): void {
  const target = followLinks(path);
  const folder = dirname(target);
  // Closed to others' writing even without a umask: what runs hooks lies here.
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  const before = statSync(target, { throwIfNoEntry: false });
  writeAtomically(target, bytes, { mode: before ? before.mode & 0o7777 : newMode, owner: before });
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
