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
  writeSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { codeOf } from '../failure.ts';
import { readPlainFile } from '../plain-file.ts';

/** Settings are some kilobytes. A file that is larger by far is not what it seems. */
const MOST_BYTES = 16 * 1024 * 1024;

/** A file as it is, or as it would be made. */
export interface CurrentFile {
  path: string;
  /** The file itself, where the path is a link: it is what is written, the link stays. */
  target: string;
  /** Undefined where there is none. */
  bytes: Buffer | undefined;
}

export function readCurrent(path: string): CurrentFile {
  const target = followLinks(path);
  return { path, target, bytes: readBytes(target) };
}

function followLinks(path: string): string {
  let target = path;
  // As many as Linux follows.
  for (let links = 0; links < 40; links++) {
    if (lstatSync(target, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return target;
    target = resolve(dirname(target), readlinkSync(target));
  }
  throw Object.assign(new Error('it is a link that leads round in a circle'), { code: 'ELOOP' });
}

export function readBytes(path: string): Buffer | undefined {
  try {
    return readPlainFile(path, MOST_BYTES);
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}

/**
 * Puts bytes in a file's place in one step, so that nobody finds half of them, even after a power failure. Keeps mode
 * and owner of the file that was there. Returns the folders it had to make, outermost first.
 */
export function replaceFile(target: string, bytes: Uint8Array, newMode: number): string[] {
  const folders = makeFolders(dirname(target));
  const before = statSync(target, { throwIfNoEntry: false });
  const temporary = join(dirname(target), '.session-capture.tmp');
  rmSync(temporary, { force: true });
  try {
    const file = openSync(temporary, 'wx', 0o600);
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
      if (before) keepOwner(file, before);
      fchmodSync(file, before ? before.mode & 0o7777 : newMode);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, target);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  return folders;
}

/** Only root may give files away; for others the owner is the same, or cannot be kept. */
function keepOwner(file: number, { uid, gid }: { uid: number; gid: number }): void {
  try {
    fchownSync(file, uid, gid);
  } catch (error) {
    if (codeOf(error) !== 'EPERM') throw error;
  }
}

function makeFolders(folder: string): string[] {
  if (statSync(folder, { throwIfNoEntry: false }) !== undefined) return [];
  const outer = makeFolders(dirname(folder));
  // Closed to others' writing even without a umask: what runs hooks lies here.
  mkdirSync(folder, { mode: 0o755 });
  return [...outer, folder];
}

/** Removes those folders that hold nothing any more, innermost first. */
export function removeEmptyFolders(folders: readonly string[]): void {
  for (const folder of [...folders].reverse()) {
    try {
      rmdirSync(folder);
    } catch (error) {
      if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(codeOf(error) ?? '')) throw error;
    }
  }
}
