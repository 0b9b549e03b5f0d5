import { FAILED, STATUSES, TESTS } from '../../contract/query.ts';
import { FIELDS, type Field } from '../../contract/written-query.ts';
import { fieldOf, splitTyped } from './bar.ts';

/** A suggestion that completes the typed text. */
export interface Suggestion {
  /** The field. A suggestion of a filter without a value has only this. */
  field: Field;
  value?: string;
  label: string;
  /** An explanation, shown in muted words beside the label. */
  hint?: string;
}

/** A value of a field that occurs in the organization. */
export interface KnownValue {
  value: string;
  label?: string;
  /** More texts by which it is found, shown beside the label instead of the value. */
  words?: string;
  /** The number of its sessions, if known. */
  count?: number;
}
export type KnownValues = Partial<Record<Field, readonly KnownValue[]>>;

const MOST = 8;

const HINTS: Record<Field, string> = {
  agent: 'agent that ran',
  repo: 'address or folder of the repository',
  branch: 'branch it worked on',
  file: 'file it read or changed',
  edited: 'file it changed',
  command: 'command it ran, such as npm test',
  tool: 'tool it called',
  model: 'model it talked to',
  person: 'member it belongs to: name, e-mail, me or nobody',
  machine: 'machine it ran on',
  secret: 'secret it was sent with',
  commit: 'hash of a commit it made',
  before: 'started before a date in your time zone, or e.g. 7d',
  after: 'started on or after a date in your time zone, or e.g. 7d',
  on: 'active on a day in your time zone: a date, today, tue',
  hour: 'active in an hour of the week (UTC), e.g. wed-14',
  failed: 'a call failed: yes or no',
  tests: 'last test run: red, green, or fixed on the way',
  status: 'active, completed or failed',
  mcp: 'MCP server it called',
  skill: 'skill it used, with the prefix of its plugin',
  subagent: 'type of sub-agent it started',
  plugin: 'plugin whose skills, servers or sub-agents it used',
  not: 'sessions without a word or a "phrase"',
};

export const FIXED: KnownValues = {
  failed: FAILED.map((value) => ({ value })),
  tests: [
    { value: TESTS[0], label: 'ended red' },
    { value: TESTS[1], label: 'ended green' },
    { value: TESTS[2], label: 'red first, then green' },
  ],
  on: [{ value: 'today' }, { value: 'yesterday' }],
  status: STATUSES.map((value) => ({ value })),
  before: [{ value: '1d' }, { value: '7d' }, { value: '30d' }],
  after: [
    { value: '1d', label: 'the last day' },
    { value: '7d', label: 'the last 7 days' },
    { value: '30d', label: 'the last 30 days' },
  ],
};

/** Completions of the piece that the person is typing; none for a plain word. */
export function suggest(text: string, known: KnownValues): Suggestion[] {
  const { head, tail } = splitTyped(text);
  const typed = fieldOf(tail);
  if (typed) return suggestValues(typed.field, typed.value, { ...known, ...FIXED });
  const [, dashed] = /^-([^-].*)$/.exec(tail) ?? [];
  if (dashed !== undefined) return [withoutWord(dashed)];
  const begun = tail.toLowerCase();
  if (begun === '' && head !== '') return [];
  return FIELDS.filter((field) => field.startsWith(begun)).map((field) => ({
    field,
    label: `${field}:`,
    hint: HINTS[field],
  }));
}

/** A dash is part of a word, as in `rm -rf`. A person who knows it from elsewhere may mean to leave the word out. */
const withoutWord = (word: string): Suggestion => ({
  field: 'not',
  value: word.replaceAll('"', ''),
  label: `not:${word}`,
  hint: `leaves out sessions with ${word}`,
});

function suggestValues(field: Field, typed: string, known: KnownValues): Suggestion[] {
  const wanted = typed.toLowerCase();
  const fits = (text: string | undefined) => text?.toLowerCase().includes(wanted) ?? false;
  const begins = ({ value, label = value, words = '' }: KnownValue) =>
    Number([value, label, words].some((text) => text.toLowerCase().startsWith(wanted)));
  return (known[field] ?? [])
    .filter(({ value, label, words }) => fits(value) || fits(label) || fits(words))
    .sort((a, b) => begins(b) - begins(a))
    .slice(0, MOST)
    .map(({ value, label, words }) => ({
      field,
      value,
      label: label ?? value,
      ...(label !== undefined && label !== value && { hint: words ?? value }),
    }));
}

/** The text with its last piece replaced by the suggested field. The person still has to type the value. */
export const withField = (text: string, field: Field): string => `${splitTyped(text).head}${field}:`;
