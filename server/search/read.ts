import { isPart, joinParts, type Part } from '../../contract/parts.ts';
import type { Hit } from '../../contract/review.ts';
import type { StoredAppend } from '../store/events.ts';
import { decodeFrame } from '../store/frame.ts';
import type { Db } from '../store/open.ts';
import { readAppendsOf } from '../store/stretches.ts';
import { toTimestamp } from '../store/time.ts';
import type { Stretch } from '../store/words.ts';
import { heavy } from '../turns.ts';
import type { Found, Matcher } from './matcher.ts';

/** How many bytes of events may still be read for one request. */
export interface Budget {
  left: number;
}

/** An event in which some of the terms occur. */
export interface FoundEvent extends Found {
  hit: Hit;
}

/** A stretch that is to be read. */
export interface Look {
  stretch: Stretch;
  /** Told of each event in which terms occur, in order; false where no more of them are needed. */
  take(event: FoundEvent): boolean;
}

/**
 * Reads the events of stretches, one after the other; between appends others have their turn.
 * @returns how many of them were read: one at least, and no more once the budget is spent
 */
export async function readStretches(
  db: Db,
  organizationId: string,
  looks: readonly Look[],
  matcher: Matcher,
  budget: Budget,
): Promise<number> {
  const readers = looks.map((look) => createReader(look, matcher, budget));
  const stretches = looks.map(({ stretch }) => stretch);
  for await (const append of readAppendsOf(db, organizationId, stretches)) {
    const reader = readers[append.at] as Reader;
    const { first, last } = (looks[append.at] as Look).stretch;
    if (reader.isOver()) continue;
    if (budget.left <= 0 && append.at > 0) return append.at;
    const events = await heavy(() => eventsOf(append).filter(({ sequence }) => sequence >= first && sequence <= last));
    for (let at = 0; at < events.length; ) at = await heavy(() => reader.read(events, at));
  }
  for (const reader of readers) reader.end();
  return looks.length;
}

type Reader = ReturnType<typeof createReader>;

function createReader({ take }: Look, matcher: Matcher, budget: Budget) {
  let run: { event: RawEvent; part: Part }[] = [];
  let isOver = false;
  let spent = 0;

  function spend(bytes: number): void {
    budget.left -= bytes;
    spent += bytes;
  }

  function look(event: RawEvent): void {
    spend(event.json.length);
    // What is looked for at a glance is ASCII: 3,000 letters take 1 µs so, and 5 where they are decoded.
    const glanced = event.json.toString('latin1');
    const payload = glanced.includes('"part":') ? parse(event.json) : undefined;
    if (isPart(payload)) {
      takePart(event, payload);
      return;
    }
    endRun();
    const places = matcher.glance(glanced);
    if (places.length > 0) match(event, payload ?? parse(event.json), places);
  }

  /** A payload in parts is read as soon as the last one is there, and counts where the first one stands. */
  function takePart(event: RawEvent, part: Part): void {
    if (part.part !== run.length + 1) endRun();
    run.push({ event, part });
    if (part.part !== run.length || part.of > MOST_JOINED) endRun();
    else if (run.length === part.of) {
      match((run[0] as { event: RawEvent }).event, join(run.map(({ part }) => part)));
      run = [];
    }
  }

  /** Of an incomplete run each slice is what there is. */
  function endRun(): void {
    for (const { event, part } of run) match(event, part);
    run = [];
  }

  function match({ sequence, eventType, createdAt }: RawEvent, payload: unknown, places?: readonly number[]): void {
    const effort = { left: MOST_COMPARED };
    const one = isOver ? undefined : matcher.match(eventType, payload, places, effort);
    spend((MOST_COMPARED - effort.left) * BYTES_FOR_A_WORD);
    if (!one) return;
    const occurred = Date.parse(String((payload as { occurredAt?: unknown }).occurredAt ?? ''));
    const time = occurred > 0 && occurred < YEAR_10000 ? occurred : createdAt;
    isOver = !take({ ...one, hit: { sequence, time: toTimestamp(time), eventType, text: one.text, marks: one.marks } });
  }

  return {
    isOver: () => isOver,
    /** Reads from a place on for a while; returns where to go on. */
    read(events: readonly RawEvent[], from: number): number {
      spent = 0;
      let at = from;
      while (at < events.length && !isOver && spent < STEP_BYTES) look(events[at++] as RawEvent);
      return isOver ? events.length : at;
    },
    end: endRun,
  };
}

/** Times are written with four digits of a year. */
const YEAR_10000 = Date.UTC(10_000);

/** What is read between two turns of others: half a megabyte takes 15 ms where each event is parsed. */
const STEP_BYTES = 512 * 1024;

/** What to compare a word costs, next to reading; of one event so many are compared, which takes 30 ms. */
const BYTES_FOR_A_WORD = 32;
const MOST_COMPARED = 30_000;

/** As many as those who derive join. */
const MOST_JOINED = 64;

interface RawEvent {
  sequence: number;
  eventType: string;
  createdAt: number;
  json: Buffer;
}

const eventsOf = (append: StoredAppend): RawEvent[] =>
  decodeFrame(append).map(({ eventType, payload: { buffer, byteOffset, byteLength } }, index) => ({
    sequence: append.first_sequence + index,
    eventType,
    createdAt: append.created_at,
    json: Buffer.from(buffer, byteOffset, byteLength),
  }));

function parse(json: Buffer): unknown {
  try {
    return JSON.parse(json.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** What the parts make; where that is no JSON, what they are. */
function join(parts: readonly Part[]): unknown {
  try {
    return joinParts(parts);
  } catch {
    return { text: parts.map(({ json }) => json).join('') };
  }
}
