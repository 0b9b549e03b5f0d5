import { hash } from 'node:crypto';
import { readSync } from 'node:fs';
import type { Cursor } from '../spool/files.ts';
import { TAIL_BYTES } from './lines.ts';

export const HEAD_BYTES = 1024;

export const fingerprint = (bytes: Uint8Array): Buffer => hash('sha256', bytes, 'buffer').subarray(0, 16);

export const START: Cursor = {
  offset: 0,
  headLength: 0,
  head: fingerprint(new Uint8Array()),
  tail: fingerprint(new Uint8Array()),
  pass: 0,
  lastTime: 0,
};

/**
 * Whether the file still begins and ends, up to the offset, as it did: then it only grew. Inode and path do not matter;
 * a file that was moved or restored goes on where it was, one that was rewritten in place is read again.
 */
export function continues(fd: number, size: number, cursor: Cursor): boolean {
  if (size < cursor.offset) return false;
  const tailStart = Math.max(0, cursor.offset - TAIL_BYTES);
  return (
    fingerprint(readAt(fd, 0, cursor.headLength)).equals(cursor.head) &&
    fingerprint(readAt(fd, tailStart, cursor.offset - tailStart)).equals(cursor.tail)
  );
}

export function readAt(fd: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, readSync(fd, bytes, 0, length, position));
}
