/** Scripts in which a joiner or a non-joiner after a letter changes its form. */
const JOINING = 'Arab Syrc Mong Nkoo Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh Mymr Khmr'
  .split(' ')
  .map((script) => `\\p{scx=${script}}`)
  .join('');

/** Characters that are invisible themselves, but change the characters around them. */
const NEEDED = [
  // Persian and Hindi, for example, need them.
  `(?<=[[${JOINING}]&&[\\p{L}\\p{M}]])[\\u200c\\u200d]`,
  '(?<=[\\p{Extended_Pictographic}\\ufe0f\\p{Emoji_Modifier}])\\u200d(?=\\p{Extended_Pictographic})',
  // Flags of regions consist of a black flag and invisible letters.
  '\\u{1f3f4}[\\u{e0030}-\\u{e0039}\\u{e0061}-\\u{e007a}]{3,6}\\u{e007f}',
  // One variation selector after a character that has variations.
  '(?<=[\\p{Emoji}\\p{S}\\p{P}])[\\ufe0e\\ufe0f]',
  '(?<=\\p{scx=Han})[\\ufe00-\\ufe02\\u{e0100}-\\u{e01ef}]',
  '(?<=\\p{scx=Mong})[\\u180b-\\u180d\\u180f]',
].join('|');

/** In any language, a letter has at most six marks. Tens of thousands on one letter block the browser for seconds. */
const PILED = '(?<=\\p{M}{8})\\p{M}+';

/** Characters that Unicode draws as nothing, such as bidirectional controls; other controls; lone surrogates. */
const HIDDEN = '[[\\p{Default_Ignorable_Code_Point}\\p{Cc}\\p{Cs}\\u2028\\u2029\\ufff9-\\ufffb]--[\\t\\n\\r]]';

const EVERY = new RegExp(`(${NEEDED})|(${PILED})|${HIDDEN}`, 'gv');
const MAY_HIDE = /[^\t\n\r\x20-\x7e]/;

/**
 * Makes hidden characters visible, as in `⟨U+202E⟩`, and counts marks that are piled on a letter. It is used for every text
 * that somebody else wrote: events, titles and names.
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
