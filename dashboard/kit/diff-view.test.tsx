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

const TOKENS = 'constant string string-expression comment keyword parameter function punctuation link'.split(' ');

test.each(['light', 'dark'])('every colour of code can be read in changed words, in the %s theme', async (theme) => {
  document.documentElement.dataset.theme = theme;
  const shown = await diff(['-const size = 1;', '+const size = 2;']);
  const surface = colourOf('var(--surface)', document.body);
  const unreadable = [...shown.querySelectorAll('mark')].flatMap((mark) => {
    const sign = mark.closest('tr')?.dataset.sign;
    const grounds = [mark.closest('tr') as Element, mark].map((part) => getComputedStyle(part).backgroundColor);
    const ground = grounds.reduce((below, colour) => over(colourOf(colour, mark), below), surface);
    return [...TOKENS.map((token) => `--code-token-${token}`), '--text'].flatMap((name) => {
      const contrast = contrastOf(colourOf(`var(${name})`, mark), ground);
      return contrast < 4.5 ? [`${sign} ${name} ${contrast.toFixed(2)}`] : [];
    });
  });
  expect(unreadable).toEqual([]);
});

type Colour = readonly [red: number, green: number, blue: number, alpha: number];

/** The colour as sRGB bytes and a share of opacity, as a part of the page would show it. */
function colourOf(text: string, within: Element): Colour {
  const probe = within.appendChild(Object.assign(document.createElement('i'), { style: `color: ${text}` }));
  const context = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  if (!context) throw new Error('there is no canvas');
  context.fillStyle = getComputedStyle(probe).color;
  probe.remove();
  context.fillRect(0, 0, 1, 1);
  const [red = 0, green = 0, blue = 0, alpha = 0] = context.getImageData(0, 0, 1, 1).data;
  return [red, green, blue, alpha / 255];
}

const over = ([red, green, blue, alpha]: Colour, below: Colour): Colour => {
  const [r, g, b] = [red, green, blue].map((part, at) => part * alpha + (below[at] ?? 0) * (1 - alpha));
  return [r ?? 0, g ?? 0, b ?? 0, 1];
};

/** WCAG 2.2, the relative luminance and the contrast ratio. */
function contrastOf(one: Colour, other: Colour): number {
  const [low = 0, high = 0] = [one, other].map(luminanceOf).toSorted((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

function luminanceOf([red, green, blue]: Colour): number {
  const [r = 0, g = 0, b = 0] = [red, green, blue].map((byte) => {
    const part = byte / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
