import { isPart, joinParts, type Part } from '../../contract/parts.ts';
import type { Hit } from '../../contract/review.ts';
import { readAppends, type StoredAppend } from '../store/events.ts';
import { decodeFrame } from '../store/frame.ts';
import type { Db } from '../store/open.ts';
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

/** Reads the events of a stretch; between appends others have their turn. */
export async function readStretch(
  db: Db,
  organizationId: string,
  { sessionId, first, last }: Stretch,
  matcher: Matcher,
  budget: Budget,
): Promise<FoundEvent[]> {
  const found: FoundEvent[] = [];
  let run: { event: RawEvent; part: Part }[] = [];

  function look(event: RawEvent): void {
    budget.left -= event.json.length;
    const payload = event.json.includes('"part":') ? parse(event.json) : undefined;
    if (isPart(payload)) {
      takePart(event, payload);
      return;
    }
    endRun();
    if (matcher.mayMatch(event.json)) match(event, payload ?? parse(event.json));
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
    const one = matcher.match(eventType, payload);
    if (!one) return;
    const occurred = Date.parse(String((payload as { occurredAt?: unknown }).occurredAt ?? ''));
    const time = occurred > 0 && occurred < YEAR_10000 ? occurred : createdAt;
    found.push({ ...one, hit: { sequence, time: toTimestamp(time), eventType, text: one.text, marks: one.marks } });
  }

  for await (const append of readAppends(db, organizationId, sessionId, first, last)) {
    const events = await heavy(() => eventsOf(append).filter(({ sequence }) => sequence >= first && sequence <= last));
    for (const some of inSteps(events)) await heavy(() => some.forEach(look));
  }
  endRun();
  return found;
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
  json: string;
}

const eventsOf = (append: StoredAppend): RawEvent[] =>
  decodeFrame(append).map(({ eventType, payload: { buffer, byteOffset, byteLength } }, index) => ({
    sequence: append.first_sequence + index,
    eventType,
    createdAt: append.created_at,
    json: Buffer.from(buffer, byteOffset, byteLength).toString('utf8'),
  }));

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
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
