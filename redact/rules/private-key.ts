import { COLOUR } from '../views.ts';

/** The most letters of a key, including a program's prefixes before its lines. */
const MAX_KEY = 20_000;

const BEGIN = '-----BEGIN';
const END = '-----END';
const KEY_END = /-----END[A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----/y;

/** The text between two lines of a key, as `cat -n`, a diff, a quotation, a list of strings or colours write it. */
const GAP = String.raw`(?:${COLOUR}|(?<!\\)\\{1,7}(?!\\)[nrt]?|[\s"'+>|:→#,;.()[\]*-]|(?<![A-Za-z+/])\d{1,6}(?=[\s:|→.)-])){0,60}`;
/** A place begins a word and ends at its last number, so that a word with many numbers has only one reading. */
const WORD_BEGINS = String.raw`(?<=^|[^\w./@-]|\\[nrt]|\[[\d;]{0,16}[mK])`;
const LAST_DASH = String.raw`-(?![\w./@-]{0,120}-\d{1,6}[:-])`;
/** `grep -n` and `grep -A` print the file and the line. */
const PLACE = String.raw`${WORD_BEGINS}[\w./@-]{1,120}[:-]\d{1,6}(?::|${LAST_DASH})`;
const LEAD = `${GAP}(?:${PLACE}${GAP}){0,2}`;
const KEY_HEADER = new RegExp(`${LEAD}(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset): [^\\r\\n\\\\]{1,200}`, 'y');
const KEY_LINE = new RegExp(`${LEAD}[A-Za-z0-9+/]{24,20000}={0,2}`, 'y');
const LAST_LINE = new RegExp(`^${LEAD}[A-Za-z0-9+/]{1,80}={0,2}$`);

/** Where a key ends whose first line ends at `start`: after its last line or, if that was cut off, before any prose. */
export function endOfKey(text: string, start: number): number {
  const body = text.slice(start, start + MAX_KEY);
  const [begin, end] = [body.indexOf(BEGIN), body.indexOf(END)];
  KEY_END.lastIndex = start + end;
  if (end >= 0 && !(begin >= 0 && begin < end) && KEY_END.test(text)) return KEY_END.lastIndex;
  let at = start;
  for (const line of [KEY_HEADER, KEY_LINE]) {
    for (let isLine = true; isLine && at - start < MAX_KEY; ) {
      line.lastIndex = at;
      isLine = line.test(text);
      if (isLine) at = line.lastIndex;
    }
  }
  return LAST_LINE.test(text.slice(at, at + 140)) ? text.length : at;
}

/** How many letters of a line are read at once. */
const PIECE = 200;
// This reads backwards. It must not start within a colour, because the letters of a colour end in a letter of base64.
const LINE_BEFORE = new RegExp(String.raw`(?<=((?<!\[[\d;]{0,16})[A-Za-z0-9+/]{1,${PIECE}})={0,2}${LEAD})`, 'dy');
const MIN_LINE = 24;
const MIN_KEY = 40;

/**
 * Where a key begins whose last line ends at `end`, if a cut removed its first line. Returns `end` itself if no line belongs
 * to a key.
 */
export function startOfKey(text: string, end: number): number {
  let start = end;
  // The last line may be short. So may the rest of a line that was read in part, and the first line of a text.
  let mayBeShort = true;
  while (end - start < MAX_KEY) {
    LINE_BEFORE.lastIndex = start;
    const [from, to] = LINE_BEFORE.exec(text)?.indices?.[1] ?? [start, start];
    const isShort = to - from < MIN_LINE && !mayBeShort && from > 0;
    if (from === start || isShort) break;
    mayBeShort = to - from === PIECE;
    start = from;
  }
  return end - start < MIN_KEY ? end : start;
}

/** A better position than `limit` to cut a text: before a key that the cut would divide. */
export function beforeKey(text: string, from: number, limit: number): number {
  const lowest = Math.max(from + 1, limit - MAX_KEY);
  const begin = text.lastIndexOf(BEGIN, limit);
  return begin >= lowest && !text.slice(begin, limit).includes(END) ? begin : limit;
}
