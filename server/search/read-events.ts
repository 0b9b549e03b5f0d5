import type { Hit } from '../../contract/review.ts';
import { unwrapProgress } from '../../transcript/entry/progress.ts';
import { asObject } from '../../transcript/entry/value.ts';
import { Damaged, nameSession } from '../log/damaged.ts';
import { type OpenFrame, openFrame } from '../log/frame.ts';
import { Joiner, type ReadEvent } from '../log/join.ts';
import { toTimestamp } from '../store/columns.ts';
import { type AppendOf, readAppendsOf } from '../store/events.ts';
import type { Db } from '../store/schema.ts';
import type { EventRange } from '../store/word-index.ts';
import { inSlices, type Steps } from '../work.ts';
import type { Budget } from './budget.ts';
import type { Matcher } from './matcher.ts';

/** How events are read, and how many. */
export interface Reader {
  matcher: Matcher;
  budget: Budget;
  /** Aborted when the caller has left. */
  signal?: AbortSignal | undefined;
  /** Called for each range with damaged events, which is then skipped; absent: damage ends the read. */
  onDamaged?: ((error: unknown) => void) | undefined;
}

/** An event with some of the terms. */
export interface FoundEvent {
  sequence: number;
  eventType: string;
  /** Indexes of the terms in the query. */
  terms: ReadonlySet<number>;
  show(): Hit;
}

/** A range of events to read. */
export interface RangeRead {
  range: EventRange;
  /** Whether the range should still be read, after what was found in the ranges before. */
  isNeeded(): boolean;
  /** Called when the range is read. */
  begin?(): void;
  /**
   * Called for each event with some of the terms, in order.
   * @returns false if the rest of the range is not needed
   */
  take(event: FoundEvent): boolean;
}

/**
 * Reads ranges of events, one after another.
 * @returns how many ranges are done, at least one; once the budget is spent, no further range is started
 */
export async function readRanges(
  db: Db,
  organizationId: string,
  reads: readonly RangeRead[],
  reader: Reader,
): Promise<number> {
  const progress = reads.map(
    (read): Progress => ({ ...read, state: 'waiting', next: read.range.first, joiner: new Joiner() }),
  );
  const ranges = reads.map(({ range }) => range);
  try {
    for await (const appends of readAppendsOf(db, organizationId, ranges)) {
      const unread = await inSlices(readAppends(appends, progress, reader), reader.signal);
      if (unread !== undefined) return unread;
      if (!progress.some(isWanted)) break;
    }
    return reads.length;
  } catch (error) {
    if (!(error instanceof Damaged && reader.onDamaged)) throw error;
    return readAround(db, organizationId, progress, reader, reader.onDamaged);
  }
}

/** Reads the rest of the ranges one by one, because one of them is damaged. */
async function readAround(
  db: Db,
  organizationId: string,
  progress: readonly Progress[],
  reader: Reader,
  onDamaged: (error: unknown) => void,
): Promise<number> {
  for (const [at, one] of progress.entries()) {
    if (!isWanted(one)) continue;
    if (one.state === 'waiting' && at > 0 && reader.budget.left <= 0) return at;
    try {
      for await (const appends of readAppendsOf(db, organizationId, [{ ...one.range, first: one.next }])) {
        await inSlices(readAppends(appends, [one], reader), reader.signal);
      }
    } catch (error) {
      if (!(error instanceof Damaged)) throw error;
      one.state = 'over';
      onDamaged(nameSession({ organizationId, sessionId: one.range.sessionId }, error));
    }
  }
  return progress.length;
}

/** The progress of a range, whose events may be in several appends. */
interface Progress extends RangeRead {
  state: 'waiting' | 'begun' | 'over';
  /** The first event that was not read yet. */
  next: number;
  joiner: Joiner;
}

const isWanted = ({ state, isNeeded }: Progress) => state === 'begun' || (state === 'waiting' && isNeeded());

/** @returns the index of the first range that was not started because the budget is spent */
function* readAppends(
  appends: readonly AppendOf[],
  progress: readonly Progress[],
  reader: Reader,
): Steps<number | undefined> {
  const { budget } = reader;
  for (const append of appends) {
    let frame: OpenFrame | undefined;
    for (const at of append.at) {
      const one = progress[at] as Progress;
      if (one.state === 'over') continue;
      if (one.state === 'waiting' && !one.isNeeded()) {
        one.state = 'over';
        continue;
      }
      if (one.state === 'waiting' && at > 0 && budget.left <= 0) return at;
      if (!frame) {
        frame = openFrame(append);
        const cost = frame.plain.byteLength / UNPACKED_FOR_A_PARSED;
        budget.spend(cost);
        yield cost;
      }
      if (!(yield* readAppend(one, append, frame, reader))) one.state = 'over';
    }
  }
  return undefined;
}

