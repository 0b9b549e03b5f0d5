/** Scripts whose letters join, or part, as a joiner or a non-joiner behind them says. */
const JOINING = 'Arab Syrc Mong Nkoo Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh Mymr Khmr'
  .split(' ')
  .map((script) => `\\p{scx=${script}}`)
  .join('');

/** Invisible itself, but it changes the characters around it. */
const NEEDED = [
  // Persian and Hindi, for two, cannot be written without.
  `(?<=[[${JOINING}]&&[\\p{L}\\p{M}]])[\\u200c\\u200d]`,
  '(?<=[\\p{Extended_Pictographic}\\ufe0f\\p{Emoji_Modifier}])\\u200d(?=\\p{Extended_Pictographic})',
  // Flags of regions are a black flag and letters that are not drawn.
  '\\u{1f3f4}[\\u{e0030}-\\u{e0039}\\u{e0061}-\\u{e007a}]{3,6}\\u{e007f}',
  // One variation of a character that has any.
  '(?<=[\\p{Emoji}\\p{S}\\p{P}])[\\ufe0e\\ufe0f]',
  '(?<=\\p{scx=Han})[\\ufe00-\\ufe02\\u{e0100}-\\u{e01ef}]',
  '(?<=\\p{scx=Mong})[\\u180b-\\u180d\\u180f]',
].join('|');

/** Letters carry up to six marks in any language; tens of thousands on one hold up the browser for seconds. */
const PILED = '(?<=\\p{M}{8})\\p{M}+';

/** What Unicode says to draw as nothing, bidirectional controls among it; other controls; halves of a pair. */
const HIDDEN = '[[\\p{Default_Ignorable_Code_Point}\\p{Cc}\\p{Cs}\\u2028\\u2029\\ufff9-\\ufffb]--[\\t\\n\\r]]';

const EVERY = new RegExp(`(${NEEDED})|(${PILED})|${HIDDEN}`, 'gv');
const MAY_HIDE = /[^\t\n\r\x20-\x7e]/;

/**
 * The text with what hides in it written out, as in `⟨U+202E⟩`, and with marks that are piled on a letter counted. For
 * every text that somebody else wrote: events, titles, names.
 */
export const showHidden = (text: string): string =>
  MAY_HIDE.test(text)
    ? text.replace(EVERY, (found: string, needed?: string, piled?: string) => {
        if (needed !== undefined) return needed;
        return piled === undefined ? nameOf(found) : `⟨${[...piled].length} more marks⟩`;
      })
    : text;

const nameOf = (character: string) =>
  `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`;
