import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../../contract/test/runs.ts';
import { readEvent } from '../../../transcript/entry/read.ts';
import { settleTimes } from '../../../transcript/entry/times.ts';
import { VOCABULARY } from '../../../transcript/vocabulary.ts';
import { buildTimeline } from './build.ts';
import { toHtml } from './html.ts';
import { toMarkdown } from './markdown.ts';
import { canOpen, flatten, locate } from './rows.ts';
import { buildStrip } from './strip.ts';

const FIELDS = [
  'text',
  'callId',
  'name',
  'input',
  'output',
  'detail',
  'source',
  'occurredAt',
  'subagent',
  'part',
  'of',
  'json',
];

const payload = fc.oneof(
  fc.dictionary(fc.constantFrom(...FIELDS), fc.jsonValue({ maxDepth: 3 })),
  fc.object({ maxDepth: 2 }),
);
const eventType = fc.oneof(fc.constantFrom(...Object.keys(VOCABULARY), '__proto__', 'constructor'), fc.string());

test('any event of any type becomes rows', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(eventType, payload), { maxLength: 20 }), (events) => {
      const entries = events.map(([type, value], index) =>
        readEvent({ sequence: index + 1, eventType: type, payload: value as never, createdAt: '2026-11-21T00:00:00Z' }),
      );
      const settled = settleTimes(entries);
      const timeline = buildTimeline(settled);
      const { items, orders } = timeline;
      const rows = flatten(items, canOpen);
      expect(new Set(rows.map(({ key }) => key)).size).toBe(rows.length);
      buildStrip(timeline);
      toHtml(timeline, toMarkdown(items), []);
      for (const { sequence } of entries) locate(items, sequence, orders);
    }),
    runs(300),
  );
});

test('a long text is kept in part, with its length', () => {
  const text = 'x'.repeat(100_000);
  expect(readEvent({ sequence: 1, eventType: 'user.message', payload: { text }, createdAt: '' })).toMatchObject({
    kind: 'prompt',
    length: 100_000,
    text: 'x'.repeat(24_000),
  });
});
