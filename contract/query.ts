import { CATALOG } from './catalog.ts';
import { type Calendar, DAY_MS, type Day, UTC } from './time-zone.ts';
import { DAYS, FIELDS, type Field, type Filter, type Query, type Term } from './written-query.ts';

/*
 * The language of the search bar: `agent:codex repo:billing "connection reset" timeout* not:retry after:7d`.
 * A dash is part of a word, as in `rm -rf`; only `not:` leaves out sessions.
 * Every text is a query. An invalid filter is searched as words, and `problems` says why.
 */

/** The field with this name, or with a written-out form of it. */
const fieldOf = (name: string | undefined): Field | undefined =>
  name === 'repository' ? 'repo' : FIELDS.find((one) => one === name);

/** A parsed query, with a sentence about each piece that is not used as it was written. */
export interface ParsedQuery extends Query {
  problems: string[];
}

/**
 * A condition: `field:`, a text and `*`. Only the text is required. A text has no spaces, or is quoted. In quotes, `\"` and `\\` are a quote
 * and a backslash.
 */
const CONDITION = /(?:([a-z]+):)?-?"((?:\\["\\]|[^"])*)("?)(\*?)|(?:([a-z]+):)?(\S+)/gi;

/** Reads a typed query; never throws. */
export const parseQuery = (text: string): ParsedQuery => parse(text, false);

/** Reads a query that has only words: no filters and no exclusions. Never throws. */
export const parseWords = (text: string): ParsedQuery => parse(text, true);

function parse(text: string, onlyWords: boolean): ParsedQuery {
  const query: ParsedQuery = { terms: [], filters: [], problems: [] };
  for (const [whole, quotedName, quoted, closing, star, plainName, plain] of text.matchAll(CONDITION)) {
    const name = quotedName ?? plainName;
    if (quoted !== undefined && closing === '') query.problems.push(`The quote before ${quoted} is not closed.`);
    const value = quoted === undefined ? plain : quoted.replace(/\\(["\\])/g, '$1') + (name && star ? '*' : '');
    const field = onlyWords ? undefined : fieldOf(name?.toLowerCase());
    let isMistaken = false;
    if (field !== undefined && value !== undefined) {
      const objection = objectionTo(field, value, query) ?? tooMany(query.filters);
      if (objection === undefined) {
        query.filters.push({ field, value: SYNONYMS[field]?.[value.toLowerCase()] ?? value });
        continue;
      }
      query.problems.push(`${whole} is searched as words: ${objection}.`);
      // An unclosed quote extends to the end of the text. Marked as mistaken, it would swallow the pieces that are written
      // after it.
      isMistaken = closing !== '';
    } else if (!onlyWords && NO_FIELD.test(plain === undefined ? '' : whole)) {
      query.problems.push(`${whole} is searched as words: there is no filter ${name}:.`);
      isMistaken = true;
    }
    const term = name === undefined && quoted !== undefined ? quotedTerm(value ?? '', star) : plainTerm(whole);
    const objection = objectionToTerm(term, termsOf(query));
    if (objection !== undefined) query.problems.push(`${whole} is left out: ${objection}.`);
    else query.terms.push({ ...term, ...(isMistaken && { mistaken: true }) });
  }
  return query;
}

/** A text that must occur in the events of a session, or must not. */
export interface SearchedTerm extends Term {
  not?: true;
}

/** The terms of a query, and after them the texts that `not:` excludes. */
export const termsOf = ({ terms, filters }: Query): SearchedTerm[] => [
  ...terms,
  ...filters.flatMap(({ field, value }) => (field === 'not' ? { ...plainTerm(value), not: true as const } : [])),
];

/**
 * A word, a colon and a value, as in a filter. It does not match an address, a path, a type such as `std::string` or a position
 * in a file.
 */
const NO_FIELD = /^[a-z]{2,}:[a-z][\w.-]*$/;

const quotedTerm = (text: string, star: string | undefined): Term => ({ text, ...(star && { prefix: true }) });

function plainTerm(text: string): Term {
  const bare = text.replace(/\*+$/, '');
  return { text: bare, ...(bare !== text && { prefix: true }) };
}

/** Each term is a lookup. 24 terms are about a pasted line. */
const MAX_TERMS = 24;
/** The limit for all terms together, because a phrase is compared at every word of a text. */
const MAX_WORDS = 64;
/** Each prefix expands to thousands of words: 24 of them blocked the embedded store for 2 s. */
const MAX_PREFIXES = 4;
/** Each filter is compared with the values of every session. More filters would block the store for others. */
const MAX_FILTERS = 24;
/** Every text contains words that begin with `e`. */
const MIN_PREFIX = 3;

/** Why a search cannot use the term; undefined if it can. */
function objectionToTerm({ text, prefix }: Term, before: readonly Term[]): string | undefined {
  const signs = text.match(/[\p{L}\p{N}]/gu)?.length ?? 0;
  if (signs === 0) return 'it has neither letters nor digits';
  if (prefix && signs < MIN_PREFIX) return `before the * there must be ${MIN_PREFIX} letters or digits`;
  if (before.length >= MAX_TERMS) return `a search takes at most ${MAX_TERMS} words and phrases`;
  if (prefix && before.filter((term) => term.prefix).length >= MAX_PREFIXES)
    return `a search takes at most ${MAX_PREFIXES} words with a *`;
  const words = [...before, { text }].reduce((sum, term) => sum + countWords(term), 0);
  return words > MAX_WORDS ? `a search takes at most ${MAX_WORDS} words` : undefined;
}

const tooMany = (filters: readonly Filter[]): string | undefined =>
  new Set(filters.map(({ field, value }) => `${field}:${value}`)).size < MAX_FILTERS
    ? undefined
    : `only ${MAX_FILTERS} filters count at once`;

const countWords = ({ text }: Term) => text.match(/[\p{L}\p{N}\p{M}]+/gu)?.length ?? 0;

/** Why the value is not valid for the field; undefined if it is. */
function objectionTo(field: Field, value: string, before: Query): string | undefined {
  if (value.trim() === '') return `${field}: needs a value`;
  if (field === 'not') return objectionToTerm(plainTerm(value), termsOf(before));
  if ((field === 'file' || field === 'edited') && value.startsWith('*')) {
    return `${field}: takes the beginning of a name, such as ${field}:queue*`;
  }
  if (field === 'agent' && agentsCalled(value).length === 0) return `no agent is called ${value}`;
  if (field === 'failed' && !isOneOf([...FAILED, ...Object.keys(SYNONYMS.failed ?? {})], value)) {
    return 'failed: takes yes or no';
  }
  if (field === 'tests' && !isOneOf([...TESTS, ...Object.keys(SYNONYMS.tests ?? {})], value)) {
    return 'tests: takes red, green or fixed';
  }
  if (field === 'status' && !isOneOf(STATUSES, value)) return 'status: takes active, completed or failed';
  if (field === 'hour' && !HOUR.test(value)) return 'hour: takes an hour of the week, UTC, such as wed-14';
  if (field === 'on' && dayOf(value, 0, UTC) === undefined) {
    return 'on: takes a day such as 2026-11-21, today, yesterday or a weekday';
  }
  if ((field === 'before' || field === 'after') && timeOf(value, 0, UTC) === undefined) {
    return `${field}: takes a date such as 2026-11-21, today, yesterday, a weekday, a time such as 2026-11-21T14:30Z, or an age such as 7d, 12h or 2w`;
  }
  return undefined;
}

const HOUR = new RegExp(`^(?:${DAYS.join('|')})-(?:[01]\\d|2[0-3])$`, 'i');

/** The most characters of a command that `command:` compares. A longer value is cut to this length. */
export const MAX_COMMAND = 120;

export const FAILED = ['yes', 'no'] as const;
/** How the last test run of a session ended; `fixed`: it passed after an earlier one had failed. */
export const TESTS = ['red', 'green', 'fixed'] as const;
export const STATUSES = ['active', 'completed', 'failed'] as const;

/** Synonyms of values. */
const SYNONYMS: Partial<Record<Field, Record<string, string>>> = {
  failed: { true: 'yes', false: 'no' },
  tests: { failed: 'red', failing: 'red', passed: 'green', passing: 'green' },
};

const isOneOf = (words: readonly string[], value: string) => words.includes(value.toLowerCase());

/** The ids of the agents whose id or name begins with the value: `claude` is `claude-code`. */
export const agentsCalled = (value: string): string[] =>
  CATALOG.filter(({ agentId, displayName }) =>
    [agentId, displayName].some((name) => name.toLowerCase().startsWith(value.trim().toLowerCase())),
  ).map(({ agentId }) => agentId);

const AGE = /^(\d{1,4})([hdw])$/i;
const UNITS: Record<string, number> = { h: 3_600_000, d: DAY_MS, w: 7 * DAY_MS };
const DATE = /^\d{4}-\d{2}-\d{2}$/;
const TIME =
  /^(\d{4}-\d{2}-\d{2})T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,3})?)?(?:Z|[+-](?:0\d|1[0-4]):[0-5]\d)$/i;

