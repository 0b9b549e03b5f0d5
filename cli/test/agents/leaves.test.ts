import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../../contract/test/runs.ts';
import type { CapturedEvent } from '../../../transcript/vocabulary.ts';
import type { JsonObject } from '../../agents/agent.ts';
import { AGENTS } from '../../agents/all.ts';
import { isObject } from '../../agents/shared/part.ts';
import { fixturesOf } from './corpus.ts';
import { ADDED, compareLeaves, leavesOf } from './leaves.ts';

/** Every fixture record with its events. */
const parsed = AGENTS.flatMap((agent) =>
  fixturesOf(agent).map((text) => {
    const place = { origin: { session: 'ses of place' }, file: 'file of place', position: 9_007_199_254_740_001 };
    return { record: JSON.parse(text) as JsonObject, events: agent.parse(JSON.parse(text), place) };
  }),
);

type Path = (string | number)[];

/** Paths of the leaves that come from the record, without fields that the parser may add. */
function placesOf(value: unknown, path: Path = []): Path[] {
  const name = path.slice(2, path[2] === 'source' ? 4 : 3).join('.');
  if (path[1] === 'eventType' || ADDED.has(name)) return [];
  const parts = Array.isArray(value) ? [...value.entries()] : isObject(value) ? Object.entries(value) : [];
  if (parts.length === 0) return [path];
  return parts.flatMap(([key, part]) => placesOf(part, [...path, key]));
}

const addedIn = (events: readonly CapturedEvent[]): string[] =>
  events.flatMap(({ payload: { source, ...fields } }) =>
    [...Object.entries(source).map(([name, value]) => [`source.${name}`, value] as const), ...Object.entries(fields)]
      .filter(([name]) => ADDED.has(name))
      .map(([, value]) => JSON.stringify(value)),
  );

const NEW_LEAF = 'a leaf that no record has';

const MUTATIONS: { [name: string]: (parent: JsonObject, key: string | number, events: CapturedEvent[]) => unknown } = {
  'is removed': (parent, key) => (Array.isArray(parent) ? parent.splice(Number(key), 1) : delete parent[key]),
  'is replaced': (parent, key) => (parent[key] = NEW_LEAF),
  'is duplicated': (parent, key, [event]) => Object.assign(event?.payload ?? {}, { again: parent[key] }),
};

test.each(Object.keys(MUTATIONS))('the comparison reports any leaf that %s', (name) => {
  fc.assert(
    fc.property(fc.constantFrom(...parsed), fc.nat(), ({ record, events: original }, at) => {
      const events = structuredClone(original);
      expect(compareLeaves(record, events)).toEqual({ lost: [], doubled: [] });
      const places = placesOf(events);
      const path = places[at % places.length];
      fc.pre(path !== undefined);
      const parent = path
        .slice(0, -1)
        .reduce<unknown>((value, key) => (value as JsonObject)[key], events) as JsonObject;
      const key = path.at(-1) ?? '';
      const leaf = JSON.stringify(parent[key]);
      // A leaf that an added field repeats is still there after its removal from the other place.
      fc.pre(!addedIn(events).includes(leaf));
      // Removing an empty container may leave its parent as an empty container.
      fc.pre(leaf !== '{}' && leaf !== '[]');
      MUTATIONS[name]?.(parent, key, events);
      const { lost, doubled } = compareLeaves(record, events);
      if (name === 'is duplicated') expect(doubled).toContain(leaf);
      else expect(lost).toContain(leaf);
      if (name === 'is replaced') expect(doubled).toContain(JSON.stringify(NEW_LEAF));
    }),
    runs(100),
  );
});

test('a leaf is a string, a number, a boolean, null or an empty container', () => {
  expect([...leavesOf({ a: [1, 'x', null, {}, []], b: { c: true } })].sort()).toEqual([
    '"x"',
    '1',
    '[]',
    'null',
    'true',
    '{}',
  ]);
});
