import { COLOUR } from '../views.ts';

/** Letters of the longest key, with a program's prefixes before its lines. */
const LONGEST_KEY = 20_000;

const BEGIN = '-----BEGIN';
const END = '-----END';
const KEY_END = /-----END[A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----/y;

/** What stands between two lines of a key: `cat -n`, a diff, a quotation, a list of strings and colours write it. */
const GAP = String.raw`(?:${COLOUR}|(?<!\\)\\{1,7}(?!\\)[nrt]?|[\s"'+>|:→#,;.()[\]*-]|(?<![A-Za-z+/])\d{1,6}(?=[\s:|→.)-])){0,60}`;
/** A place begins a word and ends at its last number, so that a word of many numbers is read in one way. */
const WORD_BEGINS = String.raw`(?<=^|[^\w./@-]|\\[nrt]|\[[\d;]{0,16}[mK])`;
const LAST_DASH = String.raw`-(?![\w./@-]{0,120}-\d{1,6}[:-])`;
/** `grep -n` and `grep -A` say which file and which line. */
const PLACE = String.raw`${WORD_BEGINS}[\w./@-]{1,120}[:-]\d{1,6}(?::|${LAST_DASH})`;
const LEAD = `${GAP}(?:${PLACE}${GAP}){0,2}`;
const KEY_HEADER = new RegExp(`${LEAD}(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset): [^\\r\\n\\\\]{1,200}`, 'y');
const KEY_LINE = new RegExp(`${LEAD}[A-Za-z0-9+/]{24,20000}={0,2}`, 'y');
const LAST_LINE = new RegExp(`^${LEAD}[A-Za-z0-9+/]{1,80}={0,2}$`);

/** Where the key ends whose first line ends at `start`: with its last line or, if that was cut off, before any prose. */
export function endOfKey(text: string, start: number): number {
  const body = text.slice(start, start + LONGEST_KEY);
  const [begin, end] = [body.indexOf(BEGIN), body.indexOf(END)];
  KEY_END.lastIndex = start + end;
  if (end >= 0 && !(begin >= 0 && begin < end) && KEY_END.test(text)) return KEY_END.lastIndex;
  let at = start;
  for (const line of [KEY_HEADER, KEY_LINE]) {
    for (let isLine = true; isLine && at - start < LONGEST_KEY; ) {
      line.lastIndex = at;
      isLine = line.test(text);
      if (isLine) at = line.lastIndex;
    }
  }
  return LAST_LINE.test(text.slice(at, at + 140)) ? text.length : at;
}

/** Letters of a line that are read at once. */
const PIECE = 200;
// Read backwards. Not from within a colour: its letters end in one of base64.
const LINE_BEFORE = new RegExp(String.raw`(?<=((?<!\[[\d;]{0,16})[A-Za-z0-9+/]{1,${PIECE}})={0,2}${LEAD})`, 'dy');
const SHORTEST_LINE = 24;
const SHORTEST_KEY = 40;

/** Where the key begins whose last line ends at `end`: what a cut took its first line from. `end` itself where nothing is one. */
export function startOfKey(text: string, end: number): number {
  let start = end;
  // The last line may be short, and so may the rest of a line that was read in part, and the first one of a text.
  let mayBeShort = true;
  while (end - start < LONGEST_KEY) {
    LINE_BEFORE.lastIndex = start;
    const [from, to] = LINE_BEFORE.exec(text)?.indices?.[1] ?? [start, start];
    const isShort = to - from < SHORTEST_LINE && !mayBeShort && from > 0;
    if (from === start || isShort) break;
    mayBeShort = to - from === PIECE;
    start = from;
  }
  return end - start < SHORTEST_KEY ? end : start;
}

/** Where a text that is cut at `limit` is better cut: before a key that would be in two pieces. */
export function beforeKey(text: string, from: number, limit: number): number {
  const lowest = Math.max(from + 1, limit - LONGEST_KEY);
  const begin = text.lastIndexOf(BEGIN, limit);
  return begin >= lowest && !text.slice(begin, limit).includes(END) ? begin : limit;
}
