import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../contract/test/runs.ts';
import { readAnsi, stripAnsi } from './ansi.ts';
import { showHidden } from './controls.ts';

describe('terminal output', () => {
  test('keeps colours', () => {
    expect(readAnsi('a\u001b[1;31mred\u001b[0m b')).toEqual([
      { text: 'a', look: '' },
      { text: 'red', look: 'ansi-red ansi-bold' },
      { text: ' b', look: '' },
    ]);
  });

  test.each([
    ['titles', '\u001b]0;title\u0007x', 'x'],
    ['links, of which the text stays', '\u001b]8;;https://a.example\u001b\\text\u001b]8;;\u001b\\', 'text'],
    ['the clipboard', '\u001b]52;c;aGk=\u0007x', 'x'],
    ['device strings', '\u001bP+q544e\u001b\\x', 'x'],
    ['cursor moves', '\u001b[2J\u001b[1;1Hx\u001b[?25l', 'x'],
    ['C1 controls', '\u009b2Jx\u009d0;t\u009c', 'x'],
    ['escapes cut off', 'x\u001b', 'x'],
    ['escapes of one character', '\u001bcx\u001b(B', 'x'],
  ])('takes out %s', (_, output, text) => {
    expect(readAnsi(output).map((span) => span.text)).toEqual([text]);
    expect(stripAnsi(output)).toBe(text);
  });

  test('shows the last state of lines that were overwritten', () => {
    expect(readAnsi('10 %\r50 %\r100 %\r\nnext\n')).toEqual([{ text: '100 %\nnext\n', look: '' }]);
  });

  test('never lets a control through', () => {
    const piece = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('\u001b', '\u001b[', '\u009b', '\u001b]', 'm'),
    );
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const spans = readAnsi(pieces.join(''));
        // biome-ignore lint/suspicious/noControlCharactersInRegex: the controls are what is looked for
        expect(spans.map(({ text }) => text).join('')).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
      }),
      runs(100),
    );
  });
});

describe('hidden characters', () => {
  test.each([
    ['a\u202eb', 'a⟨U+202E⟩b'],
    ['zero\u200bwidth', 'zero⟨U+200B⟩width'],
    ['nul\u0000', 'nul⟨U+0000⟩'],
    ['half \ud800 pair', 'half ⟨U+D800⟩ pair'],
    ['joined\u200d', 'joined⟨U+200D⟩'],
    ['tag \u{e0041}', 'tag ⟨U+E0041⟩'],
  ])('%j is shown', (text, shown) => {
    expect(showHidden(text)).toBe(shown);
  });

  test.each(['plain\ttext\n', 'Grüße, 日本語, עברית', '👩‍💻 and 👩🏽‍🚀 and ❤️‍🔥'])('%j is left alone', (text) => {
    expect(showHidden(text)).toBe(text);
  });
});
