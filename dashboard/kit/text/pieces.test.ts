import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../contract/test/runs.ts';
import { cutMarkdown } from './markdown-pieces.ts';
import { cutText } from './pieces.ts';

describe('a long text', () => {
  test.each([
    ['at the end of a line', 'one two\nthree four', 10, ['one two\n', 'three four']],
    ['at the end of a word', 'one two three', 9, ['one two ', 'three']],
    ['anywhere in an endless word', '0123456789', 4, ['0123', '4567', '89']],
    ['but not within a character', '👩‍💻👩‍💻👩‍💻', 8, ['👩‍💻', '👩‍💻', '👩‍💻']],
    ['but not before a combining mark', 'abcde\u0301f', 5, ['abcd', 'e\u0301f']],
    ['nowhere if it fits', 'short', 5, ['short']],
  ])('is cut %s', (_, text, most, pieces) => {
    expect(cutText(text, most)).toEqual(pieces);
  });

  test('is cut into pieces within the limit, which together are the text', () => {
    const text = fc.array(fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('\n', ' ', 'x'.repeat(30))));
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 40 }), (parts, most) => {
        const pieces = cutText(parts.join(''), most);
        expect(pieces.join('')).toBe(parts.join(''));
        for (const piece of pieces) expect(piece.length).toBeLessThanOrEqual(most);
      }),
      runs(200),
    );
  });
});

describe('a Markdown text', () => {
  test('is cut between blocks', () => {
    expect(cutMarkdown('one\n\ntwo\n\nthree', 6)).toEqual([
      { markdown: 'one' },
      { markdown: '\ntwo' },
      { markdown: '\nthree' },
    ]);
  });

  test.each([
    ['```js\na\n\n# b\n```', [{ code: 'a\n\n# b', language: 'js' }]],
    ['  ~~~\n  a\n ~~\n~~~~\nb', [{ code: 'a\n~~', language: '' }, { markdown: 'b' }]],
    ['a\n```\nnever closed', [{ markdown: 'a' }, { code: 'never closed', language: '' }]],
    ['- ```js\n  a\n  ```\n- b', [{ markdown: '- ```js\n  a\n  ```\n- b' }]],
    ['``` no `fence`', [{ markdown: '``` no `fence`' }]],
  ])('%j has pieces of their own for fenced code', (text, pieces) => {
    expect(cutMarkdown(text, 1000)).toEqual(pieces);
  });

  test.each([
    '>'.repeat(3000),
    '- '.repeat(1500),
    '1. '.repeat(40),
    `${' '.repeat(90)}- far`,
    '> - '.repeat(4),
    '> > > > > > > a\n- - - - - - - b',
  ])('shows %.20s… as it is written', (line) => {
    expect(cutMarkdown(`before\n${line}\nafter`, 6000)).toEqual([
      { markdown: 'before' },
      { code: line, language: '' },
      { markdown: 'after' },
    ]);
  });

  test('keeps reasonable quotations and lists', () => {
    const text = '> > quoted\n\n- a\n  - b\n    1. c\n\n- - -';
    expect(cutMarkdown(text, 6000)).toEqual([{ markdown: text }]);
  });

  test('loses no line', () => {
    const line = fc.constantFrom(
      'a b',
      '',
      '```',
      '```js',
      '~~~',
      '> '.repeat(20),
      '- ```',
      '    code',
      'word '.repeat(9),
    );
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        const shown = cutMarkdown(lines.join('\n'), 40).map((piece) => ('code' in piece ? piece.code : piece.markdown));
        const wordsOf = (text: string) => text.match(/[a-z>]+/g)?.filter((word) => word !== 'js') ?? [];
        expect(wordsOf(shown.join('\n'))).toEqual(wordsOf(lines.join('\n')));
      }),
      runs(200),
    );
  });
});
