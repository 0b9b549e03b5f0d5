import type { Hit } from '../../contract/review.ts';
import { toTimestamp } from '../store/time.ts';
import type { Steps as Work } from '../work.ts';
import type { WholeEvent } from './join.ts';
import type { Matcher } from './matcher.ts';

/** How many bytes of events may still be read for one request. */
export interface Budget {
  left: number;
}

/** An event and the terms that it has, or that it may have by a glance. */
export interface Glanced {
  terms: ReadonlySet<number>;
  sequence: number;
  eventType: string;
}

/** An event in which terms may stand. */
export interface Candidate extends Glanced {
  /** Reads it to the end, which takes far longer than the glance. Undefined where none of the terms stands in it. */
  read(): Work<FoundEvent | undefined>;
}

/** An event in which some of the terms stand. */
export interface FoundEvent extends Glanced {
  show(): Hit;
}

export function createCandidate(event: WholeEvent, matcher: Matcher, budget: Budget): Candidate {
  const { sequence, eventType, createdAt } = event;
  const places = event.places ?? [...matcher.terms.keys()];
  return {
    ...{ sequence, eventType, terms: new Set(places) },
    *read() {
      const payload = event.payload();
      const work = matcher.match(eventType, payload, places);
      let step = work.next();
      for (; !step.done; step = work.next()) {
        const bytes = step.value * BYTES_FOR_A_WORD;
        budget.left -= bytes;
        yield bytes;
      }
      if (!step.value) return undefined;
      const { terms, show } = step.value;
      return {
        sequence,
        eventType,
        terms,
        show: () => ({ sequence, time: timeOf(payload, createdAt), eventType, ...show() }),
      };
    },
  };
}

/** What to compare a word costs, next to reading. */
const BYTES_FOR_A_WORD = 32;

/** When it happened, or else when it was stored. */
function timeOf(payload: unknown, createdAt: number): string {
  const occurred = Date.parse(String((payload as { occurredAt?: unknown } | undefined)?.occurredAt ?? ''));
  return toTimestamp(occurred > 0 && occurred < YEAR_10000 ? occurred : createdAt);
}

/** Times are written with four digits of a year. */
const YEAR_10000 = Date.UTC(10_000);
