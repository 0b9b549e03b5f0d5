import type { SearchedTerm } from '../../contract/query.ts';
import type { Hit } from '../../contract/review.ts';
import type { Steps } from '../work.ts';
import { outsidePair } from './cut.ts';
import { type Effort, findTerm, isDisguised, prepareTerm, type Wanted } from './term.ts';
import { textsOf } from './texts.ts';

/** The match in an event. */
export interface Found {
  /** Indexes in the query of the terms that occur in the event. */
  terms: ReadonlySet<number>;
  /** An excerpt around the first match. */
  show(): Pick<Hit, 'text' | 'marks'>;
}

export interface Matcher {
  terms: readonly Wanted[];
  /**
   * Whether an event may have a term.
   * @param json its payload, with one byte in each code unit
   */
  mayMatch(json: string): boolean;
  /**
   * Searches an event for the terms. It yields the number of compared words now and then.
   * @returns undefined if no term occurs
   */
  match(eventType: string, payload: unknown): Steps<Found | undefined>;
}

/** Words compared between two yields, which takes 30 ms. */
const COMPARED_AT_ONCE = 30_000;
/** Code units that can be normalized in the time of one word comparison. */
const NORMALIZED_FOR_A_WORD = 256;

/** Matches the terms of a query against events. The index only knows which words a chunk contains, but not where they are. */
export function createMatcher(given: readonly SearchedTerm[]): Matcher {
  const terms = given.map(prepareTerm).filter((term) => term !== undefined);
  return {
    terms,
    mayMatch: (json) => terms.some(({ inJson }) => inJson.every((words) => words.test(json))) || isDisguised(json),
    *match(eventType, payload) {
      const texts = textsOf(eventType, payload);
      const length = texts.reduce((sum, text) => sum + text.length, 0);
      let effort: Effort = { left: COMPARED_AT_ONCE - length / NORMALIZED_FOR_A_WORD };
      const found = new Set<number>();
      let first: { text: string; at: number } | undefined;
      for (const [place, term] of terms.entries()) {
        for (const text of texts) {
          let range = findTerm(text, term, 0, text.length, effort);
          while (typeof range === 'number') {
            yield COMPARED_AT_ONCE - effort.left;
            effort = { left: COMPARED_AT_ONCE };
            range = findTerm(text, term, range, text.length, effort);
          }
          if (!range) continue;
          found.add(place);
          if (!term.not) first ??= { text, at: range[0] };
          break;
        }
      }
      yield COMPARED_AT_ONCE - effort.left;
      if (found.size === 0) return undefined;
      return { terms: found, show: () => (first ? excerpt(first.text, first.at, terms) : { text: '', marks: [] }) };
    },
  };
}

const BEFORE = 60;
const MAX_EXCERPT = 240;
/** How far a match may extend beyond the excerpt that it begins in, in code units. */
const LOOKED_AHEAD = 10_000;

/** About a line of text around the first match, with all matches in it. */
function excerpt(whole: string, at: number, terms: readonly Wanted[]): Pick<Hit, 'text' | 'marks'> {
  const text = whole.slice(0, at + LOOKED_AHEAD);
  const line = text.lastIndexOf('\n', at) + 1;
  const indent = /\s*/y;
  indent.lastIndex = line;
  const begin = outsidePair(text, Math.max(indent.test(text) ? Math.min(indent.lastIndex, at) : line, at - BEFORE));
  const end = outsidePair(text, Math.min(text.length, begin + MAX_EXCERPT));
  const marks: Hit['marks'] = [];
  for (const term of terms.filter(({ not }) => !not)) {
    for (let range = findTerm(text, term, begin, end); range; range = findTerm(text, term, range[1], end)) {
      marks.push([range[0] - begin, Math.min(range[1], end) - begin]);
    }
  }
  // One space for each code unit, so that the marks stay correct.
  const inOneLine = text.slice(begin, end).replace(/[\s\p{Cc}]/gu, ' ');
  return { text: inOneLine, marks: joined(marks) };
}

/** The marks in order, with overlapping ones joined. */
function joined(marks: Hit['marks']): Hit['marks'] {
  const result: Hit['marks'] = [];
  for (const [start, end] of marks.sort((one, other) => one[0] - other[0])) {
    const last = result.at(-1);
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else result.push([start, end]);
  }
  return result;
}
