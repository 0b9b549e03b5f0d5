import type { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { createDigester, type PayloadDigests } from '../../contract/digester.ts';
import { isPart } from '../../contract/parts.ts';
import { readAppends } from '../store/events.ts';
import { decodeFrame } from '../store/frame.ts';
import type { Db } from '../store/open.ts';
import type { SessionRow } from '../store/schema.ts';
import { streamPieces } from './page.ts';
import { isJson } from './scan/json.ts';

export interface Range {
  /** First sequence. */
  from: number;
  /** How many events. */
  limit: number;
}

/** Characters of payloads that a page of events covers, unless a single one has more. */
const PAGE = 8 * 1024 * 1024;
/** Of leaves, which are 500 times the work: a payload in parts is one, and whole on its page. */
const LEAF_PAGE = 1024 * 1024;

/** A page of events by their digests, written piece by piece. */
export function streamEventDigests(db: Db, session: SessionRow, range: Range, nonce: string): Promise<Readable> {
  const { digestPayload } = createDigester(nonce);

  async function* items(): AsyncGenerator<Item> {
    for await (const { sequence, eventType, text } of readEvents(db, session, range, createPause())) {
      const write = () => [JSON.stringify({ sequence, eventType, ...digestPayload(text) })];
      yield { first: sequence, size: text.length, write };
    }
  }

  return streamPieces(writePage('digests', session, range, PAGE, items()));
}

/** The leaves of events by their digests. Of all the rest no more is held in memory than one payload in its parts. */
export function streamLeafDigests(db: Db, session: SessionRow, range: Range, nonce: string): Promise<Readable> {
  const { digestPayload, digestLeaves } = createDigester(nonce);
  const pause = createPause();

  function* write({ sequence, events, text }: Payload): Generator<string> {
    yield `{"sequence":${sequence},"events":${events},"leaves":[`;
    let separator = '';
    for (const { pointer, ...leaf } of digestLeaves(text)) {
      yield separator + JSON.stringify(leaf);
      separator = ',';
    }
    yield ']}';
  }

  async function* items(): AsyncGenerator<Item> {
    for await (const payload of joinParts(readEvents(db, session, range, pause), digestPayload, pause)) {
      yield { first: payload.sequence, size: payload.text.length, write: () => write(payload) };
    }
  }

  return streamPieces(writePage('payloads', session, range, LEAF_PAGE, items()));
}

/** An event or a payload of a page. */
interface Item {
  /** Its first sequence. */
  first: number;
  /** Characters of its text. */
  size: number;
  /** The pieces of its digests. */
  write: () => Iterable<string>;
}

type Pause = (characters: number) => Promise<void>;

/** Work is counted in characters hashed; so many take 2 to 10 ms. */
const WORK_A_TURN = 1024 * 1024;
/** A leaf is two digests and its JSON, as much work as so many characters. */
const WORK_A_PIECE = 512;

/** Lets others be answered each time a turn's work is done. */
function createPause(): Pause {
  let work = 0;
  return async (characters) => {
    work += characters;
    if (work < WORK_A_TURN) return;
    work = 0;
    await setImmediate();
  };
}

async function* writePage(
  name: string,
  { event_count: eventCount }: SessionRow,
  { from, limit }: Range,
  room: number,
  items: AsyncGenerator<Item>,
): AsyncGenerator<string> {
  const pause = createPause();
  let next = Math.min(eventCount, from + limit - 1) + 1;
  let left = room;
  yield `{"${name}":[`;
  let separator = '';
  for await (const { first, size, write } of items) {
    if (left < size && left < room) {
      next = first;
      break;
    }
    left -= size;
    yield separator;
    separator = ',';
    for (const piece of write()) {
      yield piece;
      await pause(WORK_A_PIECE + piece.length);
    }
  }
  yield `],"nextFrom":${next <= eventCount ? next : null}}`;
}

interface StoredEvent {
  sequence: number;
  eventType: string;
  text: string;
}

async function* readEvents(
  db: Db,
  session: SessionRow,
  { from, limit }: Range,
  pause: Pause,
): AsyncGenerator<StoredEvent> {
  const { organization_id: organizationId, session_id: sessionId, event_count: eventCount } = session;
  const to = Math.min(eventCount, from + limit - 1);
  for await (const append of readAppends(db, organizationId, sessionId, from, to)) {
    for (const [index, { eventType, payload }] of decodeFrame(append).entries()) {
      const sequence = append.first_sequence + index;
      if (sequence < from || sequence > to) continue;
      yield { sequence, eventType, text: (payload as Buffer).toString('utf8') };
      await pause(payload.byteLength);
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
  pause: Pause,
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
    const slices: string[] = [];
    for (const part of run) {
      slices.push(sliceOf(part));
      await pause(part.text.length);
    }
    const joined = slices.join('');
    // Whoever writes events may write parts that make no JSON.
    const bytes = Buffer.from(joined);
    if (isJson(bytes)) yield { sequence: sequence - run.length + 1, events: run.length, text: joined };
    else yield* run;
    await pause(bytes.byteLength);
    run = [];
  }
  yield* run;
}

/** What of the payload's text a part holds. */
function sliceOf({ text }: Payload): string {
  const part: unknown = JSON.parse(text);
  return isPart(part) && typeof part.json === 'string' ? part.json : '';
}