/**
 * The time of a value of `before:` or `after:`: an exact time, an age, or the start of a day.
 * @param now epoch milliseconds
 * @returns epoch milliseconds; undefined if the value is not a time
 */
export function timeOf(value: string, now: number, calendar: Calendar): number | undefined {
  const age = AGE.exec(value);
  if (age) return now - Number(age[1]) * (UNITS[(age[2] as string).toLowerCase()] as number);
  const [, date] = TIME.exec(value) ?? [];
  if (date !== undefined) return dateOf(date) === undefined ? undefined : Date.parse(value.toUpperCase());
  const day = dayOf(value, now, calendar);
  return day === undefined ? undefined : calendar.startOf(day);
}

/**
 * The day that a value of `on:` names. A weekday is the most recent day with that name, which may be today.
 * @param now epoch milliseconds
 * @returns undefined if the value is not a day
 */
export function dayOf(value: string, now: number, calendar: Calendar): Day | undefined {
  const today = calendar.dayAt(now);
  const daysAgo = daysSince(value.toLowerCase(), today);
  return daysAgo === undefined ? dateOf(value) : today - daysAgo * DAY_MS;
}

function dateOf(value: string): Day | undefined {
  if (!DATE.test(value)) return undefined;
  const day = Date.parse(value);
  return Number.isNaN(day) || new Date(day).toISOString().slice(0, 10) !== value ? undefined : day;
}

function daysSince(name: string, today: Day): number | undefined {
  if (name === 'today') return 0;
  if (name === 'yesterday') return 1;
  const day = WEEKDAYS.findIndex((full) => name.length >= 3 && full.startsWith(name));
  return day < 0 ? undefined : (new Date(today).getUTCDay() - day + 7) % 7;
}

/** In the order in which `Date` counts them. */
const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
