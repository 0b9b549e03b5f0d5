import type { Hit } from '../../contract/review.ts';
import type { Db } from '../store/schema.ts';
import { type EventRange, findChunks, type Searched } from '../store/word-index.ts';
import type { Matcher } from './matcher.ts';
import type { FoundEvent, RangeRead } from './read-events.ts';
import { AND_MORE } from './row-words.ts';

/** Where the next answer continues to read a session, and what earlier answers found in it. */
export interface Unfinished {
  sessionId: string;
  /** Ranges from here on may still decide terms. */
  from: number;
  /** Terms that were already found. */
  proven: readonly number[];
  /** The sequence of the best event that was found; 0 if none was. */
  seen: number;
  /** How many ranges were read only to find events to show, without finding any. */
  tried: number;
}

export type Decision = { hits: Hit[]; fit: number } | 'no match' | Unfinished;

const MAX_HITS = 3;
/** After this many ranges of a session, none is read only to find better events to show. */
const MAX_READ = 2;
/** The most ranges of a session that are read together. */
const MAX_AT_ONCE = 16;
/** Behind all events: the terms of the session are decided. */
const DECIDED = 2 ** 48;

/** A range with the terms that it may have, and the ones that it certainly has. */
export interface CandidateRange extends EventRange {
  terms: Set<number>;
  sure: Set<number>;
}

/** Finds the ranges of some sessions that may have some of the terms; by session, in order. */
export async function findRanges(
  db: Db,
  searched: Searched,
  sessionIds: readonly string[],
  { terms }: Matcher,
  from = 1,
): Promise<Map<string, CandidateRange[]>> {
  const all = [...terms.keys()];
  /** The queries for the index, with the terms that each of them decides. */
  const asked = terms.flatMap(({ sure, unsure }, place) => [
    ...(sure ? [{ words: sure, places: [place], isSure: true }] : []),
    ...(unsure ? [{ words: unsure, places: [place], isSure: false }] : []),
  ]);
  if (all.length > 0) asked.push({ words: [[[{ word: AND_MORE, open: false }]]], places: all, isSure: false });
  const sessions = new Map<string, CandidateRange[]>(sessionIds.map((id) => [id, []]));
  const chunks = asked.map(({ words }, place) => ({ words, place }));
  for (const { place, ...range } of await findChunks(db, searched, sessionIds, chunks, from)) {
    const ranges = sessions.get(range.sessionId) ?? [];
    if (ranges.at(-1)?.first !== range.first) ranges.push({ ...range, terms: new Set(), sure: new Set() });
    const marked = ranges.at(-1) as CandidateRange;
    const { places, isSure } = asked[place] as (typeof asked)[number];
    for (const term of places) {
      marked.terms.add(term);
      if (isSure) marked.sure.add(term);
    }
  }
  return sessions;
}

/**
 * Decides whether a session matches. The index suffices for single words. For phrases, and for the events to show, ranges of
 * events must be read.
 */
export class Verification {
  readonly #sessionId: string;
  readonly #ranges: readonly CandidateRange[];
  readonly #earlier: Unfinished;
  /** Terms that must occur. Here all terms are indexes in the query. */
  readonly #wanted: readonly number[];
  readonly #excluded: ReadonlySet<number>;
  /** Terms that were neither found nor ruled out yet. */
  readonly #open: Set<number>;
  readonly #read = new Set<CandidateRange>();
  readonly #found: FoundEvent[] = [];
  #hasExcluded = false;
  /** How many events with all terms are worth showing. */
  #best = 0;

