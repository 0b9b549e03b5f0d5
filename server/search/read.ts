import { isPart, joinParts, type Part } from '../../contract/parts.ts';
import type { Hit } from '../../contract/review.ts';
import { type OpenFrame, openFrame } from '../store/frame.ts';
import type { Db } from '../store/open.ts';
import { type AppendOf, readAppendsOf } from '../store/stretches.ts';
import { toTimestamp } from '../store/time.ts';
import type { Stretch } from '../store/words.ts';
import { heavy } from '../turns.ts';
import type { Matcher } from './matcher.ts';

/** How many bytes of events may still be read for one request. */
export interface Budget {
  left: number;
}

/** An event and the terms that it has, or that it might have by a glance. */
export interface Glanced {
  terms: ReadonlySet<number>;
  sequence: number;
  eventType: string;
}

/** An event in which some of the terms occur. */
export interface FoundEvent extends Glanced {
  show(): Hit;
}

/** A stretch that is to be read. */
export interface Look {
  stretch: Stretch;
  /** Whether an event is to be matched, which takes far longer than the glance. */
  wants(event: Glanced): boolean;
  /** Asked of the others when the whole stretch was seen. */
  wantsStill?(event: Glanced): boolean;
  /** Told of each event in which terms occur, in order; false where no more of them are needed. */
  take(event: FoundEvent): boolean;
}

/**
 * Reads the events of stretches, one after the other; every half megabyte others have their turn.
 * @returns how many of them were read: one at least, and no more once the budget is spent
 */
export async function readStretches(
  db: Db,
  organizationId: string,
  looks: readonly Look[],
  matcher: Matcher,
  budget: Budget,
): Promise<number> {
  const readers = looks.map((look, at) => createReader(look, matcher, budget, at === 0));
  const stretches = looks.map(({ stretch }) => stretch);
  for await (const appends of readAppendsOf(db, organizationId, stretches)) {
    const unread = await inTurns(readAppends(appends, readers));
    if (unread !== undefined) return unread;
  }
  return looks.length;
}

/** Work that hands out after each piece how many bytes it was like. */
type Work<Result> = Generator<number, Result, void>;

/** What is read between two turns of others: half a megabyte takes 15 ms where each event is parsed. */
const STEP_BYTES = 512 * 1024;

async function inTurns<Result>(work: Work<Result>): Promise<Result> {
  for (;;) {
    const step = await heavy(() => {
      let piece = work.next();
      for (let left = STEP_BYTES; !piece.done; piece = work.next()) {
        left -= piece.value;
        if (left <= 0) break;
      }
      return piece;
    });
    if (step.done) return step.value;
  }
}

/** @returns the place of the stretch that was not read, since nothing more may be */
function* readAppends(appends: readonly AppendOf[], readers: readonly Reader[]): Work<number | undefined> {
  for (const append of appends) {
    const waiting = append.at.filter((at) => !readers[at]?.isOver());
    const frame = waiting.length > 0 && openFrame(append);
    for (const at of waiting) if (frame && !(yield* (readers[at] as Reader).read(append, frame))) return at;
  }
  return undefined;
}

type Reader = ReturnType<typeof createReader>;

interface RawEvent {
  sequence: number;
  eventType: string;
  createdAt: number;
}

