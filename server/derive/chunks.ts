import type { SessionEvent } from '../../contract/event.ts';
import type { Entry } from '../../transcript/entry/entry.ts';
import { readEvent, readJoined } from '../../transcript/entry/read.ts';
import { isPart, joinParts, type Part } from '../../transcript/parts.ts';
import { decodeFrame } from '../log/frame.ts';
import { RowWords } from '../search/row-words.ts';
import { collectWords } from '../search/words.ts';
import { toTimestamp } from '../store/columns.ts';
import { Signature } from '../store/signature.ts';
import { clipEntry } from './clip.ts';

/** An append, as far as deriving needs it. */
export interface Source {
  first_sequence: number;
  created_at: number;
  codec: number;
  body: Uint8Array;
}

/** A row of the word index: the words of up to 1,024 consecutive events. */
export interface IndexRow {
  /** Its first event, which begins a chunk. */
  first: number;
  words: RowWords;
}

/** Some consecutive events: their entries, and which words they may have. */
export interface Chunk {
  first: number;
  last: number;
  /** The number of events, and the bytes of their payloads. */
  events: number;
  bytes: number;
  /** The entries as JSON, separated by commas. */
  entries: string;
  signature: Signature;
  /** The row that has its words. */
  row: IndexRow;
  /** The words that it brought to its row, and those of them that the store does not have yet. */
  words: string;
  fresh: string[];
}

/** The last chunk, as long as it has room, and the last row. */
export interface Open {
  chunk?: Chunk | undefined;
  row?: IndexRow | undefined;
}

export interface Cut {
  chunks: Chunk[];
  /** The added entries, in order. */
  entries: Entry[];
  /** Sequence of the last event in the chunks. */
  through: number;
  open: Open;
}

/*
 * The ends of chunks and rows depend only on the events and their words, so that interruptions do not change them. A change of this
 * rule requires empty derived tables.
 */
const MAX_EVENTS = 64;
const MAX_EVENTS_OF_ROW = 1_024;
const MAX_BYTES = 256 * 1024;
/** The most parts of at most 256 KiB that are joined; a payload with more stays in parts. */
const MAX_JOINED = 64;

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
 * @param begun the chunk that ends before `from` and has room, and the last row; new events are added to them
 */
export function cutChunks(appends: readonly Source[], from: number, isClosed: boolean, begun: Open = {}): Cut {
  const events = appends.flatMap((append) => readAppend(append, from));
  const chunks = begun.chunk ? [begun.chunk] : [];
  const entries: Entry[] = [];
  let { chunk: open, row } = begun;
  let through = from - 1;
  for (let at = 0; at < events.length; ) {
    const length = lengthOfRun(events, at, isClosed);
    if (length === undefined) break;
    const unit = events.slice(at, at + length);
    const first = (unit[0] as RawEvent).sequence;
    if (!open) {
      row = row && hasRoom(row, first) ? row : { first, words: new RowWords() };
      open = beginChunk(first, row);
      chunks.push(open);
    }
    entries.push(...addUnit(open, unit));
    through = first + length - 1;
    open.last = through;
    at += length;
    if (isFull(open)) open = undefined;
  }
  return { chunks, entries, through, open: { chunk: open, row } };
}

const hasRoom = ({ first, words }: IndexRow, next: number) => next - first < MAX_EVENTS_OF_ROW && !words.isFull;

const beginChunk = (first: number, row: IndexRow): Chunk => ({
  first,
  last: first,
  events: 0,
  bytes: 0,
  entries: '',
  signature: new Signature(),
  row,
  words: '',
  fresh: [],
});

const isFull = ({ events, bytes, signature }: Chunk): boolean =>
  events >= MAX_EVENTS || bytes >= MAX_BYTES || signature.isFull;

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
  if (first?.part !== 1 || first.of > MAX_JOINED) return 1;
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
  const { row, signature } = chunk;
  const added = single.map((event) => {
    const entry = clipEntry(read(event, payload === undefined ? 1 : unit.length));
    chunk.entries += `${chunk.entries === '' ? '' : ','}${JSON.stringify(entry)}`;
    try {
      collectWords(event.eventType, event.payload, row.words, signature);
    } catch {
      // Nested too deep to walk: a search finds no words of this event.
    }
    return entry;
  });
  chunk.fresh.push(...row.words.takeFresh());
  return added;
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
