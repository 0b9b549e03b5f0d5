/** The text as one word of a POSIX shell, whatever is in it. */
export const quoteShell = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** The text as one string of PowerShell, to which typographic quotes are quotes, too. */
export const quotePowerShell = (text: string): string => `'${text.replace(/['\u2018\u2019\u201a\u201b]/g, '$&$&')}'`;
