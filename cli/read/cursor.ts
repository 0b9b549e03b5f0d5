import { hash } from 'node:crypto';
import type { FileCursor, StoreCursor } from '../spool/files.ts';
import type { Bytes } from './bytes.ts';
import { TAIL_BYTES } from './lines.ts';

export const HEAD_BYTES = 1024;

export const fingerprint = (bytes: Uint8Array): Buffer => hash('sha256', bytes, 'buffer').subarray(0, 16);

const EMPTY = fingerprint(new Uint8Array());

/** The cursor of a file before anything was read. */
export const FILE_START: FileCursor = {
  kind: 'file',
  ...{ position: 0, pass: 0, lastTime: 0 },
  ...{ headLength: 0, head: EMPTY, tail: EMPTY },
};

/** The cursor of a store's session before anything was read. */
export const STORE_START: StoreCursor = { kind: 'store', position: 0, pass: 0, lastTime: 0, stamp: EMPTY };

/**
 * Whether the file only grew: its beginning, and the bytes before the position, are unchanged. Inode and path do not matter.
 * Reading continues in a file that was moved or restored, and starts again in a file that was rewritten in place.
 */
export function continues(from: Bytes, { position, headLength, head, tail }: FileCursor): boolean {
  if (from.size < position) return false;
  const tailStart = Math.max(0, position - TAIL_BYTES);
  return (
    fingerprint(readAt(from, 0, headLength)).equals(head) &&
    fingerprint(readAt(from, tailStart, position - tailStart)).equals(tail)
  );
}

/** A cursor at an offset, after everything before it was read. */
export function cursorAt(from: Bytes, position: number): FileCursor {
  const headLength = Math.min(position, HEAD_BYTES);
  const tailStart = Math.max(0, position - TAIL_BYTES);
  return {
    ...FILE_START,
    position,
    headLength,
    head: fingerprint(readAt(from, 0, headLength)),
    tail: fingerprint(readAt(from, tailStart, position - tailStart)),
  };
}

export function readAt(from: Bytes, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, from.read(bytes, 0, length, position));
}
