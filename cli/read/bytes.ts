import { closeSync, existsSync, fstatSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import * as zlib from 'node:zlib';
import { decompressZstd } from '../../contract/compression.ts';
import { splitFrames } from '../../contract/zstd-frame.ts';
import { formatBytes } from '../output.ts';

/** The bytes of a transcript, which are read at any position. */
export interface Bytes {
  size: number;
  /** Reads into a part of a buffer from a position on. Returns how many bytes there were, 0 at the end. */
  read(into: Uint8Array, offset: number, length: number, position: number): number;
  close(): void;
}

/** Agents pack transcripts that they have not touched for some time: Codex packs after a week, and unpacks to continue a session. */
const PACKED = '.zst';

/** The path of the transcript that a packed file contains. Undefined if the file is not packed. */
export const plainOf = (path: string): string | undefined =>
  /\.jsonl\.zst$/.test(path) ? path.slice(0, -PACKED.length) : undefined;

/** The packed file that contains a transcript. Undefined if there is none, or if the transcript is also there unpacked. */
export function packedAt(path: string): string | undefined {
  const packed = path + PACKED;
  return plainOf(packed) !== undefined && !existsSync(path) && existsSync(packed) ? packed : undefined;
}

export const isThere = (path: string): boolean => existsSync(path) || packedAt(path) !== undefined;

/** Opens a transcript, which may be packed. Throws an error with a `code` if it cannot be read. */
export function openBytes(path: string, maxBytes = MAX_BYTES): Bytes {
  const packed = packedAt(path);
  return packed === undefined ? bytesOfFile(openSync(path, 'r')) : bytesOf(unpack(packed, maxBytes));
}

/** Opens the beginning of a transcript, which may be packed. It is enough to find out whose transcript it is. */
export function openHead(path: string): Bytes {
  const packed = packedAt(path);
  return packed === undefined ? bytesOfFile(openSync(path, 'r')) : bytesOf(unpackHead(packed));
}

export const bytesOfFile = (fd: number): Bytes => ({
  size: fstatSync(fd).size,
  read: (into, offset, length, position) => readSync(fd, into, offset, length, position),
  close: () => closeSync(fd),
});

const bytesOf = (content: Buffer): Bytes => ({
  size: content.length,
  read: (into, offset, length, position) =>
    content.copy(into, offset, Math.min(position, content.length), Math.min(position + length, content.length)),
  close: () => {},
});

/** An unpacked transcript is loaded into memory as a whole. A file could contain a million times its size. */
const MAX_BYTES = 256 * 1024 * 1024;

/** A program may append a frame to a packed file. */
const MAX_FRAMES = 10_000;

function unpack(path: string, maxBytes: number): Buffer {
  if (statSync(path).size > maxBytes) throw tooLarge(maxBytes);
  const frames = splitFrames(readFileSync(path), MAX_FRAMES);
  if (frames === undefined) throw damaged();
  let left = maxBytes;
  const contents = frames.map((frame) => {
    const content = inflate(frame, { maxOutputLength: Math.max(1, left) }, maxBytes);
    left -= content.length;
    return content;
  });
  const [only] = contents;
  // A copy would take the same memory again.
  return only !== undefined && contents.length === 1 ? only : Buffer.concat(contents);
}

/** How much of a packed file is read for its beginning. */
const HEAD_BYTES = 128 * 1024;

function unpackHead(path: string): Buffer {
  const fd = openSync(path, 'r');
  try {
    const start = Buffer.alloc(HEAD_BYTES);
    const packed = start.subarray(0, readSync(fd, start, 0, HEAD_BYTES, 0));
    const finishFlush = zlib.constants.ZSTD_e_flush;
    return inflate(packed, { maxOutputLength: MAX_BYTES, finishFlush }, MAX_BYTES);
  } finally {
    closeSync(fd);
  }
}

function inflate(packed: Buffer, options: zlib.ZstdOptions, maxBytes: number): Buffer {
  try {
    return decompressZstd(packed, options);
  } catch (error) {
    const isLarge = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
    throw isLarge ? tooLarge(maxBytes) : damaged();
  }
}

const tooLarge = (maxBytes: number) =>
  unusable(`it contains more than ${formatBytes(maxBytes)}, the limit for a packed transcript`);

const damaged = () => unusable('it is damaged, or not packed with zstd');

/** An error in the form of a file system error. */
const unusable = (reason: string): Error => Object.assign(new Error(reason), { code: 'EBADMSG' });
