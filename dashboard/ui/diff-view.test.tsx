import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import { DiffView } from './diff-view.tsx';

const diff = (lines: readonly string[], path = 'a.txt') =>
  renderToStaticMarkup(<DiffView path={path} hunks={[{ oldStart: 7, newStart: 7, lines }]} />);

test('a diff has the numbers of its lines, and the words that changed', () => {
  const shown = diff([' same', '-const size = 1;', '+const size = 2;']);
  const rows = shown
    .split('</tr>')
    .slice(0, -1)
    .map((row) => row.replace(/.*<tr/, '<tr'));
  expect(rows.map((row) => row.replaceAll(/<(?!\/?mark)[^>]*>/g, '|').replaceAll(/\|+/g, '|'))).toEqual([
    '|7|7| |same|',
    '|8|-|const size = <mark>1</mark>;|',
    '|8|+|const size = <mark>2</mark>;|',
  ]);
});

test('a diff writes out what hides in it, in its title as well', () => {
  const shown = diff(['+if (user\u202e) {'], 'src/\u202eab.ts');
  expect(shown).toContain('user⟨U+202E⟩');
  expect(shown).toContain('src/⟨U+202E⟩ab.ts');
});

test('a long diff is cut, and the rest counted', () => {
  const shown = diff(Array.from({ length: 100_000 }, (_, index) => `+line ${index}`));
  expect(shown.match(/<tr/g)).toHaveLength(400);
  expect(shown).toContain('99,600 lines left');
});
