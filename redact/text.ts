import { createAssignmentReader, KEY_NAME, NAME_KEYWORDS } from './assignments.ts';
import { createCleanTexts } from './clean.ts';
import { createKeywordScanner } from './keywords.ts';
import { findKubernetesSecrets, KUBERNETES_KEYWORDS } from './kubernetes.ts';
import { findMarks, hideForeignMarks, type Span } from './mark.ts';
import { createNameReader, PASSWORD_ELSEWHERE } from './names.ts';
import { cutUp, MAX_PIECE } from './pieces.ts';
import { groupByKeyword, matchRule } from './rules/match.ts';
import type { Rule } from './rules/rule.ts';
import type { Session } from './sessions.ts';
import { createTableReader, INSERT_KEYWORD, type Place, type Table } from './tables.ts';
import type { Scopes, ValueIndex } from './value-index.ts';
import { viewPlain } from './views.ts';

/** The rule of the machine's own secrets. */
export const KNOWN_VALUE = 'known-value';

/** The masking of one event of a session. */
export interface Pass {
  session: Session;
  count(rule: string, secret: string): void;
  /** Restores the original pieces from the pieces of the copy; see `hideForeignMarks`. */
  show?(piece: string): string;
}

export type TextRedactor = ReturnType<typeof createTextRedactor>;

const SHORTEST = 8;
/** How many letters of the second token the first match may include. */
const MAX_OVERLAP = 8;
/** Masking one secret may reveal a neighbour. Usually there are two rounds. Each masks at least one more letter. */
const ROUNDS = 8;
/** `allow` has the rule ids and whole marks that are let through. */
export function createTextRedactor(rules: readonly Rule[], index: ValueIndex, allow: ReadonlySet<string>) {
  const { keywords, byKeyword } = groupByKeyword(rules);
  const readName = createNameReader();
  const tables = createTableReader(readName);
  const readAssignment = createAssignmentReader(readName, tables);
  const scan = createKeywordScanner([...NAME_KEYWORDS, ...keywords, ...KUBERNETES_KEYWORDS, INSERT_KEYWORD]);
  const firstOfKubernetes = NAME_KEYWORDS.length + keywords.length;
  const insert = firstOfKubernetes + KUBERNETES_KEYWORDS.length;
  const clean = createCleanTexts(index);
  const withoutKnown = createCleanTexts(index);

  /** `resumed`: the table that began in the piece before. `open`: the table that continues in the next piece. */
  function findSpans(text: string, scopes: Scopes, knownOnly: boolean, resumed?: Table) {
    const { spans, hasKeyword, open } = findSpansIn(text, scopes, knownOnly, resumed);
    const view = hasKeyword ? viewPlain(text) : undefined;
    if (view === undefined) return { spans, open };
    const found = findSpansIn(view.text, scopes, knownOnly).spans.map(view.locate);
    // A value after a name may end with its line. Providers' tokens have an end of their own.
    const endsWithLine = ({ rule, start, end, secret }: Span) =>
      rule === KEY_NAME && text.slice(start, end).includes('\n') && !secret.includes('\n');
    return { spans: [...spans, ...found.filter((span) => !endsWithLine(span))], open };
  }

  function findSpansIn(text: string, scopes: Scopes, knownOnly: boolean, resumed?: Table) {
    const spans: Span[] = tables.resume(text, resumed).map((place) => toSpan(text, place));
    let hasKeyword = false;
    let isKubernetes = false;
    // Text that a rule matched is not matched again from within. So a text of nothing but its keyword stays cheap.
    let matchedTo: Map<Rule, number> | undefined;

    function visitKeyword(keyword: number, start: number): void {
      if (knownOnly) return;
      if (keyword >= NAME_KEYWORDS.length) hasKeyword = true;
      if (keyword === insert) addNamed(tables.findInserted(text, start));
      else if (keyword >= firstOfKubernetes) isKubernetes = true;
      if (keyword < NAME_KEYWORDS.length) visitName(start);
      for (const rule of byKeyword[keyword - NAME_KEYWORDS.length] ?? []) {
        const to = matchedTo?.get(rule) ?? 0;
        // If two tokens have no blank between them, the first match may include the first letters of the second.
        const isNext = to > 0 && start <= to && start >= to - MAX_OVERLAP;
        if (start < to && !isNext) continue;
        const span = matchRule(rule, text, start, isNext);
        if (span === undefined) continue;
        matchedTo ??= new Map();
        matchedTo.set(rule, span.end);
        spans.push(span);
      }
    }

    function visitName(start: number, end?: number): void {
      addNamed(readAssignment(text, start, end));
    }

    function addNamed(places: readonly Place[]): void {
      for (const place of places) spans.push(toSpan(text, place));
    }

    scan(text, visitKeyword, index.filter(), (hash, end) => {
      const span = index.find(text, hash, end, scopes);
      if (span !== undefined) spans.push(span);
    });
    if (!knownOnly) {
      for (const { index, 0: name } of text.matchAll(PASSWORD_ELSEWHERE)) visitName(index, index + name.length);
    }
    if (isKubernetes) spans.push(...findKubernetesSecrets(text));
    return { spans, hasKeyword: hasKeyword || spans.length > 0, open: tables.open() };
  }

  function redactUnlessClean(text: string, pass: Pass, scopes: Scopes, knownOnly: boolean): string {
    if (text.length < SHORTEST) return text;
    const known = knownOnly ? withoutKnown : clean;
    if (known.has(text, scopes)) return text;
    const { hidden, show } = hideForeignMarks(text, pass.session.isOwn);
    const masked = show(redact(hidden, { ...pass, show }, scopes, knownOnly));
    if (masked === text) known.add(text);
    return masked;
  }

  function redact(text: string, pass: Pass, scopes: Scopes, knownOnly: boolean): string {
    if (text.length > MAX_PIECE) return redactPieces(text, pass, scopes, knownOnly);
    return redactPiece(text, pass, scopes, knownOnly).masked;
  }

  function redactPiece(text: string, pass: Pass, scopes: Scopes, knownOnly: boolean, resumed?: Table) {
    let masked = text;
    let open: Table | undefined;
    for (let round = 0; round < ROUNDS; round++) {
      const found = findSpans(masked, scopes, knownOnly, resumed);
      open = found.open;
      const next = maskSpans(masked, found.spans, pass);
      if (next === masked) break;
      masked = next;
    }
    return { masked, open };
  }

  /** Returns the text itself if nothing changes, since a copy would be as long. */
  function redactPieces(text: string, pass: Pass, scopes: Scopes, knownOnly: boolean): string {
    const pieces = cutUp(text);
    let open: Table | undefined;
    const masked = pieces.map((piece) => {
      const redacted = redactPiece(piece, pass, scopes, knownOnly, open);
      open = redacted.open;
      return redacted.masked;
    });
    return masked.every((piece, index) => piece === pieces[index]) ? text : masked.join('');
  }

  function maskSpans(text: string, spans: Span[], pass: Pass): string {
    if (spans.length === 0) return text;
    let masked = '';
    let from = 0;
    for (const { start, end, rule, secret } of joinSpans(text, spans)) {
      const replacement = maskValue(rule, secret, pass);
      if (replacement === undefined) continue;
      masked += text.slice(from, start) + replacement;
      from = end;
    }
    return from === 0 ? text : masked + text.slice(from);
  }

  /** The mark of a secret. Undefined if the secret is let through. */
  function maskValue(rule: string, found: string, { session, count, show }: Pass): string | undefined {
    const secret = show === undefined ? found : show(found);
    const mark = session.mark(rule, secret);
    if (allow.size > 0) {
      // The machine's own secrets can only be let through one by one.
      if (rule !== KNOWN_VALUE && allow.has(rule)) return undefined;
      if (allow.has(mark) || allow.has(session.markAnywhere(rule, secret))) return undefined;
    }
    count(rule, secret);
    return mark;
  }

  return {
    /** Masks known secrets, values with the name of a secret, and values that look like one. */
    redactText: (text: string, pass: Pass) => redactUnlessClean(text, pass, pass.session.scopes, false),
    /** Masks only the machine's own secrets: for file paths and ids. */
    redactKnown: (text: string, pass: Pass) => redactUnlessClean(text, pass, pass.session.repositories, true),
    /** Masks a whole value because of its name. */
    redactValue: (value: string, pass: Pass) => maskValue(KEY_NAME, value, pass) ?? value,
  };
}

