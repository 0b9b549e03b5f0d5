import { type OpenFrame, openFrame } from '../store/frame.ts';
import type { Db } from '../store/open.ts';
import { type AppendOf, readAppendsOf } from '../store/stretches.ts';
import type { Stretch } from '../store/words.ts';
import { inSlices as inTurns, type Steps as Work } from '../work.ts';
import { type Budget, type Candidate, createCandidate } from './candidate.ts';
import { glanceAt, groupsOf } from './glance.ts';
import { createJoiner, type WholeEvent } from './join.ts';
import type { Matcher } from './matcher.ts';

/** A stretch that is to be read. */
export interface Look {
  stretch: Stretch;
  /**
   * Told of the events in which terms may stand, some at a time, in order.
   * @returns false where no more of them are needed
   */
  take(candidates: readonly Candidate[]): Work<boolean>;
  /** Told when that were all of them. */
  end?(): Work<void>;
}

/**
 * Reads the events of stretches, one after the other.
 * @returns how many of them were read: one at least; none is begun once the budget is spent
 */
export async function readStretches(
  db: Db,
  organizationId: string,
  looks: readonly Look[],
  reader: Reader,
): Promise<number> {
  const readings = looks.map(({ stretch, ...look }) => ({
    ...stretch,
    look,
    state: 'waiting' as const,
    joiner: createJoiner(),
  }));
  const stretches = looks.map(({ stretch }) => stretch);
  for await (const appends of readAppendsOf(db, organizationId, stretches)) {
    const unread = await inTurns(readAppends(appends, readings, reader), reader.signal);
    if (unread !== undefined) return unread;
  }
  return looks.length;
}

/** How far a stretch is read, whose events may lie in several appends. */
interface Reading extends Stretch {
  look: Omit<Look, 'stretch'>;
  state: 'waiting' | 'begun' | 'over';
  joiner: ReturnType<typeof createJoiner>;
}

/** With what is read, and how much. */
export interface Reader {
  matcher: Matcher;
  budget: Budget;
  /** Aborted when nobody waits for the answer any more. */
  signal?: AbortSignal | undefined;
}

/** @returns the place of the stretch that is not begun, since nothing more may be read */
function* readAppends(
  appends: readonly AppendOf[],
  readings: readonly Reading[],
  reader: Reader,
): Work<number | undefined> {
  const { budget } = reader;
  for (const append of appends) {
    let frame: OpenFrame | undefined;
    for (const at of append.at) {
      const reading = readings[at] as Reading;
      if (reading.state === 'over') continue;
      if (reading.state === 'waiting' && at > 0 && budget.left <= 0) return at;
      frame ??= openWithin(budget, append);
      yield* readAppend(reading, append, frame, reader);
    }
  }
  return undefined;
}

function openWithin(budget: Budget, append: AppendOf): OpenFrame {
  const frame = openFrame(append);
  budget.left -= frame.plain.byteLength;
  return frame;
}

/** Hands to the look what the append has of its stretch. */
function* readAppend(reading: Reading, append: AppendOf, frame: OpenFrame, reader: Reader): Work<void> {
  const { look, joiner } = reading;
  const toCandidate = (event: WholeEvent) => createCandidate(event, reader.matcher, reader.budget);
  reading.state = 'begun';
  for (const group of groupsOf(append, frame, reading)) {
    const events = yield* glanceAt(group, frame, reader.matcher, joiner);
    if (yield* look.take(events.map(toCandidate))) continue;
    reading.state = 'over';
    return;
  }
  if (append.last_sequence < reading.last) return;
  reading.state = 'over';
  const goesOn = yield* look.take(joiner.end().map(toCandidate));
  if (goesOn && look.end) yield* look.end();
}
