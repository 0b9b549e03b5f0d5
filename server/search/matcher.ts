import type { Term } from '../../contract/query.ts';
import type { Hit } from '../../contract/review.ts';
import type { Steps as Work } from '../work.ts';
import { outsidePair } from './cut.ts';
import { type Effort, findTerm, MOST_TRACED, prepareTerm, type Wanted } from './term.ts';
import { textsOf } from './texts.ts';

/** What was found in an event. */
export interface Found {
  /** Which of the terms occur in it, by their places. */
  terms: ReadonlySet<number>;
  /** A line's worth of text around the first match. */
  show(): Pick<Hit, 'text' | 'marks'>;
}

/** Where an event's payload begins and ends. */
interface Place {
  start: number;
  end: number;
}

export interface Matcher {
  terms: readonly Wanted[];
  /**
   * Which of the terms each of some events might hold, by a glance at the JSON text of their payloads, which begins where
   * the first of them does. Hands out after each term how much it has looked over.
   */
  glance(json: string, events: readonly Place[]): Work<readonly (readonly number[])[]>;
  /** Hands out, now and then, how many words it has compared. Undefined where none of the terms occurs. */
  match(eventType: string, payload: unknown, places?: readonly number[]): Work<Found | undefined>;
}

/** Words that are compared in one go, which takes 30 ms. */
const COMPARED_AT_ONCE = 30_000;
/** Code units that are normalized in the time in which a word is compared. */
const NORMALIZED_FOR_A_WORD = 256;

/** Reads events exactly: the index only knows which words occur in some events together. */
export function createMatcher(given: readonly Term[]): Matcher {
  const terms = given.map(prepareTerm).filter((term) => term !== undefined);
  const all = [...terms.keys()];
  const glances = terms.map(glanceFor);
  return {
    terms,
    *glance(json, events) {
      const found = events.map((): number[] => []);
      for (const [place, glance] of glances.entries()) {
        for (const n of glance ? eventsWith(glance, json, events) : events.keys()) found[n]?.push(place);
        yield json.length;
      }
      if (json.includes('\\u00')) for (const n of eventsWith(UNREADABLE, json, events)) found[n] = all;
      return found;
    },
    *match(eventType, payload, places = all) {
      const texts = textsOf(eventType, payload);
      const length = texts.reduce((sum, text) => sum + text.length, 0);
      let effort: Effort = { left: COMPARED_AT_ONCE - length / NORMALIZED_FOR_A_WORD };
      const found = new Set<number>();
      let first: { text: string; at: number } | undefined;
      for (const place of places) {
        const term = terms[place] as Wanted;
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

/** In which of the events the expression, which has the flag `g`, finds something; maybe in more. */
function eventsWith(expression: RegExp, json: string, events: readonly Place[]): number[] {
  const begin = events[0]?.start ?? 0;
  const found: number[] = [];
  expression.lastIndex = 0;
  for (let n = 0; n < events.length && expression.test(json); ) {
    const last = begin + expression.lastIndex - 1;
    while ((events[n]?.end ?? Number.POSITIVE_INFINITY) <= last) n++;
    const event = events[n];
    if (!event) break;
    // What stands between two events is nobody's.
    const isInside = event.start <= last;
    if (isInside) found.push(n++);
    expression.lastIndex = (isInside ? event.end : event.start) - begin;
  }
  return found;
}

/**
 * What may stand between two words of a term, as JSON writes it. Text that is JSON itself was escaped again, so that any
 * number of backslashes stands before a letter that belongs to them, or before the first letter of a word.
 */
const BETWEEN = '(?:\\\\(?:u[0-9a-f]{4}|[a-z])?|[^a-z0-9\\\\])*';

/** Letters may be escaped, and colours stand amid words. */
const UNREADABLE = /\\u00(?:[3-7]|1b)/gi;

/** A term's words, as they stand in JSON. Beyond ASCII there are several ways to write the same letter. */
function glanceFor({ units }: Wanted): RegExp | undefined {
  const words = units.flatMap(({ parts }) => parts);
  if (words.some((word) => /[^a-z0-9]/.test(word))) return undefined;
  return new RegExp(words.slice(0, MOST_TRACED).join(BETWEEN), 'gi');
}

const BEFORE = 60;
const LONGEST_EXCERPT = 240;
/** So far a term that stands in an excerpt may reach beyond it. */
const LOOKED_AHEAD = 10_000;

/** A line's worth of text around the first match, and all matches in it. */
function excerpt(whole: string, at: number, terms: readonly Wanted[]): Pick<Hit, 'text' | 'marks'> {
  const text = whole.slice(0, at + LOOKED_AHEAD);
  const line = text.lastIndexOf('\n', at) + 1;
  const indent = /\s*/y;
  indent.lastIndex = line;
  const begin = outsidePair(text, Math.max(indent.test(text) ? Math.min(indent.lastIndex, at) : line, at - BEFORE));
  const end = outsidePair(text, Math.min(text.length, begin + LONGEST_EXCERPT));
  const marks: Hit['marks'] = [];
  for (const term of terms.filter(({ not }) => !not)) {
    for (let range = findTerm(text, term, begin, end); range; range = findTerm(text, term, range[1], end)) {
      marks.push([range[0] - begin, Math.min(range[1], end) - begin]);
    }
  }
  // Each in the place of one, so that the marks stay right.
  const inOneLine = text.slice(begin, end).replace(/[\s\p{Cc}]/gu, ' ');
  return { text: inOneLine, marks: joined(marks) };
}

/** In order, those that overlap as one. */
function joined(marks: Hit['marks']): Hit['marks'] {
  const result: Hit['marks'] = [];
  for (const [start, end] of marks.sort((one, other) => one[0] - other[0])) {
    const last = result.at(-1);
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else result.push([start, end]);
  }
  return result;
}
