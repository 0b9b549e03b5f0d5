import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeFolder, write } from '../test/folder.ts';
import { openBytes } from './bytes.ts';
import { createLineReader } from './lines.ts';

const MEGABYTE = 1024 * 1024;

function openLines(content: string, maxLineBytes = 64 * MEGABYTE) {
  const from = openBytes(write(join(makeFolder(), 'lines'), content));
  onTestFinished(() => from.close());
  return createLineReader(from, 0, 64 * 1024, maxLineBytes);
}

test('a long line is in memory once, and its buffer is released after it', () => {
  const reader = openLines(`short\n${'x'.repeat(20 * MEGABYTE)}\nshort\n${'short\n'.repeat(50_000)}`);
  expect(String(reader.next()?.bytes)).toBe('short');
  const long = reader.next();
  expect(long?.bytes.length).toBe(20 * MEGABYTE);
  expect(long?.bytes.buffer.byteLength).toBeLessThan(21 * MEGABYTE);
  let rooms: number[] = [];
  for (let line = reader.next(); line; line = reader.next()) {
    expect(String(line.bytes)).toBe('short');
    rooms = [...rooms.slice(-1), line.bytes.buffer.byteLength];
  }
  expect(rooms.at(-1)).toBeLessThan(MEGABYTE);
});

test('lines of every length are returned unchanged, with their positions', () => {
  const lengths = [0, 1, 65_535, 65_536, 65_537, 1_100_000, 3, 3_000_000, 0, 70_000];
  const lines = lengths.map((length, n) => String(n).repeat(length));
  const reader = openLines(lines.join('\n'));
  let at = 0;
  for (const [index, text] of lines.entries()) {
    const isLast = index === lines.length - 1;
    const line = reader.next();
    expect(line).toMatchObject({ start: at, end: at + text.length + (isLast ? 0 : 1), terminated: !isLast });
    expect(line?.bytes.equals(Buffer.from(text))).toBe(true);
    expect(reader.before(at).equals(Buffer.from(lines.join('\n')).subarray(Math.max(0, at - 1024), at))).toBe(true);
    at += text.length + 1;
  }
  expect(reader.next()).toBeUndefined();
});

test('a line that is too long is skipped with little memory', () => {
  const reader = openLines(`${'x'.repeat(9 * MEGABYTE)}\nafter\n`, 2 * MEGABYTE);
  expect(reader.next()).toMatchObject({ tooLong: true, start: 0, end: 9 * MEGABYTE + 1 });
  const after = reader.next();
  expect(String(after?.bytes)).toBe('after');
  expect(after?.bytes.buffer.byteLength).toBeLessThan(4 * MEGABYTE);
});
