import { MAX_PAYLOAD_BYTES, MAX_PAYLOAD_DEPTH } from '../../contract/event.ts';
import { Problem } from '../../contract/problem.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;
const COLON = 0x3a;

const EMPTY_PAYLOAD = Buffer.from('{}');

/**
 * Finds the bytes of each event's payload in the body of an append, so that they are stored as they were sent.
 * The body must already have passed `JSON.parse` and the route's schema: nothing of its grammar is checked again.
 * Of a repeated key the last one counts, as in `JSON.parse`.
 * @throws Problem `validation_failed` for a payload that is too large or too deep, naming its index
 */
export function slicePayloads(body: Buffer): Buffer[] {
  const events = lastMember(body, skipSpace(body, 0), 'events');
  const payloads: Buffer[] = [];
  if (!events) return payloads;
  for (let at = skipSpace(body, events.start + 1); body[at] !== CLOSE_BRACKET; ) {
    const payload = lastMember(body, at, 'payload');
    payloads.push(payload ? checkedPayload(body, payload, payloads.length) : EMPTY_PAYLOAD);
    at = skipSpace(body, skipValue(body, at).end);
    if (body[at] === COMMA) at = skipSpace(body, at + 1);
  }
  return payloads;
}

interface Span {
  start: number;
  end: number;
  depth: number;
}

function checkedPayload(body: Buffer, { start, end, depth }: Span, index: number): Buffer {
  if (end - start > MAX_PAYLOAD_BYTES) {
    throw tooMuch(
      index,
      `has ${end - start} bytes, and ${MAX_PAYLOAD_BYTES} is the most. Split it over several events`,
    );
  }
  if (depth > MAX_PAYLOAD_DEPTH) throw tooMuch(index, `is nested deeper than ${MAX_PAYLOAD_DEPTH} levels`);
  return body.subarray(start, end);
}

const tooMuch = (index: number, what: string) =>
  new Problem('validation_failed', `/events/${index}/payload ${what}. Nothing of the batch was stored.`);

/** The value of the object's last member of that name; `at` is the object's brace. */
function lastMember(body: Buffer, at: number, name: string): Span | undefined {
  let found: Span | undefined;
  for (let i = skipSpace(body, at + 1); body[i] !== CLOSE_BRACE; ) {
    const keyEnd = skipString(body, i);
    const matches = keyIs(body, i, keyEnd, name);
    i = skipSpace(body, keyEnd);
    if (body[i] !== COLON) throw new Error('the scanner and JSON.parse disagree');
    const value = skipValue(body, skipSpace(body, i + 1));
    if (matches) found = value;
    i = skipSpace(body, value.end);
    if (body[i] === COMMA) i = skipSpace(body, i + 1);
  }
  return found;
}

/** Keys may be written with escapes; only then is one parsed. */
function keyIs(body: Buffer, start: number, end: number, name: string): boolean {
  const text = body.toString('latin1', start + 1, end - 1);
  return text.includes('\\') ? JSON.parse(`"${text}"`) === name : text === name;
}

function skipSpace(body: Buffer, at: number): number {
  let i = at;
  for (let byte = body[i]; byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09; byte = body[i]) i++;
  return i;
}

function skipValue(body: Buffer, start: number): Span {
  const first = body[start];
  if (first === QUOTE) return { start, end: skipString(body, start), depth: 0 };
  if (first !== OPEN_BRACE && first !== OPEN_BRACKET) return { start, end: skipScalar(body, start), depth: 0 };
  let depth = 0;
  let deepest = 0;
  for (let i = start; ; ) {
    const byte = body[i];
    if (byte === QUOTE) {
      i = skipString(body, i);
      continue;
    }
    i++;
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      if (++depth > deepest) deepest = depth;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      if (--depth === 0) return { start, end: i, depth: deepest };
    } else if (byte === undefined) throw new Error('the scanner and JSON.parse disagree');
  }
}

function skipScalar(body: Buffer, start: number): number {
  let i = start;
  for (let byte = body[i]; byte !== undefined && byte > 0x20; byte = body[i]) {
    if (byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET) break;
    i++;
  }
  return i;
}

/** Long strings are searched natively, which is many times faster than byte by byte; short ones are not worth a call. */
const NATIVE_SEARCH_AFTER = 24;

function skipString(body: Buffer, start: number): number {
  let i = start + 1;
  for (const near = i + NATIVE_SEARCH_AFTER; i < near; i++) {
    const byte = body[i];
    if (byte === QUOTE) return i + 1;
    if (byte === BACKSLASH) i++;
  }
  for (;;) {
    const quote = body.indexOf(QUOTE, i);
    if (quote < 0) throw new Error('the scanner and JSON.parse disagree');
    let backslashes = 0;
    while (quote - 1 - backslashes >= i && body[quote - 1 - backslashes] === BACKSLASH) backslashes++;
    i = quote + 1;
    if (backslashes % 2 === 0) return i;
  }
}
