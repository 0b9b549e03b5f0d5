import type { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { createDigester, type PayloadDigests } from '../../contract/digester.ts';
import { isPart } from '../../contract/parts.ts';
import { readAppends } from '../store/events.ts';
import { decodeFrame } from '../store/frame.ts';
import type { Db } from '../store/open.ts';
import type { SessionRow } from '../store/schema.ts';
import { streamPieces } from './page.ts';

export interface Range {
  /** First sequence. */
  from: number;
  /** How many events. */
  limit: number;
}

/** A page of events by their digests, written piece by piece. */
export function streamEventDigests(db: Db, session: SessionRow, range: Range, nonce: string): Promise<Readable> {
  const { digestPayload } = createDigester(nonce);

  async function* items() {
    for await (const { sequence, eventType, text } of readEvents(db, session, range)) {
      yield [JSON.stringify({ sequence, eventType, ...digestPayload(text) })];
    }
  }

  return streamPieces(writePage('digests', session, range, items()));
}

/** The leaves of events by their digests. Of all the rest no more is held in memory than one payload in its parts. */
export function streamLeafDigests(db: Db, session: SessionRow, range: Range, nonce: string): Promise<Readable> {
  const { digestPayload, digestLeaves } = createDigester(nonce);

  function* writePayload({ sequence, events, text }: Payload): Generator<string> {
    yield `{"sequence":${sequence},"events":${events},"leaves":[`;
    let separator = '';
    for (const { pointer, ...leaf } of digestLeaves(text)) {
      yield separator + JSON.stringify(leaf);
      separator = ',';
    }
    yield ']}';
  }

  async function* items() {
    for await (const payload of joinParts(readEvents(db, session, range), digestPayload)) yield writePayload(payload);
  }

  return streamPieces(writePage('payloads', session, range, items()));
}

/** After so many pieces others are answered: a payload may have a hundred thousand leaves. */
const PIECES_A_TURN = 500;

async function* writePage(
  name: string,
  { event_count: eventCount }: SessionRow,
  { from, limit }: Range,
  items: AsyncGenerator<Iterable<string>>,
): AsyncGenerator<string> {
  const to = Math.min(eventCount, from + limit - 1);
  yield `{"${name}":[`;
  let separator = '';
  let pieces = 0;
  for await (const item of items) {
    yield separator;
    separator = ',';
    for (const piece of item) {
      yield piece;
      if (++pieces % PIECES_A_TURN === 0) await setImmediate();
    }
  }
  yield `],"nextFrom":${to < eventCount ? to + 1 : null}}`;
}

interface StoredEvent {
  sequence: number;
  eventType: string;
  text: string;
}

async function* readEvents(db: Db, session: SessionRow, { from, limit }: Range): AsyncGenerator<StoredEvent> {
  const { organization_id: organizationId, session_id: sessionId, event_count: eventCount } = session;
  const to = Math.min(eventCount, from + limit - 1);
  for await (const append of readAppends(db, organizationId, sessionId, from, to)) {
    for (const [index, { eventType, payload }] of decodeFrame(append).entries()) {
      const sequence = append.first_sequence + index;
      if (sequence >= from && sequence <= to) yield { sequence, eventType, text: (payload as Buffer).toString('utf8') };
    }
  }
}

interface Payload {
  /** Of the event that carries it, or of the first one. */
  sequence: number;
  events: number;
  text: string;
}

/** Puts payloads together whose parts follow one another; a part that stands alone remains one. */
async function* joinParts(
  events: AsyncGenerator<StoredEvent>,
  digestPayload: (text: string) => PayloadDigests,
): AsyncGenerator<Payload> {
  let run: Payload[] = [];
  for await (const { sequence, text } of events) {
    const { part, of } = digestPayload(text);
    if (part !== run.length + 1) {
      yield* run;
      run = [];
    }
    if (of === undefined || part !== run.length + 1) {
      yield { sequence, events: 1, text };
      continue;
    }
    run.push({ sequence, events: 1, text });
    if (run.length < of) continue;
    const joined = run.map(sliceOf).join('');
    if (isJson(joined)) yield { sequence: sequence - run.length + 1, events: run.length, text: joined };
    else yield* run;
    run = [];
  }
  yield* run;
}

/** Whoever writes events may write parts that make no JSON. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** What of the payload's text a part holds. */
function sliceOf({ text }: Payload): string {
  const part: unknown = JSON.parse(text);
  return isPart(part) && typeof part.json === 'string' ? part.json : '';
}
