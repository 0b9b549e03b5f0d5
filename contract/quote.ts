/** Quotes any text as one word of a POSIX shell. */
export const quoteShell = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** The text as one string of PowerShell, which takes typographic quotes for quotes as well. */
export const quotePowerShell = (text: string): string => `'${text.replace(/['\u2018\u2019\u201a\u201b]/g, '$&$&')}'`;

/** Characters that mean nothing to either shell. */
const PLAIN = /^[\w./:@%+=,-]+$/;

/** The text in a command for people to paste: as it is where that is safe, else quoted. */
export const shellWord = (text: string): string => (PLAIN.test(text) ? text : quoteShell(text));
export const powerShellWord = (text: string): string => (PLAIN.test(text) ? text : quotePowerShell(text));
