import { lstatSync, mkdirSync, readlinkSync, rmdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { writeAtomically } from '../atomic-file.ts';
import { codeOf } from '../failure.ts';
import { readPlainFile } from '../plain-file.ts';

/** Settings are some kilobytes. A much larger file is something else. */
const MAX_BYTES = 16 * 1024 * 1024;

/** The target file where a path is a link. The target is written, and the link stays. */
export const followLinks = (path: string): string =>
  lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()
    ? followLinks(resolve(dirname(path), readlinkSync(path)))
    : path;

/** Undefined if there is no file. Throws the system's errors, and an error for a file that cannot be read whole. */
export function readFile(path: string): Buffer | undefined {
  try {
    return readPlainFile(path, MAX_BYTES);
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}

/** Replaces a file's content in one step. Keeps the old file's mode and owner, and a link to it. */
export function replaceFile(path: string, bytes: string | Uint8Array, newMode: number): void {
  const target = followLinks(path);
  const folder = dirname(target);
  // The folder contains scripts that hooks run, so others must not write to it, even without a umask.
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  const before = statSync(target, { throwIfNoEntry: false });
  writeAtomically(target, bytes, { mode: before ? before.mode & 0o7777 : newMode, owner: before });
}

/** Removes the empty ones among these folders, innermost first. */
export function removeEmpty(folders: readonly string[]): void {
  for (const folder of [...folders].reverse()) {
    try {
      rmdirSync(folder);
    } catch {
      // The folder is not empty.
    }
  }
}
