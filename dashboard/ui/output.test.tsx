import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, test } from 'vitest';
import { Code } from './code.tsx';
import { Output } from './output.tsx';

const output = (text: string) => renderToStaticMarkup(<Output text={text} />);
const LONG = '0123456789 '.repeat(400_000);

describe('output of a terminal', () => {
  test('is in its colours, on the ground it had', () => {
    expect(output('\u001b[38;2;1;2;3;44mx')).toContain(
      '<span class="ansi-color ansi-on" style="--ansi-color:rgb(1 2 3);--ansi-background:var(--ansi-blue)">x</span>',
    );
  });

  test('writes out what hides in it', () => {
    expect(output('a\u202eb')).toContain('a⟨U+202E⟩b');
  });

  test.each([
    ['on one line', LONG],
    ['on many', LONG.replaceAll('9 ', '9\n')],
    ['with a mark on each letter', 'a\u0301\u0302'.repeat(1_000_000)],
  ])('of megabytes %s is cut, and the rest counted', (_, text) => {
    const shown = output(text);
    expect(shown.length).toBeLessThan(40_000);
    expect(shown).toMatch(/Show more.*Show the end.*[\d,]{9} characters left/s);
  });

  test('of nothing but what hides is cut earlier, of colours not', () => {
    expect(output('\u202e'.repeat(20_000)).match(/⟨U\+202E⟩/g)).toHaveLength(3_000);
    expect(output('\u001b[31mx'.repeat(4_000))).not.toContain('characters left');
  });

  test('with 50,000 marks on a letter counts them', () => {
    expect(output(`a${'\u0301'.repeat(20_000)}`)).toContain('⟨19992 more marks⟩');
  });
});

test('code of megabytes is cut likewise', () => {
  expect(renderToStaticMarkup(<Code code={LONG} language="js" />).length).toBeLessThan(40_000);
});
