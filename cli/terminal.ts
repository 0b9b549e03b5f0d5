/** Control characters, except the line feed and the tabulator. */
const CONTROL = /[^\P{Cc}\n\t]/gu;
/** Characters that change the direction of the text around them, or hide it. */
const INVISIBLE = /[\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

const ESCAPE = '\u001b';
const BELL = '\u0007';
const END = `(?:${BELL}|${ESCAPE}\\\\)?`;
/** Colours and cursor moves; titles, links and other strings with their content; and the short sequences. */
const SEQUENCE = new RegExp(`${ESCAPE}(?:\\[[0-?]*[ -/]*[@-~]|[\\]PX^_][^${BELL}${ESCAPE}]*${END}|[ -/]*[0-~])`, 'g');

/** Makes text from a transcript, a file name or the service safe for a terminal: it contains no commands. */
export const toPlainText = (text: string): string =>
  text.replace(SEQUENCE, '').replace(CONTROL, '').replace(INVISIBLE, '').toWellFormed();
