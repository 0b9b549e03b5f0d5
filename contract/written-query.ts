/* The parts of a query, and its written form. A page that only links to sessions does not need the parser. */

export const FIELDS = [
  'agent',
  'repo',
  'branch',
  'file',
  'edited',
  'command',
  'tool',
  'model',
  'person',
  'machine',
  'secret',
  'commit',
  'before',
  'after',
  'on',
  'hour',
  'failed',
  'tests',
  'status',
  'mcp',
  'skill',
  'subagent',
  'plugin',
  'not',
] as const;
export type Field = (typeof FIELDS)[number];

/** A text that must occur in the events of a session. */
export interface Term {
  /** Its words in this order, each directly after the other. */
  text: string;
  /** Its last word may be the beginning of a longer one. */
  prefix?: true;
  /**
   * It was typed as a filter but is not a valid one. It keeps its typed form, so that a parser finds the same problem again.
   */
  mistaken?: true;
}

/** Several filters of one field are alternatives; of `not`, each leaves out sessions. */
export interface Filter {
  field: Field;
  value: string;
}

export interface Query {
  terms: Term[];
  filters: Filter[];
}

/** Writes a query so that `parseQuery` reads the same query again. */
export function formatQuery({ terms, filters }: Query): string {
  const words = terms.map(({ text, prefix, mistaken }) => `${mistaken ? text : quoteTerm(text)}${prefix ? '*' : ''}`);
  return [...filters.map(({ field, value }) => `${field}:${quoteValue(value)}`), ...words].join(' ');
}

const quote = (text: string) => `"${text.replace(/["\\]/g, '\\$&')}"`;
const quoteValue = (value: string) => (/^[^\s"]+$/.test(value) ? value : quote(value));
const quoteTerm = (text: string) => (/^[^\s":*]+$/.test(text) ? text : quote(text));

export const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];

/** An hour of the week in UTC in the form for `hour:`, counted from Monday 00:00: 62 is `wed-14`. */
export const hourOfWeek = (hour: number): string =>
  `${DAYS[Math.floor(hour / 24)]}-${String(hour % 24).padStart(2, '0')}`;
