import { CATALOG } from './catalog.ts';

/*
 * The language of the search bar: `agent:codex repo:billing "connection reset" timeout* -retry after:7d`.
 * Every text is a query. What is not understood as a filter is looked for as words, and `problems` says so.
 */

export const FIELDS = [
  'agent',
  'repo',
  'branch',
  'file',
  'tool',
  'model',
  'person',
  'machine',
  'secret',
  'commit',
  'before',
  'after',
  'hour',
  'failed',
  'status',
] as const;
export type Field = (typeof FIELDS)[number];

/** Something that must occur in the events of a session, or must not. */
export interface Term {
  /** Its words in this order, one directly after the other. */
  text: string;
  /** The last of its words may go on. */
  prefix?: true;
  not?: true;
}

/** Several of one field are alternatives. */
export interface Filter {
  field: Field;
  value: string;
}

export interface Query {
  terms: Term[];
  filters: Filter[];
}

/** A query as it was read, and a sentence on each piece of it that does not count as it was written. */
export interface ParsedQuery extends Query {
  problems: string[];
}

/** A piece: `-`, which `--force` does not begin with, `field:`, then a quoted text, in which `\"` and `\\` are a quote and a backslash, or one without blanks; `*`. */
const PIECE = /(-(?!-)|)(?:([a-z]+):)?(?:"((?:\\["\\]|[^"])*)("?)(\*?)|(\S+))|\S/gi;

/** Reads what was typed; never throws. */
export const parseQuery = (text: string): ParsedQuery => parse(text, false);

/** Reads what was typed where only words are looked for: there is no filter and no exclusion. Never throws. */
export const parseWords = (text: string): ParsedQuery => parse(text, true);

