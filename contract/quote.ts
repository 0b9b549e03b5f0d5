/** Quotes any text as one word of a POSIX shell. */
export const quoteShell = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** Quotes any text as one string of PowerShell, which accepts typographic quotes as well. */
export const quotePowerShell = (text: string): string => `'${text.replace(/['\u2018\u2019\u201a\u201b]/g, '$&$&')}'`;

/** Characters without a special meaning in either shell. */
const PLAIN = /^[\w./:@%+=,-]+$/;

/** The text in a command for people to paste: quoted only if it needs quotes. */
export const shellWord = (text: string): string => (PLAIN.test(text) ? text : quoteShell(text));
export const powerShellWord = (text: string): string => (PLAIN.test(text) ? text : quotePowerShell(text));
