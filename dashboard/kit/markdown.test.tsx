import { createRoot } from 'react-dom/client';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { page } from 'vitest/browser';
import { render } from 'vitest-browser-react';
import { Markdown } from './markdown.tsx';

const draw = async (text: string) => (await render(<Markdown text={text} />)).container;
const markup = async (text: string) => (await draw(text)).innerHTML;
/** The text that a reader sees, without elements. */
const words = async (text: string) => (await draw(text)).textContent;

afterEach(async () => {
  vi.restoreAllMocks();
  await page.viewport(1280, 800);
});

describe('Markdown', () => {
  test.each([
    ['- a\n- b', '<ul><li>a</li><li>b</li></ul>'],
    ['3. a\n\n   b', '<ol start="3"><li><p>a</p><p>b</p></li></ol>'],
    [
      '- [x] a\n- [ ] b',
      '<ul><li class="task"><span aria-hidden="true">☑ </span>a</li><li class="task"><span aria-hidden="true">☐ </span>b</li></ul>',
    ],
    ['> a\n\n---', '<blockquote><p>a</p></blockquote><hr>'],
    ['a  \nb ~~c~~ **d**', '<p>a<br>b <del>c</del> <strong>d</strong></p>'],
    ['a[^1]\n\n[^1]: b', '<p>a<sup>1</sup></p><div><sup>1</sup><p>b</p></div>'],
    ['# a *b*', '<p class="prose-heading">a <em>b</em></p>'],
  ])('draws the elements of %j', async (text, expected) => {
    expect(await markup(text)).toBe(`<div class="prose">${expected}</div>`);
  });

  test('resolves references of links and pictures', async () => {
    expect(await markup('[a][b]\n\n[b]: https://b.example\n[B]: https://c.example')).toContain(
      '<a href="https://b.example/"',
    );
    expect(await markup('![a][b]\n\n[b]: https://b.example/a.png')).toMatch(
      /title="https:\/\/b.example\/a.png".*a \(not/,
    );
    expect(await words('[a][b]')).toBe('[a][b]');
  });

  test.each(['>'.repeat(3_000), '- '.repeat(1_500), '1. '.repeat(1_200), `${'> - '.repeat(800)}x`])(
    'with too many nested containers is shown as it is written: %.12s…',
    async (text) => {
      expect(await words(`before\n\n${text}\n\nafter`)).toMatch(/^before.*after$/s);
      expect(await words(text)).toContain(text.slice(0, 2_000).trim());
    },
  );

  test.each([
    ['emphasis', '*a_'],
    ['brackets', '['],
    ['images', '!['],
    ['links', '[a]('],
    ['quotations of 16', `${'> '.repeat(16)}a\n`],
    ['lists of 16', `${'- '.repeat(16)}a\n`],
  ])('of only %s is drawn', async (_, text) => {
    expect(await words(text.repeat(4_000 / text.length))).toContain(text.at(-1)?.trim() ?? '');
  });

  test('shows a table with too many cells as it is written', async () => {
    const table = `${'|a'.repeat(400)}|\n${'|-'.repeat(400)}|\n${'|\n'.repeat(400)}`;
    expect(await markup(table)).not.toContain('<td>');
    expect(await words(table)).toContain('|a|a|a');
  });

  test('makes hidden characters visible, also from entities', async () => {
    expect(await words('a &#x202e;b &#8203;c `\u202ed` ![e\u2066](f)')).toBe(
      'a ⟨U+202E⟩b ⟨U+200B⟩c ⟨U+202E⟩d e⟨U+2066⟩ (not loaded)',
    );
    expect(await words('می\u200cخواهم')).toBe('می\u200cخواهم');
  });

  test('shows all words of HTML and definitions', async () => {
    expect(await words('a <b title="c">d</b>\n\n<!-- e -->\n\n[f]: # "g"')).toMatch(
      /<b title="c">d.*<!-- e -->.*\[f\]: # "g"/s,
    );
    expect(await markup('<script>alert(1)</script>')).not.toContain('<script');
  });

  test('cuts a long text; one button shows as much again, another its end', async () => {
    const prose = await draw(`${'many words '.repeat(10_000)}, and that is all`);
    const left = () => Number(/([\d,]+) characters left/.exec(prose.textContent)?.[1]?.replaceAll(',', ''));
    const before = left();
    expect(before).toBeGreaterThan(80_000);
    await page.getByRole('button', { name: 'Show more' }).click();
    await expect.poll(left).toBeLessThan(before - 20_000);
    await page.getByRole('button', { name: 'Show the end' }).click();
    await expect.poll(() => prose.textContent.endsWith('that is all')).toBe(true);
    expect(left()).toBeGreaterThan(20_000);
  });

  test('shows its beginning before the rest is drawn', async () => {
    const place = document.body.appendChild(document.createElement('div'));
    const lengths: number[] = [];
    const watch = new MutationObserver(() => lengths.push(place.textContent.length));
    watch.observe(place, { childList: true, subtree: true });
    const root = createRoot(place);
    root.render(<Markdown text={'**some** _words_ and `code`\n\n'.repeat(700)} />);
    await expect.poll(() => lengths.at(-1)).toBeGreaterThan(10_000);
    expect(lengths[0]).toBeGreaterThan(1_000);
    expect(lengths[0]).toBeLessThan(4_000);
    root.unmount();
    place.remove();
  });

  test('sends no requests and runs no code', async () => {
    const asked = vi.spyOn(window, 'fetch');
    const html = '<img src="//evil.example/a" onerror="document.title=1"><script>document.title=2</script>';
    const prose = await draw(`${html}\n\n![a](https://evil.example/b.png)\n\n<svg onload="document.title=3">`);
    await new Promise(requestAnimationFrame);
    expect(prose.querySelector('img, script, svg[onload]')).toBeNull();
    expect(performance.getEntriesByType('resource').filter(({ name }) => name.includes('evil.example'))).toEqual([]);
    expect(asked).not.toHaveBeenCalled();
    expect(prose.textContent).toContain('onerror=');
  });

  test('scrolls in place if it is wide, and the page does not scroll', async () => {
    await page.viewport(320, 800);
    const prose = await draw(`|${'a table |'.repeat(30)}\n|${'-|'.repeat(30)}\n\n${'long'.repeat(200)}`);
    const table = prose.querySelector('table')?.parentElement as HTMLElement;
    expect(table.scrollWidth).toBeGreaterThan(table.clientWidth);
    expect(table.tabIndex).toBe(0);
    expect(document.documentElement.scrollWidth).toBeLessThanOrEqual(320);
  });

  test('shows a text that fails to render as it is written', async () => {
    vi.spyOn(console, 'error').mockReturnValue();
    vi.spyOn(URL, 'parse').mockImplementation(() => {
      throw new Error('of this address');
    });
    expect(await words('See [this](https://breaks.example) **first**.')).toBe(
      'See [this](https://breaks.example) **first**.',
    );
  });
});

describe('a link', () => {
  const told = async (text: string) => {
    const link = (await draw(text)).querySelector('a');
    if (link) expect([link.target, link.rel]).toEqual(['_blank', 'noopener noreferrer nofollow']);
    return [link?.href, link?.querySelector('.link-host')?.textContent];
  };

  test.each([
    ['[the manual](https://docs.example/a)', 'https://docs.example/a', 'docs.example'],
    ['[https://github.com/login](https://evil.example/phish)', 'https://evil.example/phish', 'evil.example'],
    ['[github.com.evil.example](https://github.com)', 'https://github.com/', 'github.com'],
    ['[github.com](https://github.com.evil.example)', 'https://github.com.evil.example/', 'github.com.evil.example'],
    ['https://github.com@evil.example', 'https://github.com@evil.example/', 'evil.example'],
    ['[https://аpple.com](https://аpple.com)', 'https://xn--pple-43d.com/', 'xn--pple-43d.com'],
    ['[write](mailto:a@b.example)', 'mailto:a@b.example', 'a@b.example'],
  ])('%s shows its host', async (text, href, host) => {
    expect(await told(text)).toEqual([href, host]);
  });

  test.each([
    'https://docs.example/a',
    '<https://docs.example>',
    '[docs.example/b](https://docs.example/b)',
    'a@b.example',
  ])('%s names its host itself', async (text) => {
    expect(await told(text)).toEqual([expect.stringMatching(/^(https|mailto):/), undefined]);
  });

  test.each([
    '//evil.example',
    '/v1/me',
    '#a',
    'javascript:alert(1)',
    'data:text/html,x',
    'vbscript:x',
    'file:///etc',
    '?a',
  ])('to %s is not drawn as a link', async (address) => {
    expect(await markup(`[a](${address})`)).toContain('<span>a</span>');
    expect(await markup(`[a](${address})`)).not.toContain('<a');
  });
});