function parse(text: string, onlyWords: boolean): ParsedQuery {
  const query: ParsedQuery = { terms: [], filters: [], problems: [] };
  for (const [whole, dash, name, quoted, closing, star, plain] of text.matchAll(PIECE)) {
    const minus = onlyWords ? '' : dash;
    if (quoted !== undefined && closing === '') query.problems.push(`The quote before ${quoted} is not closed.`);
    const value = quoted === undefined ? plain : quoted.replace(/\\(["\\])/g, '$1') + (name && star ? '*' : '');
    const field = onlyWords ? undefined : FIELDS.find((one) => one === name?.toLowerCase());
    if (field !== undefined && value !== undefined) {
      const objection = minus ? 'only words can be excluded' : (objectionTo(field, value) ?? tooMany(query.filters));
      if (objection === undefined) {
        query.filters.push({ field, value });
        continue;
      }
      query.problems.push(`${whole} is looked for as words: ${objection}.`);
    }
    const term = name === undefined && quoted !== undefined ? quotedTerm(value ?? '', star) : plainTerm(whole, minus);
    const objection = objectionToTerm(term, query.terms);
    if (objection !== undefined) query.problems.push(`${whole} is left out: ${objection}.`);
    else query.terms.push({ ...term, ...(minus && { not: true }) });
  }
  return query;
}

const quotedTerm = (text: string, star: string | undefined): Term => ({ text, ...(star && { prefix: true }) });

function plainTerm(whole: string, minus: string | undefined): Term {
  const text = whole.slice(minus?.length ?? 0);
  const bare = text.replace(/\*+$/, '');
  return { text: bare, ...(bare !== text && { prefix: true }) };
}

/** Each is looked up by itself: 24 are a line that somebody has pasted. */
const MOST_TERMS = 24;
/** In all terms together: a phrase is compared at every word of a text. */
const MOST_WORDS = 64;
/** Each leads to thousands of words: 24 of them kept the embedded store for 2 s. */
const MOST_PREFIXES = 4;
/** Each is compared with what every session has: more would keep the store from others. */
const MOST_FILTERS = 24;
/** Of `e*` there are words in everything. */
const SHORTEST_PREFIX = 3;

/** Why the term cannot be looked for; undefined where it can. */
function objectionToTerm({ text, prefix }: Term, before: readonly Term[]): string | undefined {
  const signs = text.match(/[\p{L}\p{N}]/gu)?.length ?? 0;
  if (signs === 0) return 'it has neither letters nor digits';
  if (prefix && signs < SHORTEST_PREFIX) return `before the * there must be ${SHORTEST_PREFIX} letters or digits`;
  if (before.length >= MOST_TERMS) return `only ${MOST_TERMS} words and phrases are looked for at once`;
  if (prefix && before.filter((term) => term.prefix).length >= MOST_PREFIXES)
    return `only ${MOST_PREFIXES} words with a * are looked for at once`;
  const words = [...before, { text }].reduce((sum, term) => sum + countWords(term), 0);
  return words > MOST_WORDS ? `only ${MOST_WORDS} words are looked for at once` : undefined;
}

const tooMany = (filters: readonly Filter[]): string | undefined =>
  new Set(filters.map(({ field, value }) => `${field}:${value}`)).size < MOST_FILTERS
    ? undefined
    : `only ${MOST_FILTERS} filters count at once`;

const countWords = ({ text }: Term) => text.match(/[\p{L}\p{N}\p{M}]+/gu)?.length ?? 0;

/** Writes a query so that `parseQuery` reads the same again. */
export function formatQuery({ terms, filters }: Query): string {
  const words = terms.map(({ text, prefix, not }) => `${not ? '-' : ''}${quoteTerm(text)}${prefix ? '*' : ''}`);
  return [...filters.map(({ field, value }) => `${field}:${quoteValue(value)}`), ...words].join(' ');
}

const quote = (text: string) => `"${text.replace(/["\\]/g, '\\$&')}"`;
const quoteValue = (value: string) => (/^[^\s"]+$/.test(value) ? value : quote(value));
const quoteTerm = (text: string) => (/^[^\s":*-][^\s":*]*$/.test(text) ? text : quote(text));

/** Why the value cannot be one of the field; undefined where it can. */
function objectionTo(field: Field, value: string): string | undefined {
  if (value.trim() === '') return `${field}: needs a value`;
  if (field === 'agent' && agentsCalled(value).length === 0) return `no agent is called ${value}`;
  if (field === 'failed' && !isOneOf(FAILED, value)) return 'failed: takes yes or no';
  if (field === 'status' && !isOneOf(STATUSES, value)) return 'status: takes active, completed or failed';
  if (field === 'hour' && !HOUR.test(value)) return 'hour: takes an hour of the week, UTC, such as wed-14';
  if ((field === 'before' || field === 'after') && timeOf(value, 0) === undefined) {
    return `${field}: takes a date such as 2026-11-21, or an age such as 7d, 12h or 2w`;
  }
  return undefined;
}

const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
const HOUR = new RegExp(`^(?:${DAYS.join('|')})-(?:[01]\\d|2[0-3])$`, 'i');

/** An hour of the week in UTC as `hour:` takes it, from Monday 00:00 on: 62 is `wed-14`. */
export const hourOfWeek = (hour: number): string =>
  `${DAYS[Math.floor(hour / 24)]}-${String(hour % 24).padStart(2, '0')}`;

export const FAILED = ['yes', 'no'] as const;
export const STATUSES = ['active', 'completed', 'failed'] as const;

const isOneOf = (words: readonly string[], value: string) => words.includes(value.toLowerCase());

/** The ids of the agents whose id or name begins with the value: `claude` is `claude-code`. */
export const agentsCalled = (value: string): string[] =>
  CATALOG.filter(({ agentId, displayName }) =>
    [agentId, displayName].some((name) => name.toLowerCase().startsWith(value.trim().toLowerCase())),
  ).map(({ agentId }) => agentId);

const UNITS: Record<string, number> = { h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 };

/**
 * What the value of `before:` or `after:` means, in epoch milliseconds: the beginning of a day in UTC, or an age.
 * @param now epoch milliseconds
 * @returns undefined where it means no time
 */
export function timeOf(value: string, now: number): number | undefined {
  const age = /^(\d{1,4})([hdw])$/i.exec(value);
  if (age) return now - Number(age[1]) * (UNITS[(age[2] as string).toLowerCase()] as number);
  if (!/^\d{4}-\d{2}-\d{2}$/.test(value)) return undefined;
  const time = Date.parse(value);
  return Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== value ? undefined : time;
}
