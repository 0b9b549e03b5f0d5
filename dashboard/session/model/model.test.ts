import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../contract/test/runs.ts';
import type { Entry } from '../../../transcript/entry/entry.ts';
import { readRevisions } from '../../../transcript/entry/revisions.ts';
import { settleTimes } from '../../../transcript/entry/times.ts';
import { buildTimeline } from './build.ts';
import { createModel, type Model, rebuildModel } from './model.ts';
import { call, entriesOf, result } from './test/events.ts';

const noRest = () => undefined;

/** Like the page: a stale model is rebuilt before it is shown. */
async function grow(entries: readonly Entry[], shownAt: (count: number) => boolean): Promise<Model> {
  let model = createModel();
  for (const [index, entry] of entries.entries()) {
    model.add(entry);
    if (!shownAt(index + 1)) continue;
    if (model.isStale()) model = await rebuildModel(entries.slice(0, index + 1), noRest);
    model.timeline();
  }
  return model.isStale() ? rebuildModel(entries, noRest) : model;
}

function fromScratch(entries: readonly Entry[]) {
  const settled = settleTimes(entries);
  return buildTimeline(settled, readRevisions(settled));
}

const lane = fc.constantFrom(undefined, undefined, 'a', 'b');
const id = fc.constantFrom('1', '2', '3');
const happening = fc.oneof(
  { weight: 3, arbitrary: id.map((callId) => ['tool.call', { callId, name: 'Read' }]) },
  { weight: 3, arbitrary: id.map((callId) => ['tool.result', { callId, isError: callId === '2' }]) },
  fc.constantFrom(
    ['user.message', { text: 'Do' }],
    ['assistant.message', { text: 'Done' }],
    ['record', { kind: 'duplicate:x' }],
    ['record', { kind: 'x' }],
    ['usage', { responseId: 'r', outputTokens: 3 }],
    ['subagent.started', { subagent: 'a' }],
    ['subagent.finished', { subagent: 'a', callId: '1' }],
    ['subagent.finished', { subagent: 'b', callId: '3' }],
  ),
);
const anyEvent = fc.record({
  happening,
  lane,
  record: fc.constantFrom(undefined, undefined, undefined, 'm'),
  revision: fc.integer({ min: 1, max: 2 }),
  isTimed: fc.boolean(),
  seconds: fc.integer({ min: 0, max: 900 }),
});

test('a timeline that grows event by event equals the timeline of all events at once', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyEvent, { maxLength: 24 }), fc.array(fc.boolean()), async (all, shown) => {
      const entries = entriesOf(
        ...all.map(({ happening: [eventType, payload], lane: subagent, record, revision, isTimed, seconds }) => {
          const source = { ...(subagent && { subagent }), ...(record && { record, revision }) };
          const more = isTimed ? {} : { occurredAt: undefined };
          return [eventType, { ...(payload as object), source, ...more }, seconds] as [string, object, number] as never;
        }),
      );
      const model = await grow(entries, (count) => shown[count % (shown.length + 1)] ?? false);
      expect(model.timeline()).toEqual(fromScratch(entries));
    }),
    runs(400),
  );
});

describe('a later event', () => {
  test('changes the version of its item', async () => {
    const entries = entriesOf(
      call('1'),
      call('2'),
      ['assistant.message', { text: 'Wait' }],
      result('2', { isError: true }),
    );
    const model = createModel();
    for (const entry of entries.slice(0, 3)) model.add(entry);
    const [group] = model.timeline().items;
    expect(group).toMatchObject({ kind: 'group', failures: 0 });
    model.add(entries[3] as Entry);
    expect(model.timeline().items[0]).toBe(group);
    expect(group).toMatchObject({ failures: 1, durationMs: 2000 });
  });

  test('makes the timeline stale only if it changes an earlier item', () => {
    const source = (revision: number) => ({ source: { record: 'm', revision } });
    const entries = entriesOf(['error', source(1)], ['error', {}], ['error', source(1)], ['error', source(2)]);
    const model = createModel();
    const isStale = entries.map((entry) => {
      model.add(entry);
      return model.isStale();
    });
    expect(isStale).toEqual([false, false, true, true]);
  });
});

test('many calls without a result cost no more than others', () => {
  const entries = entriesOf(...Array.from({ length: 30_000 }, (_, index) => call(String(index))));
  const answers = entriesOf(...Array.from({ length: 30_000 }, (_, index) => result(String(index))));
  const model = createModel();
  for (const entry of [...entries, ...answers]) model.add(entry);
  expect(model.timeline()).toMatchObject({ toolCalls: 30_000, items: [{ kind: 'group', calls: 30_000 }] });
});
