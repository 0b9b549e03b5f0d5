import { expect, test } from 'vitest';
import { settleTimes } from '../../contract/entry/times.ts';
import { buildStrip } from './strip.ts';
import { call, entriesOf, result } from './test/events.ts';

test('marks and counts by time, a long pause being narrow but visible', () => {
  const strip = buildStrip(
    entriesOf(
      ['user.message', {}, 0],
      call('a', 'Write', { file_path: '/a', content: 'x' }),
      ['tool.result', { callId: 'a', isError: true }, 50],
      ['user.message', {}, 100_000],
      ['assistant.message', {}, 100_050],
    ),
    10,
  );
  expect(strip.bins[0]).toMatchObject({ count: 2, prompt: 1, edit: 2 });
  expect(strip.bins[4]).toMatchObject({ count: 1, error: 3 });
  expect(strip.bins.findIndex(({ idle }) => idle)).toBe(5);
  expect(strip.bins.reduce((sum, { count }) => sum + count, 0)).toBe(5);
  expect([1, 3, 4, 5, 99].map(strip.binOf)).toEqual([0, 4, 5, 9, 9]);
});

test('a session without events, or of one moment', () => {
  expect(buildStrip([], 5).bins).toHaveLength(5);
  expect(buildStrip(entriesOf(['user.message', {}, 0], ['error', {}, 0]), 2).bins).toMatchObject([
    { count: 1 },
    { count: 1 },
  ]);
});

test('an entry without a time of its own has that of the one before in its lane', () => {
  const untimed = { occurredAt: undefined };
  const entries = settleTimes(
    entriesOf(['record', untimed], ['user.message', {}, 5], result('a'), ['record', untimed]),
  );
  expect(entries.map((entry) => new Date(entry?.time ?? 0).getUTCSeconds())).toEqual([5, 5, 2, 2]);
});
