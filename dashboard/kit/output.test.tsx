import { beforeEach, describe, expect, test } from 'vitest';
import { page, userEvent } from 'vitest/browser';
import { render } from 'vitest-browser-react';
import { Code } from './code.tsx';
import { Output } from './output.tsx';

const LONG = '0123456789 '.repeat(400_000);
const output = async (text: string) => (await render(<Output text={text} />)).container;
const leftOf = ({ textContent }: Element) =>
  Number(/([\d,]+) characters left/.exec(textContent)?.[1]?.replaceAll(',', ''));

describe('terminal output', () => {
  beforeEach(() => {
    delete document.documentElement.dataset.theme;
  });

  test('has its colours and backgrounds', async () => {
    const span = (await output('a\u001b[1;31;44mb\u001b[0mc')).querySelector('span') as HTMLElement;
    const looks = ['light', 'dark'].map((theme) => {
      document.documentElement.dataset.theme = theme;
      const { color, backgroundColor, fontWeight } = getComputedStyle(span);
      return { color, backgroundColor, fontWeight };
    });
    for (const { color, backgroundColor, fontWeight } of looks) {
      expect(color).not.toBe(getComputedStyle(document.body).color);
      expect(backgroundColor).not.toMatch(/transparent|, 0\)/);
      expect(Number(fontWeight)).toBeGreaterThan(400);
    }
    expect(looks[0]?.color).not.toBe(looks[1]?.color);
    expect(span.textContent).toBe('b');
  });

  test('keeps a colour from one piece to the next', async () => {
    const shown = await output(`${'plain\n'.repeat(3_900)}\u001b[31m${'red\n'.repeat(2_000)}`);
    await page.getByRole('button', { name: 'Show more' }).click();
    const pieces = () =>
      [...shown.querySelectorAll('pre')].map((pre) => pre.querySelector('span')?.textContent.slice(0, 4));
    await expect.poll(pieces).toEqual(['red\n', 'red\n']);
  });

  test('makes hidden characters visible, also in copies', async () => {
    const shown = await output('rm \u202e\u001b[31mx\u001b[0m \u200b');
    expect(shown.textContent).toBe('rm ⟨U+202E⟩x ⟨U+200B⟩');
    window.getSelection()?.selectAllChildren(shown);
    await userEvent.copy();
    const field = document.body.appendChild(document.createElement('textarea'));
    field.focus();
    await userEvent.paste();
    await expect.poll(() => field.value.trim()).toBe('rm ⟨U+202E⟩x ⟨U+200B⟩');
    field.remove();
  });

  test.each([
    ['on one line', LONG],
    ['on many', LONG.replaceAll('9 ', '9\n')],
    ['with a mark on each letter', 'a\u0301\u0302'.repeat(1_000_000)],
  ])('of megabytes %s is cut, counts the rest and shows its end with a click', async (_, text) => {
    const shown = await output(`${text}THE END`);
    expect(shown.innerHTML.length).toBeLessThan(40_000);
    expect(leftOf(shown)).toBeGreaterThan(2_000_000);
    await page.getByRole('button', { name: 'Show the end' }).click();
    await expect.poll(() => shown.textContent.endsWith('THE END')).toBe(true);
    expect(shown.innerHTML.length).toBeLessThan(80_000);
  });

  test('shows as much again with each click, up to the whole text', async () => {
    const shown = await output('line\n'.repeat(20_000));
    for (let before = leftOf(shown); !Number.isNaN(before); before = leftOf(shown)) {
      await page.getByRole('button', { name: 'Show more' }).click();
      await expect.poll(() => leftOf(shown)).not.toBe(before);
    }
    expect(shown.textContent.match(/line/g)).toHaveLength(20_000);
    expect(shown.querySelector('button')).toBeNull();
  });

  test('of only hidden characters is cut earlier, but not of only colours', async () => {
    expect((await output('\u202e'.repeat(20_000))).textContent.match(/⟨U\+202E⟩/g)).toHaveLength(3_000);
    expect((await output('\u001b[31mx'.repeat(4_000))).textContent).not.toContain('characters left');
  });

  test('counts 50,000 marks on a letter', async () => {
    expect((await output(`a${'\u0301'.repeat(20_000)}`)).textContent).toContain('⟨19992 more marks⟩');
  });
});

test('code is coloured once its colours are computed, and cut like output', async () => {
  const { container, rerender } = await render(<Code code={'const one = 1;\n'} language="js" />);
  await expect.poll(() => container.querySelectorAll('span[style]').length).toBeGreaterThan(0);
  expect(container.textContent).toBe('const one = 1;');
  await rerender(<Code code={LONG} language="js" />);
  expect(container.innerHTML.length).toBeLessThan(40_000);
});
