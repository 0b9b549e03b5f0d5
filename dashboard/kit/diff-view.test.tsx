import { expect, test } from 'vitest';
import { page } from 'vitest/browser';
import { render } from 'vitest-browser-react';
import { DiffView } from './diff-view.tsx';

const diff = async (lines: readonly string[], path = 'a.txt') =>
  (await render(<DiffView path={path} hunks={[{ oldStart: 7, newStart: 7, lines }]} />)).container;

test('a diff shows line numbers and marks changed words', async () => {
  const shown = await diff([' same', '-const size = 1;', '+const size = 2;']);
  const rows = [...shown.querySelectorAll('tr')].map(({ cells }) => [...cells].map((cell) => cell.textContent));
  expect(rows).toEqual([
    ['7', '7', ' same'],
    ['8', '', '-const size = 1;'],
    ['', '8', '+const size = 2;'],
  ]);
  expect([...shown.querySelectorAll('mark')].map((mark) => mark.textContent)).toEqual(['1', '2']);
});

test('a diff makes hidden characters visible, also in its title', async () => {
  const shown = (await diff(['+if (user\u202e) {'], 'src/\u202eab.ts')).textContent;
  expect(shown).toContain('user⟨U+202E⟩');
  expect(shown).toContain('src/⟨U+202E⟩ab.ts');
});

test('a long diff is cut, counts the rest and shows as much again with a click', async () => {
  const shown = await diff(Array.from({ length: 100_000 }, (_, index) => `+line ${index}`));
  const count = () => shown.querySelectorAll('tr').length;
  expect(count()).toBe(400);
  expect(shown.textContent).toContain('99,600 lines left');
  await page.getByRole('button', { name: 'Show more' }).click();
  await expect.poll(count).toBe(800);
});
