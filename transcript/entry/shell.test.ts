import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs, seeded } from '../../contract/test/runs.ts';
import { readShell } from './shell.ts';

const PIECES = [
  '$(',
  '`',
  '"',
  "'",
  '\\',
  '<<EOF\n',
  '>',
  '&',
  '&>',
  '|',
  ';',
  '(',
  ')',
  '#',
  '!',
  '\u000b',
  '\u00a0',
  '\ufeff',
  '\u2028',
  'sh -c ',
  'a',
  ' ',
  '\n',
];

test(`any text is read to its end, with no more commands than characters ${seeded}`, () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.array(fc.constantFrom(...PIECES), { maxLength: 200 }).map((pieces) => pieces.join('')),
  );
  fc.assert(
    fc.property(text, (line) => {
      expect(readShell(line).flatMap(({ words }) => words).length).toBeLessThanOrEqual(10 * line.length + 10);
    }),
    runs(300),
  );
});

test.each(['\u000b', '\u00a0', '\ufeff', '\u2028', '\f'])(
  'white space that a shell does not know (%j) is part of a word',
  (space) => {
    expect(readShell(`a${space}b c`)).toEqual([{ words: [`a${space}b`, 'c'], next: '' }]);
    expect(readShell(space)).toEqual([{ words: [space], next: '' }]);
  },
);
