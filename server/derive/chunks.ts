import type { Entry } from '../../contract/entry/entry.ts';
import { readEvent, readJoined } from '../../contract/entry/read.ts';
import type { SessionEvent } from '../../contract/event.ts';
import { isPart, joinParts, type Part } from '../../contract/parts.ts';
import { decodeFrame } from '../log/frame.ts';
import { collectWords, ENOUGH_WORDS } from '../search/words.ts';
import { toTimestamp } from '../store/columns.ts';
import { clipEntry } from './clip.ts';

/** An append, as far as deriving needs it. */
export interface Source {
  first_sequence: number;
  created_at: number;
  codec: number;
  body: Uint8Array;
}

/** Some consecutive events: their entries, and the words in them. */
export interface Chunk {
  first: number;
  last: number;
  /** The number of events, and the bytes of their payloads. */
  events: number;
  bytes: number;
  /** The entries as JSON, separated by commas. */
  entries: string;
  words: Set<string>;
  /**
   * The words that the index has, in its form and separated by spaces. `counted` is the number of `words` that are already in
   * it.
   */
  indexed: string;
  counted: number;
}

export interface Cut {
  chunks: Chunk[];
  /** The added entries, in order. */
  entries: Entry[];
  /** Sequence of the last event in the chunks. */
  through: number;
  /** The last chunk, as long as it has room. */
  open: Chunk | undefined;
}

/*
 * The ends of chunks depend only on the events and their words, so that interruptions do not change them. A change of this rule
 * requires empty derived tables.
 */
const MOST_EVENTS = 64;
const MOST_BYTES = 256 * 1024;
/** The most parts of at most 256 KiB that are joined; a payload with more stays in parts. */
const MOST_JOINED = 64;

interface RawEvent {
  sequence: number;
  eventType: string;
  createdAt: string;
  bytes: number;
  payload: unknown;
}

/**
 * Cuts the events from `from` on into chunks. Parts of one payload stay together: an incomplete run of parts at the end is left
 * for later, unless no more events can come.
 * @param begun the chunk that ends before `from` and has room; new events are added to it
 */
export function cutChunks(appends: readonly Source[], from: number, isClosed: boolean, begun?: Chunk): Cut {
  const events = appends.flatMap((append) => readAppend(append, from));
  const chunks = begun ? [begun] : [];
  const entries: Entry[] = [];
  let open = begun;
  let through = from - 1;
  for (let at = 0; at < events.length; ) {
    const length = lengthOfRun(events, at, isClosed);
    if (length === undefined) break;
    const unit = events.slice(at, at + length);
    const first = (unit[0] as RawEvent).sequence;
    if (!open) {
      open = beginChunk(first);
      chunks.push(open);
    }
    entries.push(...addUnit(open, unit));
    through = first + length - 1;
    open.last = through;
    at += length;
    if (isFull(open)) open = undefined;
  }
  return { chunks, entries, through, open };
}

const beginChunk = (first: number): Chunk => ({
  first,
  last: first,
  events: 0,
  bytes: 0,
  entries: '',
  words: new Set(),
  indexed: '',
  counted: 0,
});

const isFull = ({ events, bytes, words }: Chunk): boolean =>
  events >= MOST_EVENTS || bytes >= MOST_BYTES || words.size >= ENOUGH_WORDS;

function readAppend(append: Source, from: number): RawEvent[] {
  const createdAt = toTimestamp(append.created_at);
  return decodeFrame(append).flatMap(({ eventType, payload }, index) => {
    const sequence = append.first_sequence + index;
    if (sequence < from) return [];
    const text = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength).toString('utf8');
    return [{ sequence, eventType, createdAt, bytes: payload.byteLength, payload: parse(text) }];
  });
}

/** Stored text is JSON. Damaged text gives undefined. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

/**
 * The number of events that belong together from the one at `at` on: 1, or a whole run of parts. Undefined if more parts may
 * still come.
 */
function lengthOfRun(events: readonly RawEvent[], at: number, isClosed: boolean): number | undefined {
  const first = readPart(events[at]);
  if (first?.part !== 1 || first.of > MOST_JOINED) return 1;
  for (let part = 2; part <= first.of; part++) {
    const event = events[at + part - 1];
    if (!event) return isClosed ? 1 : undefined;
    const next = readPart(event);
    if (next?.part !== part || next.of !== first.of || next.identity !== first.identity) return 1;
  }
  return first.of;
}

function readPart(event: RawEvent | undefined) {
  if (!event || !isPart(event.payload)) return undefined;
  const { sequence, eventType, createdAt } = event;
  const entry = readEvent({ sequence, eventType, createdAt, payload: event.payload as never });
  return entry.kind === 'part' ? entry : undefined;
}

/** @returns the entries of the events */
function addUnit(chunk: Chunk, unit: readonly RawEvent[]): Entry[] {
  const [first] = unit as [RawEvent];
  const payload = unit.length === 1 ? first.payload : join(unit);
  const single = payload === undefined ? unit : [{ ...first, payload }];
  chunk.events += unit.length;
  for (const { bytes } of unit) chunk.bytes += bytes;
  return single.map((event) => {
    const entry = clipEntry(read(event, payload === undefined ? 1 : unit.length));
    chunk.entries += `${chunk.entries === '' ? '' : ','}${JSON.stringify(entry)}`;
    try {
      collectWords(event.eventType, event.payload, chunk.words);
    } catch {
      // Nested too deep to walk: a search finds no words of this event.
    }
    return entry;
  });
}

/** Undefined if the parts do not form JSON. */
function join(unit: readonly RawEvent[]): unknown {
  try {
    return joinParts(unit.map(({ payload }) => payload as Part)) ?? undefined;
  } catch {
    return undefined;
  }
}

function read({ sequence, eventType, createdAt, payload }: RawEvent, span: number): Entry {
  const event = { sequence, eventType, createdAt, payload: payload as SessionEvent['payload'] };
  try {
    return span === 1 ? readEvent(event) : readJoined(readEvent({ ...event, payload: {} }), payload, span);
  } catch {
    // Nested too deep to serialize again.
    return { ...readEvent({ ...event, payload: {} }), span };
  }
}
