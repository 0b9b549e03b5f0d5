/** Characters that hide or reorder others: control and format characters, line separators and lone surrogates. */
const HIDDEN = '\\p{C}\\p{Zl}\\p{Zp}';

/** Scripts in which a joiner changes the letters beside it. Elsewhere it is invisible, so that two names would look alike. */
const JOINING =
  'Arabic,Syriac,Mongolian,Devanagari,Bengali,Gurmukhi,Gujarati,Oriya,Tamil,Telugu,Kannada,Malayalam,Sinhala,Khmer'
    .split(',')
    .map((script) => `\\p{Script=${script}}`)
    .join('');
/** A joiner between such letters, or between the signs of one emoji. */
const JOINER =
  `(?<=[${JOINING}])[\\u200c\\u200d](?=[${JOINING}])` +
  '|(?<=[\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\ufe0f])\\u200d(?=\\p{Extended_Pictographic})';

/** The pattern of a text that a person can read: not blank, and without hidden characters. */
export const VISIBLE = `^(?=.*\\S)(?:[^${HIDDEN}]|${JOINER})*$`;

/** The pattern of a text without blanks, these characters and hidden ones. @param characters as in a class of an expression */
export const without = (characters: string) => `[^\\s${characters}${HIDDEN}]`;

const IS_VISIBLE = new RegExp(VISIBLE, 'u');

/** Whether a person can read the text. */
export const isVisible = (text: string): boolean => IS_VISIBLE.test(text);

/** The text without its hidden characters. */
export const removeHidden = (text: string): string => text.replace(new RegExp(`(?!${JOINER})[${HIDDEN}]`, 'gu'), '');
