import type { Hit } from '../../contract/review.ts';
import type { Db } from '../store/open.ts';
import { type EventRange, findChunks } from '../store/word-index.ts';
import type { Matcher } from './matcher.ts';
import type { Budget, FoundEvent, RangeRead } from './read-events.ts';
import { AND_MORE } from './words.ts';

/** Where the next answer goes on reading a session, and the terms that the session is known to have. */
export interface Unfinished {
  sessionId: string;
  from: number;
  proven: readonly number[];
}

export type Decision = { hits: Hit[]; fit: number } | 'no match' | Unfinished;

const MOST_HITS = 3;
/** Ranges read of a session that are read for the events to show alone. */
const MOST_READ = 2;

/** A range with the terms that it may have, and those of them that it has for certain. */
export interface MarkedRange extends EventRange {
  terms: Set<number>;
  sure: Set<number>;
}

/** The ranges of some sessions that may have some of the terms, by session, in order. */
export async function markRanges(
  db: Db,
  organizationId: string,
  sessionIds: readonly string[],
  { terms }: Matcher,
  from = 1,
): Promise<Map<string, MarkedRange[]>> {
  const all = [...terms.keys()];
  /** What the index is asked, and the terms that its answer tells of. */
  const asked = terms.flatMap(({ sure, indexed }, place) => [
    ...(sure ? [{ words: sure, places: [place], isSure: true }] : []),
    ...(sure === indexed ? [] : [{ words: indexed, places: [place], isSure: false }]),
  ]);
  if (all.length > 0) asked.push({ words: [[[{ word: AND_MORE, open: false }]]], places: all, isSure: false });
  const sessions = new Map<string, MarkedRange[]>(sessionIds.map((id) => [id, []]));
  const chunks = asked.map(({ words }, place) => ({ words, place }));
  for (const { place, ...range } of await findChunks(db, organizationId, sessionIds, chunks, from)) {
    const ranges = sessions.get(range.sessionId) ?? [];
    if (ranges.at(-1)?.first !== range.first) ranges.push({ ...range, terms: new Set(), sure: new Set() });
    const marked = ranges.at(-1) as MarkedRange;
    const { places, isSure } = asked[place] as (typeof asked)[number];
    for (const term of places) {
      marked.terms.add(term);
      if (isSure) marked.sure.add(term);
    }
  }
  return sessions;
}

/**
 * Decides whether a session has what is asked. The index answers that for single words; for phrases, and for the events
 * to show, ranges of events are read.
 */
export class Verification {
  readonly #sessionId: string;
  readonly #ranges: readonly MarkedRange[];
  readonly #budget: Budget;
  /** Where an earlier answer stopped. */
  readonly #from: number;
  /** Terms that must occur, by their places in the query, as all terms here. */
  readonly #wanted: readonly number[];
  readonly #excluded: ReadonlySet<number>;
  /** Terms of which it is not known yet whether the session has them. */
  readonly #open: Set<number>;
  readonly #read = new Set<MarkedRange>();
  readonly #found: FoundEvent[] = [];
  #hasExcluded = false;
  /** Events that have everything, and are worth showing. */
  #best = 0;

  constructor(
    sessionId: string,
    ranges: readonly MarkedRange[],
    { terms }: Matcher,
    budget: Budget,
    earlier?: Unfinished,
  ) {
    const all = [...terms.keys()];
    this.#sessionId = sessionId;
    this.#ranges = ranges;
    this.#budget = budget;
    this.#from = earlier?.from ?? 0;
    this.#excluded = new Set(all.filter((term) => terms[term]?.not));
    this.#wanted = all.filter((term) => !this.#excluded.has(term));
    const proven = new Set([...ranges.flatMap(({ sure }) => [...sure]), ...(earlier?.proven ?? [])]);
    this.#open = new Set(all.filter((term) => !proven.has(term)));
    this.#hasExcluded = [...proven].some((term) => this.#excluded.has(term));
  }