function createReader({ stretch, wants, wantsStill, take }: Look, matcher: Matcher, budget: Budget, isFirst: boolean) {
  let run: { event: RawEvent; part: Part }[] = [];
  let later: { event: RawEvent; places: readonly number[]; json: Buffer }[] = [];
  let isOver = false;
  let isCut = false;
  /** The first stretch is read to its end all the same. */
  const isUnread = () => isCut && !isFirst && !isOver;

  function spend(bytes: number): number {
    budget.left -= bytes;
    return bytes;
  }

  /** A payload in parts is read as soon as the last one is there, and counts where the first one stands. */
  function* takePart(event: RawEvent, part: Part): Work<void> {
    if (part.part !== run.length + 1) yield* endRun();
    run.push({ event, part });
    if (part.part !== run.length || part.of > MOST_JOINED) yield* endRun();
    else if (run.length === part.of) {
      const { event } = run[0] as (typeof run)[number];
      const payload = join(run.map(({ part }) => part));
      run = [];
      yield* match(event, payload);
    }
  }

  /** Of an incomplete run each slice is what there is. */
  function* endRun(): Work<void> {
    const slices = run;
    run = [];
    for (const { event, part } of slices) yield* match(event, part);
  }

  function* match({ sequence, eventType, createdAt }: RawEvent, payload: unknown, places?: readonly number[]) {
    if (isOver) return;
    const effort = { left: COMPARED_AT_ONCE };
    const work = matcher.match(eventType, payload, places, effort);
    for (let step = work.next(); ; step = work.next()) {
      yield spend((COMPARED_AT_ONCE - effort.left) * BYTES_FOR_A_WORD);
      effort.left = COMPARED_AT_ONCE;
      isCut ||= !step.done && budget.left <= 0;
      if (!step.done && !isCut) continue;
      if (!step.done || !step.value) return;
      const { show } = step.value;
      const occurred = Date.parse(String((payload as { occurredAt?: unknown }).occurredAt ?? ''));
      const time = toTimestamp(occurred > 0 && occurred < YEAR_10000 ? occurred : createdAt);
      isOver = !take({ ...step.value, sequence, eventType, show: () => ({ sequence, time, eventType, ...show() }) });
      return;
    }
  }

  function* readEvents({ first_sequence: start, created_at: createdAt }: AppendOf, frame: OpenFrame): Work<void> {
    const from = Math.max(0, stretch.first - start);
    for (let at = from, to = at; at < frame.events.length && start + at <= stretch.last; at = to) {
      isCut ||= budget.left <= 0;
      if (isUnread()) return;
      to = endOfGroup(frame, at, stretch.last - start + 1);
      const group = frame.events.slice(at, to);
      const [begin, end] = [group[0]?.start ?? 0, group.at(-1)?.end ?? 0];
      // What is looked for at a glance is ASCII: 3,000 letters take 1 µs so, and 5 where they are decoded.
      const json = begin < 0 ? '{}' : frame.plain.toString('latin1', begin, end);
      const glanced = matcher.glance(json, group);
      const mayHaveParts = json.includes(PART);
      yield spend(json.length);
      for (const [n, event] of group.entries()) {
        if (isOver || isUnread()) return;
        const places = glanced[n] as readonly number[];
        const raw = { sequence: start + at + n, eventType: event.eventType, createdAt };
        const bytes = event.start < 0 ? EMPTY : frame.plain.subarray(event.start, event.end);
        const mayBePart = mayHaveParts && json.slice(event.start - begin, event.end - begin).includes(PART);
        const part = mayBePart ? parse(bytes) : undefined;
        if (isPart(part)) {
          yield* takePart(raw, part);
          continue;
        }
        yield* endRun();
        if (places.length === 0) continue;
        if (wants({ ...raw, terms: new Set(places) })) yield* match(raw, part ?? parse(bytes), places);
        // A copy: of the index's stretches it has 512 KiB at most, while an append may have 13 MB.
        else if (wantsStill) later.push({ event: raw, places, json: Buffer.from(bytes) });
      }
    }
  }

  function* end(): Work<void> {
    yield* endRun();
    const rest = later;
    later = [];
    for (const { event, places, json } of rest)
      if (!isOver && wantsStill?.({ ...event, terms: new Set(places) })) yield* match(event, parse(json), places);
  }

  return {
    isOver: () => isOver,
    /** @returns false where the budget was spent; the first stretch is read to its end all the same */
    *read(append: AppendOf, frame: OpenFrame): Work<boolean> {
      yield* readEvents(append, frame);
      if (isOver || (append.last_sequence >= stretch.last && !isUnread())) yield* end();
      return !isUnread();
    },
  };
}

/** Times are written with four digits of a year. */
const YEAR_10000 = Date.UTC(10_000);

/** What to compare a word costs, next to reading; so many are compared in one go, which takes 30 ms. */
const BYTES_FOR_A_WORD = 32;
const COMPARED_AT_ONCE = 30_000;

/** As many as those who derive join. */
const MOST_JOINED = 64;
const PART = '"part":';

/** Bytes that are looked over at once, at most, unless one event has more. */
const GLANCED_AT_ONCE = 256 * 1024;

/** Where the events end that lie behind each other from one on, up to another. */
function endOfGroup({ events }: OpenFrame, from: number, most: number): number {
  const { start } = events[from] as OpenFrame['events'][number];
  let to = from + 1;
  for (let end = events[from]?.end ?? 0; to < most; to++) {
    const next = events[to];
    if (!next || next.start < end || next.end - start > GLANCED_AT_ONCE || start < 0) break;
    end = next.end;
  }
  return to;
}

const EMPTY = Buffer.from('{}');

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