  constructor(sessionId: string, ranges: readonly CandidateRange[], { terms }: Matcher, earlier?: Unfinished) {
    const all = [...terms.keys()];
    this.#sessionId = sessionId;
    this.#ranges = ranges;
    this.#earlier = earlier ?? { sessionId, from: 0, proven: [], seen: 0, tried: 0 };
    this.#excluded = new Set(all.filter((term) => terms[term]?.not));
    this.#wanted = all.filter((term) => !this.#excluded.has(term));
    const proven = new Set([...ranges.flatMap(({ sure }) => [...sure]), ...this.#earlier.proven]);
    this.#open = new Set(all.filter((term) => !proven.has(term)));
    this.#hasExcluded = [...proven].some((term) => this.#excluded.has(term));
  }

  /** How many ranges may have to be read for a decision. */
  get length(): number {
    return Math.max(1, this.#undecided().length);
  }

  #undecided(): CandidateRange[] {
    return this.#ranges.filter((range) => range.first >= this.#earlier.from && this.#decides(range));
  }

  /**
   * Yields the next ranges to read, twice as many each time. The caller passes back how many of them are done; if not all
   * are, the answer may read no more.
   */
  *run(): Generator<readonly RangeRead[], Decision, number> {
    const mayHave = (term: number) => this.#ranges.some(({ terms }) => terms.has(term));
    if (this.#hasExcluded || !this.#wanted.every(mayHave)) return 'no match';
    let rest = this.#undecided();
    // A session that took more than an answer has its terms in few ranges, if at all.
    for (let count = this.#earlier.from > 0 ? MAX_AT_ONCE : 1; ; count = Math.min(count * 2, MAX_AT_ONCE)) {
      rest = rest.filter((range) => this.#decides(range));
      const some = rest.slice(0, count);
      if (some.length === 0) break;
      const done = yield some.map((range) => this.#readOf(range, () => this.#decides(range)));
      rest = rest.slice(done);
      const [next] = rest;
      if (this.#hasExcluded) return 'no match';
      if (done < some.length && next) return this.#unfinished(next.first);
    }
    if (this.#wanted.some((term) => this.#open.has(term))) return 'no match';
    let { tried } = this.#earlier;
    for (const range of this.#worthShowing().slice(tried)) {
      if (this.#found.length > 0 && (this.#read.size >= MAX_READ || !this.#mayAddTo(range))) break;
      if (!this.#read.has(range) && (yield [this.#readOf(range, () => true)]) === 0) {
        // A session without an event to show would look like one without a match.
        if (this.#found.length === 0) return this.#unfinished(DECIDED, tried);
        break;
      }
      tried++;
    }
    return this.#shown();
  }

  /** Reads a range until it decides no more terms and there are enough events to show. */
  #readOf(range: CandidateRange, isNeeded: () => boolean): RangeRead {
    return {
      range,
      isNeeded: () => !this.#hasExcluded && isNeeded(),
      begin: () => this.#read.add(range),
      take: (event) => {
        this.#note(event);
        return !this.#hasExcluded && (this.#best < MAX_HITS || this.#decides(range));
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

  #decides({ terms }: CandidateRange): boolean {
    return [...terms].some((term) => this.#open.has(term));
  }

  #countWanted(terms: ReadonlySet<number>): number {
    return this.#wanted.filter((term) => terms.has(term)).length;
  }

  /**
   * The ranges to read for events to show: the one with an event that was found earlier, then the ones that may have the most
   * terms, and of these the ones that certainly have the most.
   */
  #worthShowing(): CandidateRange[] {
    const hasSeen = ({ first, last }: CandidateRange) =>
      Number(first <= this.#earlier.seen && this.#earlier.seen <= last);
    return this.#ranges
      .filter(({ terms }) => this.#countWanted(terms) > 0)
      .sort(
        (one, other) =>
          hasSeen(other) - hasSeen(one) ||
          this.#countWanted(other.terms) - this.#countWanted(one.terms) ||
          this.#countWanted(other.sure) - this.#countWanted(one.sure) ||
          one.first - other.first,
      );
  }

  /**
   * Whether the range may have an event with all terms, or a term that no event to show has. A session begins with the
   * instructions of its agent, which have many words, so quiet events do not count.
   */
  #mayAddTo(range: CandidateRange): boolean {
    const telling = this.#found.filter((event) => rank(event) < RANKS.quiet);
    if (telling.some(({ terms }) => this.#countWanted(terms) === this.#wanted.length)) return false;
    if (this.#countWanted(range.terms) === this.#wanted.length) return true;
    return this.#wanted.some((term) => range.terms.has(term) && !telling.some(({ terms }) => terms.has(term)));
  }

  #unfinished(from: number, tried = 0): Unfinished {
    const [best] = this.#inOrder();
    return {
      sessionId: this.#sessionId,
      from,
      proven: this.#wanted.filter((term) => !this.#open.has(term)),
      seen: best?.sequence ?? this.#earlier.seen,
      tried,
    };
  }

  /** The found events, with the most terms first. */
  #inOrder(): FoundEvent[] {
    return this.#found
      .filter(({ terms }) => this.#countWanted(terms) > 0)
      .sort(
        (one, other) =>
          this.#countWanted(other.terms) - this.#countWanted(one.terms) ||
          rank(one) - rank(other) ||
          one.sequence - other.sequence,
      );
  }

  /** The events to show; quiet ones only if there are no others. */
  #shown(): { hits: Hit[]; fit: number } {
    const found = this.#inOrder();
    const telling = found.filter((event) => rank(event) < RANKS.quiet);
    const [best] = found;
    const hasAll = best !== undefined && this.#countWanted(best.terms) === this.#wanted.length;
    return {
      hits: (telling.length > 0 ? telling : found).slice(0, MAX_HITS).map(({ show }) => show()),
      fit: best === undefined ? 0 : rank(best) + (hasAll ? 0 : RANKS.quiet + 1),
    };
  }
}

/** Events of an agent's program. They repeat messages, or occur in every session. */
const QUIET = new Set(['context.message', 'session.meta', 'record', 'notice']);
const SAID = new Set(['user.message', 'assistant.message']);
const RANKS = { said: 0, done: 1, quiet: 2 };

function rank({ eventType }: FoundEvent): number {
  if (SAID.has(eventType)) return RANKS.said;
  return QUIET.has(eventType) ? RANKS.quiet : RANKS.done;
}
