import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../contract/test/runs.ts';
import type { Entry } from '../../../transcript/entry/entry.ts';
import { joinAround } from '../../../transcript/entry/join.ts';
import { readRevisions } from '../../../transcript/entry/revisions.ts';
import { splitPayload } from '../../../transcript/parts.ts';
import { buildTimeline } from './build.ts';
import { type Item, entriesOf as shownIn } from './items.ts';
import { failuresOf, flatten, locate } from './rows.ts';
import { buildStrip } from './strip.ts';
import { entriesOf } from './test/events.ts';

type Given = [eventType: string, payload?: Record<string, unknown>, seconds?: number];

const written = (record: string, revision: number, ...events: [string, object?][]): Given[] =>
  events.map(([eventType, payload], index) => [
    eventType,
    { ...payload, source: { record, revision, ...(events.length > 1 && { index }) } },
  ]);

const keys = (items: readonly Item[]) => flatten(items, () => true).map(({ key }) => key);
const said = (items: readonly Item[]) =>
  flatten(items, () => true).flatMap(({ item }) => shownIn(item).map((entry) => ('text' in entry ? entry.text : '')));

describe('a message that is written again after the results of its tools', () => {
  const asked: [string, object][] = [
    ['assistant.message', { text: 'I look.' }],
    ['usage', { responseId: 'm', outputTokens: 40 }],
  ];
  const called: [string, object][] = [...asked, ['tool.call', { callId: 'c', name: 'shell' }]];
  const answered: [string, object][] = [...called, ['tool.result', { callId: 'c', isError: true }]];
  const before = [['user.message', { text: 'Look' }] as Given, ...written('m', 10, ...asked)];
  const after = [
    ...before,
    ['user.message', { text: 'And?' }] as Given,
    ...written('m', 20, ...called),
    ...written('m', 30, ...answered),
  ];
  const { items, usage, toolCalls, failures, orders } = buildTimeline(entriesOf(...after));

  test('stays in place with its latest content', () => {
    expect(keys(buildTimeline(entriesOf(...before)).items)).toEqual(['m1', 'm2']);
    expect(items).toMatchObject([
      { key: 'm1', sequence: 1, order: 1 },
      { key: 'm2', sequence: 8, order: 2, entry: { text: 'I look.' } },
      { kind: 'tool', sequence: 10, order: 3.000001, failed: true, results: [{ sequence: 11 }] },
      { key: 'm4', sequence: 4 },
    ]);
    expect([usage.total.output, toolCalls, failures]).toEqual([40, 1, 1]);
  });

  test('is found by every link, old and new', () => {
    const opened = (sequence: number) => locate(items, sequence, orders)?.key;
    expect([2, 5, 8].map(opened)).toEqual(['m2', 'm2', 'm2']);
    expect([7, 10, 11].map(opened)).toEqual(['t3.000001', 't3.000001', 't3.000001']);
    // Usage reports have no rows.
    expect([3, 6, 9].map(opened)).toEqual(['m2', 'm2', 'm2']);
    expect(opened(4)).toBe('m4');
  });

  test('is one step between failures, in its place', () => {
    const all = buildTimeline(entriesOf(...after, ['error', { text: 'Lost' }])).items;
    expect(failuresOf(all).map(({ order }) => order)).toEqual([3.000001, 12]);
  });

  test('is counted once in the strip', () => {
    const strip = buildStrip(buildTimeline(entriesOf(...after)));
    expect(strip.marks.map(({ kind }) => kind)).toEqual(['person', 'person', 'answer', 'run', 'failure']);
  });

  test('keeps its earlier revisions', () => {
    const [, message] = items;
    expect(message && shownIn(message)[0]?.earlier?.map(({ sequence }) => sequence)).toEqual([2, 5]);
  });

  test('has no duration that only comes from the time of writing', () => {
    expect(items[2]).not.toHaveProperty('durationMs');
  });
});

test('a message that becomes shorter leaves nothing behind', () => {
  const long = written('m', 1, ['assistant.message', { text: 'a' }], ['error', { text: 'b' }]);
  const { items, orders } = buildTimeline(entriesOf(...long, ...written('m', 2, ['assistant.message', { text: 'c' }])));
  expect(said(items)).toEqual(['c']);
  expect([1, 2, 3].map((sequence) => locate(items, sequence, orders)?.key)).toEqual(['m1', 'm1', 'm1']);
});

test('records that are written once stay in the order of their events', () => {
  const entries = entriesOf(...written('a', 5, ['error', { text: '1' }]), ...written('b', 2, ['error', { text: '2' }]));
  const revisions = readRevisions(entries);
  expect(entries.map((entry) => revisions.standingAt(entry))).toEqual(entries.map((entry) => [entry]));
  expect(revisions.orders.size).toBe(0);
});

test.each(['joined', 'not joined yet'])('a large payload in parts belongs to its record: %s', (state) => {
  const source = { agent: 'gemini-cli', session: 's', file: 'f', position: 0, record: 'm', revision: 2 };
  const text = 'word '.repeat(2000);
  const parts = splitPayload(source, JSON.stringify({ source, text }), 2_000);
  const sent = parts.map((part): Given => ['assistant.message', { ...part }]);
  const entries: (Entry | undefined)[] = entriesOf(...written('m', 1, ['assistant.message', { text: 'w' }]), ...sent);
  if (state === 'joined') joinAround(entries, 1, entries.length);
  const { items, orders } = buildTimeline(entries);
  const rows = flatten(items, () => true).filter(({ item }) => item.kind !== 'quiet');
  expect(rows).toHaveLength(state === 'joined' ? 1 : parts.length);
  for (let sequence = 1; sequence <= entries.length; sequence++) expect(locate(items, sequence, orders)).toBeDefined();
});

const writings = fc.array(
  fc.record({
    record: fc.constantFrom(undefined, 'a', 'b', 'c'),
    revision: fc.integer({ min: 1, max: 3 }),
    length: fc.integer({ min: 1, max: 3 }),
  }),
  { maxLength: 14 },
);

test('records are in the order of their first revisions, with the content of the last, in any order of events', () => {
  fc.assert(
    fc.property(writings, fc.nat(), (all, cut) => {
      const events = all.flatMap(({ record, revision, length }, at): Given[] => {
        const texts = Array.from({ length }, (_, each): [string, Record<string, unknown>] => [
          'error',
          { text: `${at}.${each}` },
        ]);
        return record === undefined ? texts : written(record, revision, ...texts);
      });
      const places = new Map<string, { at: number; revision: number }>();
      for (const [at, { record, revision }] of all.entries()) {
        const name = record ?? `once ${at}`;
        const known = places.get(name);
        if (known === undefined) places.set(name, { at, revision });
        else if (revision >= known.revision) Object.assign(known, { at, revision });
      }
      const expected = [...places.values()].flatMap(({ at }) =>
        Array.from({ length: all[at]?.length ?? 0 }, (_, each) => `${at}.${each}`),
      );
      const entries = entriesOf(...events);
      const { items, orders } = buildTimeline(entries);
      expect(said(items)).toEqual(expected);
      const order = items.map((item) => item.order);
      expect(order).toEqual([...new Set(order)].sort((a, b) => a - b));
      for (const { sequence } of entries) expect(locate(items, sequence, orders)).toBeDefined();

      // Existing items keep their rows and their order when more events arrive.
      const earlier = keys(buildTimeline(entries.slice(0, cut % (entries.length + 1))).items);
      const later = keys(items);
      const kept = earlier.filter((key) => later.includes(key));
      expect(later.filter((key) => kept.includes(key))).toEqual(kept);
    }),
    runs(300),
  );
});
