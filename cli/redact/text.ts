import { createAssignmentReader, KEY_NAME, NAME_KEYWORDS } from './assignments.ts';
import type { Budget } from './budget.ts';
import { createKeywordScanner } from './keywords.ts';
import { KNOWN_VALUE, type KnownFinder } from './known/finder.ts';
import { findMarks, type Marker, type Span } from './mark.ts';
import { findCutToken } from './rules/cut.ts';
import { matchRule, type PreparedRule, prepareRules } from './rules/match.ts';
import type { Rule } from './rules/rule.ts';

export interface TextRedactorOptions {
  rules: readonly Rule[];
  /** Asked for each text: what is known grows while sessions are read. */
  known: () => KnownFinder;
  mark: Marker;
  /** Rule ids and whole marks that are let through. */
  allow: ReadonlySet<string>;
  budget: Budget;
}

export interface TextRedactor {
  /** Masks what is known to be a secret, what is named like one and what looks like one. */
  redactText(text: string, count: Count): string;
  /** Masks only the machine's own secrets: for file paths and ids. */
  redactKnown(text: string, count: Count): string;
  /** Masks a whole value because of the name it stands under. */
  redactValue(value: string, count: Count): string;
}

export type Count = (rule: string) => void;

const SHORTEST = 8;
/** Masking one secret may bring a neighbour to light. Two rounds are the rule; each masks at least one more letter. */
const ROUNDS = 8;

export function createTextRedactor({ rules, known, mark, allow, budget }: TextRedactorOptions): TextRedactor {
  const prepared = prepareRules(rules);
  const readAssignment = createAssignmentReader();
  const scan = createKeywordScanner([...NAME_KEYWORDS, ...prepared.keywords], budget.step);

  function findSpans(text: string): Span[] {
    const spans = known()(text);
    let lastValue = -1;
    // What a rule has matched need not be matched again from within: a text of nothing but its keyword stays cheap.
    const matchedTo = new Map<PreparedRule, number>();
    scan(text, (keyword, start) => {
      budget.step();
      if (keyword >= NAME_KEYWORDS.length) {
        for (const rule of prepared.byKeyword[keyword - NAME_KEYWORDS.length] ?? []) {
          if (start < (matchedTo.get(rule) ?? 0)) continue;
          const span = matchRule(rule, text, start);
          if (span === undefined) continue;
          matchedTo.set(rule, span.end);
          spans.push(span);
        }
        return;
      }
      const value = readAssignment(text, start);
      if (value === undefined || value.start === lastValue) return;
      lastValue = value.start;
      spans.push({ ...value, rule: KEY_NAME, secret: text.slice(value.start, value.end) });
    });
    const cut = findCutToken(text);
    if (cut !== undefined) spans.push(cut);
    return spans;
  }

  function redactBy(find: (text: string) => Span[], text: string, count: Count): string {
    let current = text;
    for (let round = 0; round < ROUNDS && current.length >= SHORTEST; round++) {
      const next = maskSpans(current, find(current), count);
      if (next === current) break;
      current = next;
    }
    return current;
  }

  function maskSpans(text: string, spans: Span[], count: Count): string {
    if (spans.length === 0) return text;
    let masked = '';
    let from = 0;
    for (const span of joinSpans(text, spans)) {
      const replacement = mark(span.rule, span.secret);
      if (isAllowed(allow, span.rule, replacement)) continue;
      masked += text.slice(from, span.start) + replacement;
      from = span.end;
      count(span.rule);
    }
    return from === 0 ? text : masked + text.slice(from);
  }

  return {
    redactText: (text, count) => redactBy(findSpans, text, count),
    redactKnown: (text, count) => redactBy(known(), text, count),
    redactValue(value, count) {
      const replacement = mark(KEY_NAME, value);
      if (isAllowed(allow, KEY_NAME, replacement)) return value;
      count(KEY_NAME);
      return replacement;
    },
  };
}

/** The machine's own secrets can be let through one by one only. */
function isAllowed(allow: ReadonlySet<string>, rule: string, mark: string): boolean {
  return allow.size > 0 && (allow.has(mark) || (rule !== KNOWN_VALUE && allow.has(rule)));
}

/** Spans that overlap become one, named after the surest; a mark is never cut, and never masked for itself. */
function joinSpans(text: string, spans: Span[]): Span[] {
  const marks = findMarks(text);
  const joined: Span[] = [];
  for (const span of spans.flatMap((candidate) => keepMarks(candidate, marks)).sort((a, b) => a.start - b.start)) {
    const last = joined.at(-1);
    if (last === undefined || span.start >= last.end) {
      joined.push({ ...span });
      continue;
    }
    const surer = rank(span) > rank(last) ? span : last;
    joined[joined.length - 1] = { ...surer, start: last.start, end: Math.max(last.end, span.end) };
  }
  return joined;
}

function keepMarks(span: Span, marks: readonly { start: number; end: number }[]): Span[] {
  let { start, end } = span;
  let masked = 0;
  for (let index = findMarkAfter(marks, span.start); index < marks.length; index++) {
    const mark = marks[index];
    if (mark === undefined || mark.start >= span.end) break;
    start = Math.min(start, mark.start);
    end = Math.max(end, mark.end);
    masked += mark.end - mark.start;
  }
  return masked >= end - start ? [] : [{ ...span, start, end }];
}

/** The first mark that ends after a place, by halving: a text may have as many marks as spans. */
function findMarkAfter(marks: readonly { end: number }[], place: number): number {
  let [from, to] = [0, marks.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((marks[middle]?.end ?? 0) > place) to = middle;
    else from = middle + 1;
  }
  return from;
}

function rank(span: Span): number {
  const kind = span.rule === KNOWN_VALUE ? 2 : span.rule === KEY_NAME ? 0 : 1;
  return kind * 1e6 + Math.min(span.secret.length, 1e5);
}
