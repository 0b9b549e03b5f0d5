/** Control characters but for the line feed and the tabulator. */
const CONTROL = /[^\P{Cc}\n\t]/gu;
/** Characters that turn or hide the text around them. */
const INVISIBLE = /[\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

const ESCAPE = '\u001b';
const BELL = '\u0007';
const END = `(?:${BELL}|${ESCAPE}\\\\)?`;
/** Colours and cursor moves; titles, links and other strings with what they hold; the short ones. */
const SEQUENCE = new RegExp(`${ESCAPE}(?:\\[[0-?]*[ -/]*[@-~]|[\\]PX^_][^${BELL}${ESCAPE}]*${END}|[ -/]*[0-~])`, 'g');

/** Text from a transcript, a file name or the service, as it may be written to a terminal: it cannot command it. */
export const toPlainText = (text: string): string =>
  text.replace(SEQUENCE, '').replace(CONTROL, '').replace(INVISIBLE, '').toWellFormed();
