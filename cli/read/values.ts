import { isUtf8 } from 'node:buffer';
import type { JsonObject } from '../agents/agent.ts';
import { parseExact } from '../exact.ts';
import type { Line } from './lines.ts';

/** The content of a line: usually one record, several records where lines were joined, or bytes that are not a record. */
export interface Value {
  record: JsonObject | undefined;
  /** Why it is not a record. */
  reason?: string;
  bytes: Buffer;
  /** Byte offsets in the file. The last value of a line ends where the next line starts. */
  start: number;
  end: number;
}

const OPEN = 0x7b;
const CLOSE = 0x7d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * From a line without its line feed, only the whole objects at its beginning are returned, because the rest may still be
 * being written. The values do not depend on how many pieces a line arrives in.
 */
export function readValues({ bytes, start, end, terminated, tooLong }: Line): Value[] {
  if (tooLong) return [{ record: undefined, reason: `a line of ${end - start} bytes is too long`, bytes, start, end }];
  const last = trimEnd(bytes);
  const first = skipFiller(bytes, start === 0 ? byteOrderMark(bytes) : 0, last);
  if (first === last || (!terminated && bytes[last - 1] !== CLOSE)) return [];

  // Usually the line is one record, and this runs for every line.
  const trimmed = first === 0 && last === bytes.length ? bytes : bytes.subarray(first, last);
  const whole = trimmed[0] === OPEN ? parseObject(trimmed) : undefined;
  if (whole) return [{ record: whole, bytes: trimmed, start: start + first, end: terminated ? end : start + last }];

  const values: Value[] = [];
  const add = (from: number, to: number, record: JsonObject | undefined, reason?: string) =>
    values.push({
      record,
      ...(reason !== undefined && { reason }),
      bytes: bytes.subarray(from, to),
      start: start + from,
      end: to === last && terminated ? end : start + to,
    });

  const rest = addObjects(bytes, first, last, add);
  if (rest < last && terminated) {
    const found = findObjects(bytes, rest, last);
    add(rest, trimEnd(bytes.subarray(0, found)), undefined, 'not a JSON object');
    addObjects(bytes, found, last, add);
  }
  return values;
}

type Add = (from: number, to: number, record: JsonObject) => void;

/** Adds consecutive objects. Returns the position where something else begins. */
function addObjects(bytes: Buffer, from: number, last: number, add?: Add): number {
  let at = from;
  while (at < last) {
    const close = bytes[at] === OPEN ? findClose(bytes, at, last) : -1;
    const record = close < 0 ? undefined : parseObject(bytes.subarray(at, close));
    if (record === undefined) break;
    add?.(at, close, record);
    at = skipFiller(bytes, close, last);
  }
  return at;
}

/**
 * After a crash, whole records may follow a cut record on the same line. They begin with the same key as the cut record,
 * which distinguishes them from objects inside it.
 */
function findObjects(bytes: Buffer, from: number, last: number): number {
  const opening = /^\{\s*"[^"\\]{1,64}"\s*:/.exec(bytes.toString('latin1', from, Math.min(last, from + 80)))?.[0];
  if (opening === undefined) return last;
  let at = from;
  for (let attempt = 0; attempt < 16; attempt++) {
    at = bytes.indexOf(opening, at + 1, 'latin1');
    if (at < 0 || at >= last) return last;
    if (addObjects(bytes, at, last) === last) return at;
  }
  return last;
}

function parseObject(bytes: Buffer): JsonObject | undefined {
  if (!isUtf8(bytes)) return undefined;
  try {
    const value = parseExact(bytes.toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

/** The index after the bracket that closes the object at `from`; -1 where there is none. */
function findClose(bytes: Buffer, from: number, last: number): number {
  let depth = 0;
  let quoted = false;
  for (let at = from; at < last; at++) {
    const byte = bytes[at];
    if (quoted) {
      if (byte === BACKSLASH) at++;
      else if (byte === QUOTE) quoted = false;
    } else if (byte === QUOTE) quoted = true;
    else if (byte === OPEN) depth++;
    else if (byte === CLOSE && --depth === 0) return at + 1;
  }
  return -1;
}

const byteOrderMark = (bytes: Buffer) => (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0);

/** Blanks, and the NULs that a file system leaves where a crash lost data. */
export const isFiller = (byte: number | undefined): boolean =>
  byte === 0x20 || byte === 0x0d || byte === 0x09 || byte === 0x0a || byte === 0;

function skipFiller(bytes: Buffer, from: number, last: number): number {
  let at = Math.min(from, last);
  while (at < last && isFiller(bytes[at])) at++;
  return at;
}

function trimEnd(bytes: Buffer): number {
  let last = bytes.length;
  while (last > 0 && isFiller(bytes[last - 1])) last--;
  return last;
}
