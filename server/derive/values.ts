import { ADD_ON_KINDS, type AddOnKind } from '../../contract/names.ts';
import { MAX_COMMAND } from '../../contract/query.ts';
import { storable } from '../store/columns.ts';
import { rowOfValue } from '../store/named-values.ts';
import type { SessionValueRow } from '../store/schema.ts';
import { hoursOfWeek } from './day-rows.ts';
import type { Day, Facts } from './facts.ts';

export type Value = Pick<SessionValueRow, 'field' | 'name' | 'path'>;

/** Values by all of their columns. */
export type Values = ReadonlyMap<string, Value>;

/** The values by which a search finds a session, besides its words. */
export function valuesOf(facts: Facts): Values {
  const tools = new Set([...facts.days.values()].flatMap(({ tools }) => [...tools.keys()]));
  const models = new Set([...facts.days.values()].flatMap(({ models }) => [...models.keys()]));
  if (facts.model) models.add(facts.model);
  const commits = facts.milestones.flatMap(({ hash }) => (hash === undefined ? [] : [hash]));
  const hours = [...facts.days].flatMap(([day, of]) => [...hoursOfWeek(day, of).keys()]);
  const halfHours = [...facts.days].flatMap(([day, of]) => [...of.halfHours.keys()].map((time) => `${day}T${time}`));
  const addOns = new Set([...facts.days.values()].flatMap(({ addOns }) => usedOf(addOns)));
  const found: [Value['field'], Iterable<string>][] = [
    ['repository', facts.repository === undefined ? [] : [facts.repository]],
    ['branch', facts.branches],
    // A file that it edited has no second row: `storedAs` in `store/find-sessions.ts`.
    ['file', [...facts.reads].filter((path) => !facts.files.has(path))],
    ['edited', facts.files.keys()],
    ['command', programsOf(facts)],
    ['tool', tools],
    ['model', models],
    ['commit', commits],
    ['hour', hours],
    ['half_hour', halfHours],
    ['tests', testsOf(facts)],
    ...ADD_ON_KINDS.map((kind): [AddOnKind, string[]] => [kind, namesOf(addOns, kind)]),
  ];
  const values = new Map<string, Value>();
  for (const [field, all] of found) {
    for (const text of all) {
      const value = toValue(field, text);
      if (value.name !== '') values.set(`${field} ${value.name} ${value.path}`, value);
    }
  }
  return values;
}

const usedOf = (addOns: Day['addOns']) => [...addOns].flatMap(([key, [calls]]) => (calls > 0 ? [key] : []));

const namesOf = (keys: ReadonlySet<string>, kind: AddOnKind) =>
  [...keys].filter((key) => key.startsWith(`${kind} `)).map((key) => key.slice(kind.length + 1));

/** The limit for each session. People hardly search for single commands of a session with more. */
const MAX_COMMANDS = 400;

/** The programs in shell commands, so that `command:` finds a program behind `cd … &&`. */
function programsOf({ commands }: Facts): Set<string> {
  const found = new Set<string>();
  for (const command of commands.keys()) {
    for (const part of command.split(/&&|\|\||[;|\n]/)) {
      if (found.size >= MAX_COMMANDS) return found;
      const program = part.trim().replace(/^(?:\w+=\S*\s+|(?:npx|bunx|sudo)\s+)+/, '');
      if (/^[\w./~$-]/.test(program)) found.add(program.slice(0, MAX_COMMAND).trim());
    }
  }
  return found;
}

function testsOf({ tests }: Facts): string[] {
  if (!tests) return [];
  if (!tests.passed) return ['red'];
  return tests.wereRed ? ['green', 'fixed'] : ['green'];
}

const toValue = (field: Value['field'], text: string): Value => ({ field, ...rowOfValue(field, storable(text)) });

/** The values that were added and the values that were removed. */
export const compareValues = (before: Values, after: Values): { added: Value[]; removed: Value[] } => ({
  added: missingIn(before, after),
  removed: missingIn(after, before),
});

const missingIn = (some: Values, all: Values): Value[] =>
  [...all].flatMap(([key, value]) => (some.has(key) ? [] : [value]));
