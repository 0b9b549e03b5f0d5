/** Characters that hide or reorder others: control and format characters, line separators and lone surrogates. */
const HIDDEN = '\\p{C}\\p{Zl}\\p{Zp}';

/** The pattern of a text that a person can read: not blank, and without hidden characters. */
export const VISIBLE = `^(?=.*\\S)[^${HIDDEN}]*$`;

/** The pattern of a text without blanks, these characters and hidden ones. @param characters as in a class of an expression */
export const without = (characters: string) => `[^\\s${characters}${HIDDEN}]`;

const IS_VISIBLE = new RegExp(VISIBLE, 'u');

/** Whether a person can read the text. */
export const isVisible = (text: string): boolean => IS_VISIBLE.test(text);

/** The text without its hidden characters. */
export const removeHidden = (text: string): string => text.replace(new RegExp(`[${HIDDEN}]`, 'gu'), '');
