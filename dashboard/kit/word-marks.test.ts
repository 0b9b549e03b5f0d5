import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../contract/test/runs.ts';
import { markWords, splitAt } from './word-marks.ts';

const lines = (text: string) => text.split('\n').map((line) => ({ sign: line[0] ?? ' ', text: line.slice(1) }));
/** The marked words of each line. */
const marked = (text: string) => {
  const all = lines(text);
  const marks = markWords(all);
  return all.map(({ text: line }, index) => (marks.get(index) ?? []).map(([start, end]) => line.slice(start, end)));
};

test.each([
  ['one word of a line', ' a\n-const size = 1;\n+const size = 2;\n b', [[], ['1'], ['2'], []]],
  ['what was added', '-call(a)\n+call(a, b)', [[], [', b']]],
  ['each of several lines', '-x = 1\n-y = 2\n+x = 3\n+y = 4', [['1'], ['2'], ['3'], ['4']]],
  ['nothing in unrelated lines', '-import a from "b";\n+while (true) {}', [[], []]],
  ['nothing if lines were added or removed', '-a b\n+a c\n+a d', [[], [], []]],
  ['nothing in lines that are too long', `-${'a '.repeat(400)}b\n+${'a '.repeat(400)}c`, [[], []]],
])('marks %s', (_, text, words) => {
  expect(marked(text)).toEqual(words);
});

test('a cut text is complete, and every second part is marked', () => {
  expect(splitAt('size = 1;', 6, [[13, 14]])).toEqual(['size = ', '1', ';']);
  expect(splitAt('const', 0, [[13, 14]])).toEqual(['const', '', '']);
  const range = fc.tuple(fc.nat(20), fc.nat(20)).map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const);
  fc.assert(
    fc.property(fc.string(), fc.nat(10), range, (text, offset, one) => {
      expect(splitAt(text, offset, [one]).join('')).toBe(text);
    }),
    runs(200),
  );
});