/** @returns false if the rest of the range is not needed, or the append holds its end */
function* readAppend(one: Progress, append: AppendOf, frame: OpenFrame, reader: Reader): Steps<boolean> {
  const { range, joiner, take } = one;
  const { budget } = reader;
  if (one.state === 'waiting') {
    budget.countRange();
    one.begin?.();
  }
  one.state = 'begun';
  for (const event of yield* eventsOf(append, frame, { ...range, first: one.next }, reader)) {
    one.next = event.sequence + 1;
    for (const whole of joiner.add(event)) {
      const found = yield* match(whole, reader);
      if (found && !take(found)) return false;
    }
  }
  if (append.last_sequence < range.last) return true;
  for (const part of joiner.end()) {
    const found = yield* match(part, reader);
    if (found && !take(found)) return false;
  }
  return false;
}

/**
 * The events of a range that an append holds. Events without the letters of any term are not parsed, and there are none if all
 * of them together lack these letters.
 */
function* eventsOf(
  append: AppendOf,
  { plain, events }: OpenFrame,
  { first, last }: EventRange,
  { matcher, budget }: Reader,
): Steps<Iterable<ReadEvent>> {
  const { first_sequence: begin, created_at: createdAt } = append;
  const from = Math.max(first, begin);
  const ours = events.slice(from - begin, last - begin + 1);
  const high = Math.max(0, ...ours.map(({ end }) => end));
  const low = Math.min(high, ...ours.flatMap(({ start }) => (start < 0 ? [] : [start])));
  if (high - low <= MAX_TOGETHER) {
    const cost = (high - low) / SCANNED_FOR_A_PARSED;
    budget.spend(cost);
    yield cost;
    if (!matcher.mayMatch(plain.toString('latin1', low, high))) return [];
  }
  return ours.values().map(({ eventType, start, end }, n) => {
    const bytes = Math.max(0, end - start);
    const isParsed = start >= 0 && matcher.mayMatch(plain.toString('latin1', start, end));
    return {
      ...{ sequence: from + n, eventType, createdAt },
      ...(isParsed
        ? { bytes, payload: parse(plain, start, end) }
        : { bytes: bytes / SCANNED_FOR_A_PARSED, payload: NOTHING }),
    };
  });
}

/** The most bytes of events that are searched for letters together. */
const MAX_TOGETHER = 1024 * 1024;

/** Instead of the payload of an event that has none of the terms. */
const NOTHING = {};

function parse(plain: Buffer, start: number, end: number): unknown {
  try {
    return JSON.parse(plain.toString('utf8', start, end));
  } catch {
    return undefined;
  }
}

/** The bytes that can be unpacked in the time in which one is parsed and matched. */
const UNPACKED_FOR_A_PARSED = 2;
/** The bytes that can be searched for letters in that time. */
const SCANNED_FOR_A_PARSED = 3;
/** The bytes that can be read in the time of one word comparison. */
const BYTES_FOR_A_WORD = 32;

function* match(event: ReadEvent, { matcher, budget }: Reader): Steps<FoundEvent | undefined> {
  const { sequence, eventType, createdAt, bytes: length, payload } = event;
  yield length;
  if (payload === NOTHING) return undefined;
  budget.spend(length);
  // The bytes that were parsed already pay for a few comparisons.
  let paid = length;
  const work = matcher.match(eventType, payload);
  let step = work.next();
  for (; !step.done; step = work.next()) {
    const bytes = step.value * BYTES_FOR_A_WORD;
    budget.spend(Math.max(0, bytes - paid));
    paid = Math.max(0, paid - bytes);
    yield bytes;
  }
  if (!step.value) return undefined;
  const { terms, show } = step.value;
  return {
    sequence,
    eventType,
    terms,
    show: () => ({ sequence, time: timeOf(payload, createdAt), eventType: shownType(eventType, payload), ...show() }),
  };
}

/** The type of an event. If it wraps an event of a sub-agent, the type of that inner event. */
const shownType = (eventType: string, payload: unknown): string =>
  unwrapProgress(eventType, asObject(payload)).eventType;

/** The time of the event, or the time of its storage if it has none. */
function timeOf(payload: unknown, createdAt: number): string {
  const occurred = Date.parse(String((payload as { occurredAt?: unknown } | undefined)?.occurredAt ?? ''));
  return toTimestamp(occurred > 0 && occurred < YEAR_10000 ? occurred : createdAt);
}

/** Times are written with four digits of a year. */
const YEAR_10000 = Date.UTC(10_000);
