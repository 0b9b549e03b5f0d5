import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, lstatSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { codeOf } from '../failure.ts';

/** Why a file was not written. */
export type Unwritten = 'exists' | 'unsafe';

/** How many bytes are written at once. */
const PIECE_BYTES = 1024 * 1024;

/**
 * Writes a new file below a folder, with its folders, and never over another one. `prepare` is called with the open file before
 * it gets its name, so that capture knows it when it appears. No link is followed below the root.
 */
export function writeNew(
  root: string,
  path: string,
  lines: readonly Buffer[],
  prepare: (fd: number, size: number) => void = () => {},
): Unwritten | undefined {
  if (!isPlainPath(path)) return 'unsafe';
  const target = join(root, path);
  if (!makeFolders(root, path.split('/').slice(0, -1))) return 'unsafe';
  if (lstatSync(target, { throwIfNoEntry: false })) return 'exists';
  const temporary = join(dirname(target), `.session-capture-${randomBytes(6).toString('hex')}.tmp`);
  const fd = openSync(temporary, 'wx+', 0o600);
  try {
    prepare(fd, writeLines(fd, lines));
    // A link is made only if there is no file of this name, also if one appears in this moment.
    linkSync(temporary, target);
    return undefined;
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    return 'exists';
  } finally {
    closeSync(fd);
    rmSync(temporary, { force: true });
  }
}

/** Whether a path stays below its folder. */
export const isPlainPath = (path: string): boolean =>
  path !== '' &&
  !/[\0\\]/.test(path) &&
  !/^[A-Za-z]:/.test(path) &&
  path.split('/').every((name) => name !== '' && name !== '.' && name !== '..');

/** False if something else than a folder is in the way. */
function makeFolders(root: string, names: readonly string[]): boolean {
  mkdirSync(root, { recursive: true });
  let folder = root;
  for (const name of names) {
    folder = join(folder, name);
    const found = lstatSync(folder, { throwIfNoEntry: false });
    if (found && !found.isDirectory()) return false;
    if (!found) mkdirSync(folder, { mode: 0o700 });
  }
  return true;
}

const LINE_FEED = Buffer.from('\n');

/** Returns the size of the file. */
function writeLines(fd: number, lines: readonly Buffer[]): number {
  let size = 0;
  let piece: Buffer[] = [];
  let bytes = 0;
  const flush = () => {
    for (let rest = Buffer.concat(piece); rest.length > 0; ) {
      const written = writeSync(fd, rest);
      size += written;
      rest = rest.subarray(written);
    }
    piece = [];
    bytes = 0;
  };
  for (const line of lines) {
    piece.push(line, LINE_FEED);
    bytes += line.length + 1;
    if (bytes >= PIECE_BYTES) flush();
  }
  flush();
  fsyncSync(fd);
  return size;
}
