import { expect, test } from 'vitest';
import { rankWords } from './palette-rank.ts';

const LINES = [
  'Fix the flaky test in drain Claude Code ses_1',
  'Explain daring rain Codex ses_2',
  'Issue a secret',
  'go to Secrets',
  'A test that waits for the fix Codex ses_3',
];

const fitting = (typed: string) =>
  LINES.map((line) => ({ line, rank: rankWords(line, typed) }))
    .filter(({ rank }) => rank > 0)
    .sort((a, b) => b.rank - a.rank)
    .map(({ line }) => line);

test.each([
  ['drain', [LINES[0]]],
  ['secret', [LINES[2], LINES[3]]],
  ['sec', [LINES[2], LINES[3]]],
  ['fix test', [LINES[0], LINES[4]]],
  ['TEST codex', [LINES[4]]],
  ['nothing', []],
  ['rain', [LINES[1]]],
])('%s finds lines by the beginnings of words, not by letters anywhere', (typed, lines) => {
  expect(fitting(typed)).toEqual(lines);
});

test('an empty search matches everything', () => {
  expect(fitting('  ')).toHaveLength(LINES.length);
});
