import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

const CHUNK_BYTES = 64 * 1024;

/**
 * The bytes of a file at a path that somebody else chose, such as the path of a repository's settings. A pipe there would
 * block for ever, and a device would never end. Throws the system's errors, or an error with the code ENOTSUP if the path is
 * not a file or the file is too large.
 */
export function readPlainFile(path: string, mostBytes: number): Buffer {
  // Windows has no pipes in its file system, and no such flag.
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    if (!fstatSync(file).isFile()) throw notPlain('it is not a file');
    const chunks: Buffer[] = [];
    for (let total = 0; ; ) {
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
      const count = readSync(file, chunk);
      if (count === 0) return Buffer.concat(chunks, total);
      total += count;
      if (total > mostBytes) throw notPlain(`it is larger than ${mostBytes.toLocaleString('en-US')} bytes`);
      chunks.push(chunk.subarray(0, count));
    }
  } finally {
    closeSync(file);
  }
}

/** The file's text as UTF-8. Undefined if it cannot be read, whatever the reason. */
export function readTextIfPlain(path: string, mostBytes: number): string | undefined {
  try {
    return readPlainFile(path, mostBytes).toString('utf8');
  } catch {
    return undefined;
  }
}

const notPlain = (reason: string) => Object.assign(new Error(reason), { code: 'ENOTSUP' });
