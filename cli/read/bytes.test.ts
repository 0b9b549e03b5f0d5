import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../contract/test/runs.ts';
import { makeFolder } from '../test/folder.ts';
import { type Bytes, openBytes, openHead } from './bytes.ts';

/** The path of a transcript that is there only packed. */
function pack(...frames: Buffer[]): string {
  const path = join(makeFolder(), 'a.jsonl');
  writeFileSync(`${path}.zst`, Buffer.concat(frames.map((frame) => zstdCompressSync(frame))));
  return path;
}

function allOf(from: Bytes): Buffer {
  const all = Buffer.alloc(from.size);
  expect(from.read(all, 0, all.length, 0)).toBe(all.length);
  return all;
}

test('a packed transcript is read at any position like the transcript itself', () => {
  const content = fc.uint8Array({ maxLength: 5000 });
  fc.assert(
    fc.property(fc.array(content, { minLength: 1, maxLength: 3 }), fc.nat(6000), fc.nat(6000), (frames, at, length) => {
      const parts = frames.map((frame) => Buffer.from(frame));
      const whole = Buffer.concat(parts);
      const from = openBytes(pack(...parts));
      expect(from.size).toBe(whole.length);
      const into = Buffer.alloc(length + 1);
      const count = from.read(into, 1, length, at);
      expect(into.subarray(1, 1 + count)).toEqual(whole.subarray(at, at + length));
    }),
    runs(50),
  );
});

test('the beginning of a large packed transcript is read without the rest', () => {
  const lines = Array.from({ length: 200_000 }, (_, index) => `{"n":${Math.sqrt(index)}}\n`).join('');
  const path = pack(Buffer.from(lines));
  expect(statSync(`${path}.zst`).size).toBeGreaterThan(256 * 1024);
  const head = allOf(openHead(path)).toString();
  expect(head.length).toBeGreaterThan(64 * 1024);
  expect(lines.startsWith(head)).toBe(true);
});

/** Frames of equal bytes shrink to a ten-thousandth. */
const bomb = Buffer.concat(Array.from({ length: 8 }, () => zstdCompressSync(Buffer.alloc(1024 * 1024, 'x'))));
const random = zstdCompressSync(
  Buffer.from(Array.from({ length: 5000 }, (_, index) => `${Math.sqrt(index)}\n`).join('')),
);

test.each([
  ['contains more than the limit', bomb, /^it contains more than 4\.\d MB/],
  ['is cut off', random.subarray(0, random.length - 100), /^it is damaged/],
  ['is not packed with zstd', Buffer.from('{"type":"user"}\n'), /^it is damaged, or not packed with zstd/],
  [
    'goes on with other bytes',
    Buffer.concat([zstdCompressSync(Buffer.from('{}\n')), Buffer.from('rest')]),
    /^it is damaged/,
  ],
])('a packed file that %s is refused with a reason', (_, content, reason) => {
  const path = join(makeFolder(), 'a.jsonl');
  writeFileSync(`${path}.zst`, content);
  expect(() => openBytes(path, 4 * 1024 * 1024)).toThrow(
    expect.objectContaining({ code: 'EBADMSG', message: expect.stringMatching(reason) }),
  );
});
