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
 * Of a repeated key the last one counts, as in `JSON.parse`. One pass over the bytes.
 * @throws Problem `validation_failed` for a payload that is too large or too deep, naming its index
 */
export function slicePayloads(body: Buffer): Buffer[] {
  let payloads: Buffer[] = [];
  walkMembers(body, skipSpace(body, 0), 'events', (start) => {
    payloads = [];
    return walkEvents(body, start, payloads);
  });
  return payloads;
}

/** Adds the payload of each event of the array that starts at `start`; returns where the array ends. */
function walkEvents(body: Buffer, start: number, payloads: Buffer[]): number {
  // A value of another type can stand here only before a repeated key, which takes its place.
  if (body[start] !== OPEN_BRACKET) return skipValue(body, start).end;
  let at = skipSpace(body, start + 1);
  while (body[at] === OPEN_BRACE) {
    let payload: Span | undefined;
    const end = walkMembers(body, at, 'payload', (valueStart) => {
      payload = skipValue(body, valueStart);
      return payload.end;
    });
    payloads.push(payload ? checkedPayload(body, payload, payloads.length) : EMPTY_PAYLOAD);
    at = skipSpace(body, end);
    if (body[at] === COMMA) at = skipSpace(body, at + 1);
  }
  return body[at] === CLOSE_BRACKET ? at + 1 : skipValue(body, start).end;
}

/** Walks the object that starts at `start`, hands each value of that name to `visit`, and returns where it ends. */
function walkMembers(body: Buffer, start: number, name: string, visit: (valueStart: number) => number): number {
  let at = skipSpace(body, start + 1);
  while (body[at] !== CLOSE_BRACE) {
    const keyEnd = skipString(body, at);
    const isNamed = keyIs(body, at, keyEnd, name);
    const colon = skipSpace(body, keyEnd);
    if (body[colon] !== COLON) throw disagreement();
    const valueStart = skipSpace(body, colon + 1);
    at = skipSpace(body, isNamed ? visit(valueStart) : skipValue(body, valueStart).end);
    if (body[at] === COMMA) at = skipSpace(body, at + 1);
  }
  return at + 1;
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

/** Keys may be written with escapes; only then is one parsed. */
function keyIs(body: Buffer, start: number, end: number, name: string): boolean {
  const text = body.toString('latin1', start + 1, end - 1);
  return text.includes('\\') ? JSON.parse(`"${text}"`) === name : text === name;
}

/*
 * The loops below compare with the length although valid JSON always ends them earlier: a read that is known to stay
 * inside the buffer is twice as fast (55 against 115 µs for 52 KiB of text).
 */

function skipSpace(body: Buffer, start: number): number {
  const length = body.length;
  for (let i = start; i < length; i++) if ((body[i] as number) > 0x20) return i;
  throw disagreement();
}

function skipValue(body: Buffer, start: number): Span {
  const first = body[start];
  if (first === QUOTE) return { start, end: skipString(body, start), depth: 0 };
  if (first !== OPEN_BRACE && first !== OPEN_BRACKET) return { start, end: skipScalar(body, start), depth: 0 };
  const length = body.length;
  let depth = 0;
  let deepest = 0;
  for (let i = start; i < length; ) {
    const byte = body[i++];
    if (byte === QUOTE) i = skipString(body, i - 1);
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      if (++depth > deepest) deepest = depth;
    } else if ((byte === CLOSE_BRACE || byte === CLOSE_BRACKET) && --depth === 0) {
      return { start, end: i, depth: deepest };
    }
  }
  throw disagreement();
}

function skipScalar(body: Buffer, start: number): number {
  const length = body.length;
  for (let i = start; i < length; i++) {
    const byte = body[i] as number;
    if (byte <= 0x20 || byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET) return i;
  }
  throw disagreement();
}

function skipString(body: Buffer, start: number): number {
  const length = body.length;
  for (let i = start + 1; i < length; i++) {
    const byte = body[i];
    if (byte === QUOTE) return i + 1;
    if (byte === BACKSLASH) i++;
  }
  throw disagreement();
}

const disagreement = () => new Error('the scanner and JSON.parse disagree');
