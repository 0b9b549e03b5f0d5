import { ADD_ON_KINDS, type AddOnKind } from '../../contract/names.ts';
import { MAX_COMMAND } from '../../contract/query.ts';
import { storable } from '../store/columns.ts';
import type { SessionValueRow } from '../store/schema.ts';
import { hoursOfWeek } from './day-rows.ts';
import type { Day, Facts } from './facts.ts';

export type Value = Pick<SessionValueRow, 'field' | 'name' | 'value'>;

/** The values by which a search finds a session, besides its words. */
export function valuesOf(facts: Facts): Value[] {
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
    ['file', [...facts.files.keys(), ...facts.reads]],
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
  const values = found.flatMap(([field, all]) => [...all].map((text) => toValue(field, text)));
  return [...new Map(values.map((value) => [keyOf(value), value])).values()].filter(({ value }) => value !== '');
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

function testsOf({ testsPassed, milestones }: Facts): string[] {
  if (testsPassed === undefined) return [];
  if (!testsPassed) return ['red'];
  return milestones.some(({ kind, passed }) => kind === 'tests' && passed === false) ? ['green', 'fixed'] : ['green'];
}

/** A file or a repository is found by its last name. */
function toValue(field: Value['field'], text: string): Value {
  const value = storable(text);
  const last =
    field === 'file' || field === 'edited' || field === 'repository'
      ? value.split(/[/\\]/).findLast((part) => part !== '')
      : value;
  return { field, name: (last ?? value).toLowerCase(), value };
}

const keyOf = ({ field, value }: Value) => `${field} ${value}`;

/** The values that were added and the values that were removed. */
export function compareValues(before: readonly Value[], after: readonly Value[]): { added: Value[]; removed: Value[] } {
  const [old, now] = [new Set(before.map(keyOf)), new Set(after.map(keyOf))];
  return {
    added: after.filter((value) => !old.has(keyOf(value))),
    removed: before.filter((value) => !now.has(keyOf(value))),
  };
}
