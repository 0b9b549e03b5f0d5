import { findMarks } from './mark.ts';

/** A piece of a text, from `start` up to `end`. */
export interface Place {
  start: number;
  end: number;
}

/** Finds pieces of a text as a reader sees it, in order and without overlap. */
export type Search = (text: string) => Place[];

/** How often a text may be escaped: a JSON string within a JSON string, and so on. */
const DEEPEST = 5;

/** A text, and the position of each code unit in the original text. Without positions, both are the same. */
export interface Level {
  text: string;
  at?: { starts: Uint32Array; ends: Uint32Array };
}

/**
 * Applies a search to a text; to the text unescaped once, twice, up to five times; and to the text without colours and
 * carriage returns. Returns pieces in the order of the text and without overlap. Marks are never cut: a piece that overlaps a
 * mark includes all of it.
 * @param isEscaped whether the text is the inside of a JSON string; then it is not searched in its escaped form
 */
export function findPlaces(text: string, search: Search, isEscaped = false): Place[] {
  const found: Place[] = [];
  let level: Level | undefined = { text };
  if (isEscaped) level = readOnce(level) ?? level;
  for (let depth = 0; level && depth < DEEPEST; depth++, level = readOnce(level)) {
    for (const read of [level, withoutControls(level)]) {
      if (!read) continue;
      for (const { start, end } of aroundMarks(search(read.text), read.text)) {
        found.push({ start: startOf(read, start), end: endOf(read, end - 1) });
      }
    }
  }
  return joined(found);
}

/** The inside of a JSON string, unescaped. */
export const readEscaped = (inside: string): Level => readOnce({ text: inside }) ?? { text: inside };

/** Where a code unit begins in the original text. */
export const startOf = ({ at }: Level, index: number): number => (at ? (at.starts[index] as number) : index);
export const endOf = ({ at }: Level, index: number): number => (at ? (at.ends[index] as number) : index + 1);

/** Undefined if nothing is escaped. Invalid escapes stay as they are. */
function readOnce(level: Level): Level | undefined {
  return level.text.includes('\\') ? rewrite(level, readEscape) : undefined;
}

/** Undefined if there is nothing invisible. */
function withoutControls(level: Level): Level | undefined {
  const { text } = level;
  return text.includes('\r') || text.includes('\u001b') ? rewrite(level, skipControl) : undefined;
}

/** How many code units are read at a position, and the code unit that they mean. If `unit` is undefined, they mean nothing. */
type Read = (text: string, at: number) => { width: number; unit: number | undefined } | undefined;

function rewrite(level: Level, read: Read): Level | undefined {
  const { text } = level;
  const units = new Uint16Array(text.length);
  const starts = new Uint32Array(text.length);
  const ends = new Uint32Array(text.length);
  let length = 0;
  for (let at = 0; at < text.length; ) {
    const { width, unit } = read(text, at) ?? { width: 1, unit: text.charCodeAt(at) };
    if (unit !== undefined) {
      units[length] = unit;
      starts[length] = startOf(level, at);
      ends[length] = endOf(level, at + width - 1);
      length++;
    }
    at += width;
  }
  if (length === text.length) return undefined;
  return { text: Buffer.from(units.buffer, 0, length * 2).toString('utf16le'), at: { starts, ends } };
}

const SHORT: Readonly<Record<string, string>> = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  '"': '"',
  '/': '/',
  '\\': '\\',
};

function readEscape(text: string, at: number): ReturnType<Read> {
  if (text[at] !== '\\') return undefined;
  const letter = text[at + 1] ?? '';
  const short = SHORT[letter];
  if (short !== undefined) return { width: 2, unit: short.charCodeAt(0) };
  const digits = letter === 'u' ? text.slice(at + 2, at + 6) : '';
  return /^[0-9a-f]{4}$/i.test(digits) ? { width: 6, unit: Number.parseInt(digits, 16) } : undefined;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: every such sequence begins with it
const COLOUR = /\u001b\[[0-9;?]{0,32}[A-Za-z]/y;

function skipControl(text: string, at: number): ReturnType<Read> {
  if (text[at] === '\r' && text[at + 1] === '\n') return { width: 1, unit: undefined };
  if (text[at] !== '\u001b') return undefined;
  COLOUR.lastIndex = at;
  const width = COLOUR.exec(text)?.[0].length;
  return width === undefined ? undefined : { width, unit: undefined };
}

function aroundMarks(places: readonly Place[], text: string): Place[] {
  const marks = places.length === 0 ? [] : findMarks(text);
  if (marks.length === 0) return [...places];
  return places.flatMap(({ start, end }) => {
    const touched = touching(marks, start, end);
    if (touched.some((mark) => mark.start <= start && end <= mark.end)) return [];
    const starts = touched.map((mark) => mark.start);
    return { start: Math.min(start, ...starts), end: Math.max(end, ...touched.map((mark) => mark.end)) };
  });
}

/** The marks, in order, that a piece touches. A text may consist of many marks and many pieces. */
function touching(marks: readonly Place[], start: number, end: number): Place[] {
  let [from, to] = [0, marks.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((marks[middle] as Place).end <= start) from = middle + 1;
    else to = middle;
  }
  const touched: Place[] = [];
  for (let mark = marks[from]; mark && mark.start < end; mark = marks[++from]) touched.push(mark);
  return touched;
}

function joined(places: Place[]): Place[] {
  const all: Place[] = [];
  for (const place of places.sort((one, other) => one.start - other.start || other.end - one.end)) {
    const last = all.at(-1);
    if (last && place.start < last.end) last.end = Math.max(last.end, place.end);
    else all.push({ ...place });
  }
  return all;
}
