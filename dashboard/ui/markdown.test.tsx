import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, test } from 'vitest';
import { Markdown } from './markdown.tsx';

const markup = (text: string) => renderToStaticMarkup(<Markdown text={text} />);
/** What a reader sees, without the elements around it. */
const words = (text: string) =>
  markup(text)
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&gt;', '>')
    .replaceAll('&lt;', '<')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');

describe('Markdown', () => {
  test('is drawn', () => {
    expect(markup('# A *b*\n\n- c\n\n| d |\n| - |\n| `e` |')).toMatch(/<em>b<\/em>.*<li>c<\/li>.*<td><code>e<\/code>/s);
  });

  test.each([
    ['- a\n- b', '<ul><li>a</li><li>b</li></ul>'],
    ['3. a\n\n   b', '<ol start="3"><li><p>a</p><p>b</p></li></ol>'],
    [
      '- [x] a\n- [ ] b',
      '<ul><li class="task"><span aria-hidden="true">☑ </span>a</li><li class="task"><span aria-hidden="true">☐ </span>b</li></ul>',
    ],
    ['> a\n\n---', '<blockquote><p>a</p></blockquote><hr/>'],
    ['a  \nb ~~c~~ **d**', '<p>a<br/>b <del>c</del> <strong>d</strong></p>'],
    ['a[^1]\n\n[^1]: b', '<p>a<sup>1</sup></p><div><sup>1</sup><p>b</p></div>'],
    ['# a', '<p class="prose-heading">a</p>'],
  ])('draws %j as what it is', (text, expected) => {
    expect(markup(text)).toBe(`<div class="prose">${expected}</div>`);
  });

  test('leads by a name to where that is said, for links and pictures', () => {
    expect(markup('[a][b]\n\n[b]: https://b.example\n[B]: https://c.example')).toContain(
      '<a href="https://b.example/"',
    );
    expect(markup('![a][b]\n\n[b]: https://b.example/a.png')).toMatch(/title="https:\/\/b.example\/a.png".*a \(not/);
    expect(words('[a][b]')).toBe('[a][b]');
  });

  test.each(['>'.repeat(3_000), '- '.repeat(1_500), '1. '.repeat(1_200), `${'> - '.repeat(800)}x`])(
    'of containers without end is shown as it is written: %.12s…',
    (text) => {
      expect(words(`before\n\n${text}\n\nafter`)).toMatch(/^before.*after$/s);
      expect(words(text)).toContain(text.slice(0, 2_000).trim());
    },
  );

  test.each([
    ['emphasis', '*a_'],
    ['brackets', '['],
    ['images', '!['],
    ['links', '[a]('],
    ['quotations of 16', `${'> '.repeat(16)}a\n`],
    ['lists of 16', `${'- '.repeat(16)}a\n`],
  ])('of nothing but %s is drawn', (_, text) => {
    expect(words(text.repeat(4_000 / text.length))).toContain(text.at(-1)?.trim() ?? '');
  });

  test('of a table with more cells than a person reads is shown as it is written', () => {
    const table = `${'|a'.repeat(400)}|\n${'|-'.repeat(400)}|\n${'|\n'.repeat(400)}`;
    expect(markup(table)).not.toContain('<td>');
    expect(words(table)).toContain('|a|a|a');
  });

  test('writes out what hides in it, also where entities write it', () => {
    expect(words('a &#x202e;b &#8203;c `\u202ed` ![e\u2066](f)')).toBe(
      'a ⟨U+202E⟩b ⟨U+200B⟩c ⟨U+202E⟩d e⟨U+2066⟩ (not loaded)',
    );
    expect(words('می\u200cخواهم')).toBe('می\u200cخواهم');
  });

  test('hides no words in HTML or definitions', () => {
    expect(words('a <b title="c">d</b>\n\n<!-- e -->\n\n[f]: # "g"')).toMatch(
      /<b title="c">d.*<!-- e -->.*\[f\]: # "g"/s,
    );
    expect(markup('<script>alert(1)</script>')).not.toContain('<script');
  });

  test('is cut where it is long, and says how much is left', () => {
    const shown = words('many words '.repeat(10_000));
    expect(shown).toMatch(/Show more.*Show the end.*86,\d{3} characters left/);
    expect(shown).not.toContain('characters left…');
  });
});

describe('a link', () => {
  const told = (text: string) => /<a href="([^"]*)".*?>(.*)<\/a>/.exec(markup(text))?.slice(1);

  test.each([
    ['[the manual](https://docs.example/a)', 'https://docs.example/a', 'docs.example'],
    ['[https://github.com/login](https://evil.example/phish)', 'https://evil.example/phish', 'evil.example'],
    ['[github.com.evil.example](https://github.com)', 'https://github.com/', 'github.com'],
    ['[github.com](https://github.com.evil.example)', 'https://github.com.evil.example/', 'github.com.evil.example'],
    ['https://github.com@evil.example', 'https://github.com@evil.example/', 'evil.example'],
    ['[https://аpple.com](https://аpple.com)', 'https://xn--pple-43d.com/', 'xn--pple-43d.com'],
    ['[write](mailto:a@b.example)', 'mailto:a@b.example', 'a@b.example'],
  ])('%s tells where it leads', (text, href, host) => {
    expect(told(text)).toEqual([href, expect.stringMatching(`class="link-host">${host}<`)]);
  });

  test.each([
    'https://docs.example/a',
    '<https://docs.example>',
    '[docs.example/b](https://docs.example/b)',
    'a@b.example',
  ])('%s says it itself', (text) => {
    expect(told(text)?.[1]).not.toContain('link-host');
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
  ])('to %s is none', (address) => {
    expect(markup(`[a](${address})`)).toContain('<span>a</span>');
    expect(markup(`[a](${address})`)).not.toContain('<a');
  });
});
