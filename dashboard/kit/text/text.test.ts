import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../contract/test/runs.ts';
import { lookAfter, readAnsi, stripAnsi } from './ansi.ts';
import { showHidden } from './controls.ts';

describe('terminal output', () => {
  test('keeps colours', () => {
    expect(readAnsi('a\u001b[1;31mred\u001b[0m b')).toEqual([
      { text: 'a', look: '' },
      { text: 'red', look: 'ansi-bold ansi-red' },
      { text: ' b', look: '' },
    ]);
  });

  const look = (codes: string) => {
    const { text: _, ...span } = readAnsi(`\u001b[${codes}mx`)[0] ?? { text: '' };
    return span;
  };

  test.each([
    ['38;5;196', { look: 'ansi-color', color: 'rgb(255 0 0)' }],
    ['38;5;244', { look: 'ansi-color', color: 'rgb(128 128 128)' }],
    ['38;5;9', { look: 'ansi-red' }],
    ['38;2;1;2;300', { look: 'ansi-color', color: 'rgb(1 2 255)' }],
    ['38:2::1:2:3', { look: 'ansi-color', color: 'rgb(1 2 3)' }],
    ['97;41', { look: 'ansi-white ansi-on', background: 'var(--ansi-red)' }],
    ['48;2;1;2;3;4', { look: 'ansi-underline ansi-on', background: 'rgb(1 2 3)' }],
    ['31;7', { look: 'ansi-on', background: 'var(--ansi-red)' }],
    ['7', { look: 'ansi-on', background: 'var(--ansi-text)' }],
    ['31;42;7', { look: 'ansi-green ansi-on', background: 'var(--ansi-red)' }],
    ['1;3;22;31;39', { look: 'ansi-italic' }],
    ['58;2;1;2;3;4:3', { look: 'ansi-underline' }],
    ['38;5', { look: 'ansi-black' }],
    ['31;0', { look: '' }],
  ])('%s sets its style', (codes, span) => {
    expect(look(codes)).toEqual(span);
  });

  test('with countless styles loses some of them, but no text', () => {
    const spans = readAnsi('\u001b[31ma\u001b[0mb'.repeat(5_000));
    expect(spans).toHaveLength(1_000);
    expect(spans.map(({ text }) => text).join('')).toBe('ab'.repeat(5_000));
  });

  test('continues in the style of the text before', () => {
    expect(lookAfter('\u001b[1mbold \u001b[0mplain \u001b[31mred\u001b[4m')).toBe('\u001b[31m\u001b[4m');
    expect(lookAfter('plain')).toBe('');
  });

  test.each([
    ['titles', '\u001b]0;title\u0007x', 'x'],
    ['links, but not their text', '\u001b]8;;https://a.example\u001b\\text\u001b]8;;\u001b\\', 'text'],
    ['the clipboard', '\u001b]52;c;aGk=\u0007x', 'x'],
    ['device strings', '\u001bP+q544e\u001b\\x', 'x'],
    ['cursor moves', '\u001b[2J\u001b[1;1Hx\u001b[?25l', 'x'],
    ['C1 controls', '\u009b2Jx\u009d0;t\u009c', 'x'],
    ['escapes cut off', 'x\u001b', 'x'],
    ['escapes of one character', '\u001bcx\u001b(B', 'x'],
  ])('removes %s', (_, output, text) => {
    expect(readAnsi(output).map((span) => span.text)).toEqual([text]);
    expect(stripAnsi(output)).toBe(text);
  });

  test('shows the last state of overwritten lines', () => {
    expect(readAnsi('10 %\r50 %\r100 %\r\nnext\n')).toEqual([{ text: '100 %\nnext\n', look: '' }]);
    expect(readAnsi(`${'\r'.repeat(100_000)}done\r\r`)).toEqual([{ text: 'done', look: '' }]);
  });

  test('never lets a control through', () => {
    const piece = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('\u001b', '\u001b[', '\u009b', '\u001b]', 'm'),
    );
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const spans = readAnsi(pieces.join(''));
        // biome-ignore lint/suspicious/noControlCharactersInRegex: the test searches for controls
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
    ['🏴\u{e0041}\u{e0042}', '🏴⟨U+E0041⟩⟨U+E0042⟩'],
    ['a joiner in latin\u200cwords', 'a joiner in latin⟨U+200C⟩words'],
    ['میوه\u200c\u200c', 'میوه\u200c⟨U+200C⟩'],
    ['a blank \u3164 name', 'a blank ⟨U+3164⟩ name'],
    ['smuggled\ufe01\u{e0121}', 'smuggled⟨U+FE01⟩⟨U+E0121⟩'],
    ['isolated \u2066x\u2069', 'isolated ⟨U+2066⟩x⟨U+2069⟩'],
    [`z${'\u0301'.repeat(50_000)}`, `z${'\u0301'.repeat(8)}⟨49992 more marks⟩`],
  ])('in %j are made visible', (text, shown) => {
    expect(showHidden(text)).toBe(shown);
  });

  test.each([
    'plain\ttext\n',
    'Grüße, 日本語, עברית',
    '👩‍💻 and 👩🏽‍🚀 and ❤️‍🔥 and ❤️ and 1️⃣',
    'می\u200cخواهم', // Persian: I want
    'क्\u200dष and क्\u200cष', // Hindi, joined and parted
    'flags 🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f} 🇩🇪',
    '葛\u{e0100}城', // a variant of a Japanese name
    'בְּרֵאשִׁ֖ית', // Hebrew with points and accents
  ])('needed in %j stay', (text) => {
    expect(showHidden(text)).toBe(text);
  });

  test('are made visible at every position', () => {
    const hiding = fc.constantFrom('\u202e', '\u200b', '\u2066', '\ufeff', '\u0000', '\u009b', '\u{e0041}', '\ud800');
    const piece = fc.oneof(hiding, fc.string({ unit: 'binary' }), fc.constantFrom('ی', 'क्', '👩', '🏴', '\u200d'));
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        expect(showHidden(pieces.join(''))).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u200b\ufeff\p{Cs}\0]/u);
      }),
      runs(200),
    );
  });
});