  /** Yields the ranges that are to be read, one after the other, and is told whether each of them was. */
  *run(): Generator<RangeRead, Decision, boolean> {
    const mayHave = (term: number) => this.#ranges.some(({ terms }) => terms.has(term));
    if (this.#hasExcluded || !this.#wanted.every(mayHave)) return 'no match';
    for (const range of this.#ranges) {
      if (range.first < this.#from || !this.#decides(range)) continue;
      if (this.#budget.left <= 0 || !(yield this.#readOf(range))) return this.#unfinished(range.first);
      if (this.#hasExcluded) return 'no match';
    }
    if (this.#wanted.some((term) => this.#open.has(term))) return 'no match';
    for (const range of this.#worthShowing()) {
      if (!this.#mayAddTo(range)) break;
      if (this.#budget.left > 0 && (yield this.#readOf(range))) continue;
      // Shown without an event it would look as if nothing had been found in it.
      if (this.#found.length === 0) return this.#unfinished(1);
      break;
    }
    return this.#shown();
  }

  /** The read of a range, which stops when it decides nothing more and there are enough events to show. */
  #readOf(range: MarkedRange): RangeRead {
    this.#read.add(range);
    return {
      range,
      take: (event) => {
        this.#note(event);
        return !this.#hasExcluded && (this.#best < MOST_HITS || this.#decides(range));
      },
    };
  }

  #note(event: FoundEvent): void {
    this.#found.push(event);
    for (const term of event.terms) {
      if (this.#excluded.has(term)) this.#hasExcluded = true;
      else this.#open.delete(term);
    }
    if (this.#countWanted(event.terms) === this.#wanted.length && rank(event) < RANKS.quiet) this.#best++;
  }

  #decides({ terms }: MarkedRange): boolean {
    return [...terms].some((term) => this.#open.has(term));
  }

  #countWanted(terms: ReadonlySet<number>): number {
    return this.#wanted.filter((term) => terms.has(term)).length;
  }

  /** The ranges to read for the events to show, those with the most terms first. */
  #worthShowing(): MarkedRange[] {
    return this.#ranges
      .filter((range) => !this.#read.has(range) && this.#countWanted(range.terms) > 0)
      .sort((one, other) => this.#countWanted(other.terms) - this.#countWanted(one.terms) || one.first - other.first)
      .slice(0, Math.max(0, MOST_READ - this.#read.size));
  }

  /** Whether the range may have an event with everything, or a term that no event to show has. */
  #mayAddTo(range: MarkedRange): boolean {
    if (this.#found.some(({ terms }) => this.#countWanted(terms) === this.#wanted.length)) return false;
    if (this.#countWanted(range.terms) === this.#wanted.length) return true;
    return this.#wanted.some((term) => range.terms.has(term) && !this.#found.some(({ terms }) => terms.has(term)));
  }

  #unfinished(from: number): Unfinished {
    return { sessionId: this.#sessionId, from, proven: this.#wanted.filter((term) => !this.#open.has(term)) };
  }

  /** The events to show, those with the most terms first. What is quiet is shown where nothing else was found. */
  #shown(): { hits: Hit[]; fit: number } {
    const found = this.#found
      .filter(({ terms }) => this.#countWanted(terms) > 0)
      .sort(
        (one, other) =>
          this.#countWanted(other.terms) - this.#countWanted(one.terms) ||
          rank(one) - rank(other) ||
          one.sequence - other.sequence,
      );
    const telling = found.filter((event) => rank(event) < RANKS.quiet);
    const [best] = found;
    const hasAll = best !== undefined && this.#countWanted(best.terms) === this.#wanted.length;
    return {
      hits: (telling.length > 0 ? telling : found).slice(0, MOST_HITS).map(({ show }) => show()),
      fit: best === undefined ? 0 : rank(best) + (hasAll ? 0 : RANKS.quiet + 1),
    };
  }
}

/** Events of an agent's program, which repeat what people and models said, or come again in every session. */
const QUIET = new Set(['context.message', 'session.meta', 'record', 'notice']);
const SAID = new Set(['user.message', 'assistant.message']);
const RANKS = { said: 0, done: 1, quiet: 2 };

function rank({ eventType }: FoundEvent): number {
  if (SAID.has(eventType)) return RANKS.said;
  return QUIET.has(eventType) ? RANKS.quiet : RANKS.done;
}
