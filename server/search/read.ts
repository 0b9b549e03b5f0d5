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

/** Reads the events of stretches; between appends others have their turn. */
export async function readStretches(
  db: Db,
  organizationId: string,
  looks: readonly Look[],
  matcher: Matcher,
  budget: Budget,
): Promise<void> {
  const readers = looks.map((look) => createReader(look, matcher, budget));
  const stretches = looks.map(({ stretch }) => stretch);
  for await (const append of readAppendsOf(db, organizationId, stretches, (at) => readers[at]?.isOver() === true)) {
    const reader = readers[append.at] as Reader;
    const { first, last } = (looks[append.at] as Look).stretch;
    if (reader.isOver()) continue;
    const events = await heavy(() => eventsOf(append).filter(({ sequence }) => sequence >= first && sequence <= last));
    for (const some of inSteps(events)) await heavy(() => reader.read(some));
  }
  for (const reader of readers) reader.end();
}

type Reader = ReturnType<typeof createReader>;

function createReader({ take }: Look, matcher: Matcher, budget: Budget) {
  let run: { event: RawEvent; part: Part }[] = [];
  let isOver = false;

  function look(event: RawEvent): void {
    budget.left -= event.json.length;
    // What is looked for at a glance is ASCII: 3,000 letters take 1 µs so, and 5 where they are decoded.
    const glanced = event.json.toString('latin1');
    const payload = glanced.includes('"part":') ? parse(event.json) : undefined;
    if (isPart(payload)) {
      takePart(event, payload);
      return;
    }
    endRun();
    if (matcher.mayMatch(glanced)) match(event, payload ?? parse(event.json));
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

  function match({ sequence, eventType, createdAt }: RawEvent, payload: unknown): void {
    const one = isOver ? undefined : matcher.match(eventType, payload);
    if (!one) return;
    const occurred = Date.parse(String((payload as { occurredAt?: unknown }).occurredAt ?? ''));
    const time = occurred > 0 && occurred < YEAR_10000 ? occurred : createdAt;
    isOver = !take({ ...one, hit: { sequence, time: toTimestamp(time), eventType, text: one.text, marks: one.marks } });
  }

  return {
    isOver: () => isOver,
    read(events: readonly RawEvent[]): void {
      for (const event of events) if (!isOver) look(event);
    },
    end: endRun,
  };
}

/** Times are written with four digits of a year. */
const YEAR_10000 = Date.UTC(10_000);

/** What is read between two turns of others: half a megabyte takes 15 ms where each event is parsed. */
const STEP_BYTES = 512 * 1024;

function inSteps(events: readonly RawEvent[]): RawEvent[][] {
  const steps: RawEvent[][] = [];
  let room = 0;
  for (const event of events) {
    if (room <= 0) steps.push([]);
    if (room <= 0) room = STEP_BYTES;
    steps.at(-1)?.push(event);
    room -= event.json.length;
  }
  return steps;
}

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