const toSpan = (text: string, { start, end }: Place): Span => ({
  start,
  end,
  rule: KEY_NAME,
  secret: text.slice(start, end),
});

/** Marks are joined with overlapping spans, so that no mark is cut. A mark by itself is not a secret. */
const MARK = '';

/** Joins overlapping spans into one, named after the surest rule. */
function joinSpans(text: string, spans: Span[]): Span[] {
  const marks = findMarks(text).map((mark) => ({ ...mark, rule: MARK, secret: '' }));
  const joined: (Span & { marked: number })[] = [];
  for (const span of [...spans, ...marks].sort((one, other) => one.start - other.start)) {
    const last = joined.at(-1);
    const marked = span.rule === MARK ? span.end - span.start : 0;
    if (last === undefined || span.start >= last.end) {
      joined.push({ ...span, marked });
      continue;
    }
    const surer = rank(span) > rank(last) ? span : last;
    const end = Math.max(last.end, span.end);
    joined[joined.length - 1] = { ...surer, start: last.start, end, marked: last.marked + marked };
  }
  return joined.filter(({ start, end, marked }) => marked < end - start);
}

const RANKS: { [rule: string]: number } = { [MARK]: 0, [KEY_NAME]: 1, [KNOWN_VALUE]: 3 };

const rank = ({ rule, secret }: Span): number => (RANKS[rule] ?? 2) * 1e6 + Math.min(secret.length, 1e5);
