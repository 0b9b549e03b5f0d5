import type { NameStrength } from './names.ts';
import { isSecretInText } from './values.ts';

/** The place of a secret in a text. */
export interface Place {
  start: number;
  end: number;
}

/** A column with the name of a secret. */
interface Column {
  index: number;
  strength: NameStrength;
}

/** The header of a table. */
export interface Table {
  /** The sign between two cells. Undefined for the rows of an `INSERT`. */
  part: string | undefined;
  width: number;
  columns: readonly Column[];
}

type ReadName = (name: string) => NameStrength | undefined;

export type TableReader = ReturnType<typeof createTableReader>;

/** The sign between two cells: of Markdown and `psql`, of tabs, of CSV. */
const PARTS = ['|', '│', '\t', ',', ';'];
/** Letters. A longer line is not a header. */
const MAX_HEADER = 4000;
/** A cell of a header contains only words. */
const HEADER = /^[\w .#/-]{1,40}$/;
const RULE = /^[\s|│+:=─┼├┤-]*$/;
/** One of these characters follows the name in a header. */
export const BEFORE_CELLS = '"\'`] \t|│,;\r\n';
const END_OF_CELL = /["'`\]]?[ \t]{0,60}(?:[|│\t,;]|\r?\n)/y;

/**
 * Finds the secrets below a header that names them: in CSV, in a Markdown table, in the output of `psql`, in the rows of an
 * `INSERT`. A header is read once for all of its names, and each row is read once, or a wide table would take forever.
 */
export function createTableReader(readName: ReadName) {
  /** The last header read, with its rows. Names in these rows are not headers of other tables. */
  let read = { text: '', start: 0, end: 0 };
  let open: Table | undefined;

  function readHeader(text: string, nameStart: number, nameEnd: number): readonly Place[] {
    const before = text.slice(Math.max(0, nameStart - MAX_HEADER), nameStart);
    const lineStart = nameStart - before.length + before.lastIndexOf('\n') + 1;
    const length = text.slice(nameEnd, nameEnd + MAX_HEADER).indexOf('\n');
    const lineEnd = length < 0 ? nameEnd + MAX_HEADER : nameEnd + length;
    // The other names of the line are read together with this one, or the line is too long.
    read = { text, start: Math.min(lineStart, nameStart), end: lineEnd };
    if (length < 0 || lineEnd - lineStart > MAX_HEADER) return [];
    const line = text.slice(lineStart, lineEnd);
    const part = PARTS.find((each) => line.includes(each));
    if (part === undefined) return [];
    const cells = split(line, part).map(({ value }) => value);
    const names = cells.filter((value, index) => value !== '' || (index > 0 && index < cells.length - 1));
    if (names.length < 2 || !names.every((value) => HEADER.test(value))) return [];
    return readRows(text, lineEnd + 1, { part, width: cells.length, columns: findColumns(cells) });
  }

  function findColumns(names: readonly string[]): Column[] {
    return names.flatMap((name, index) => {
      const strength = [name, /[\w.-]*$/.exec(name)?.[0] ?? ''].map(readName).find(isSure);
      return strength === undefined ? [] : { index, strength };
    });
  }

  function readRows(text: string, from: number, table: Table): Place[] {
    const places: Place[] = [];
    let at = from;
    while (at < text.length) {
      const row = table.part === undefined ? readTuple(text, at) : readLine(text, at, table.part, table.width);
      if (row === undefined) break;
      for (const { index, strength } of table.columns) {
        const cell = row.cells[index];
        if (
          cell !== undefined &&
          isSecretInText(cell.value.slice(0, SAMPLE), strength, cell.isQuoted ? 'quoted' : 'column')
        )
          places.push({ start: row.start + cell.start, end: row.start + cell.end });
      }
      at = row.end;
    }
    if (at > from) read = { ...read, text, end: at };
    open = isEnd(text, at) ? table : undefined;
    return places;
  }

  return {
    /** The secrets of the table whose header contains the name. Empty if the header was read before. */
    find(text: string, nameStart: number, nameEnd: number): readonly Place[] {
      if (nameStart >= read.start && nameStart < read.end && text === read.text) return [];
      END_OF_CELL.lastIndex = nameEnd;
      if (!END_OF_CELL.test(text)) return [];
      return readHeader(text, nameStart, nameEnd);
    },
    /** The secrets of `INSERT INTO users (name, password) VALUES ('robin', '…'), …`, which begins at `start`. */
    findInserted(text: string, start: number): readonly Place[] {
      INSERT.lastIndex = start;
      const insert = INSERT.exec(text);
      if (insert === null) return [];
      const names = split(insert[1] ?? '', ',').map(({ value }) => value.replace(/[`[\]]/g, ''));
      return readRows(text, INSERT.lastIndex, { part: undefined, width: names.length, columns: findColumns(names) });
    },
    /** The secrets of the first rows of a text. The piece before it ended within `table`. */
    resume(text: string, table: Table | undefined): readonly Place[] {
      read = { text, start: 0, end: 0 };
      open = undefined;
      return table === undefined ? [] : readRows(text, 0, table);
    },
    /** The table that has more rows in the next piece. */
    open: () => open,
  };
}

/** Whether only a comma between two rows follows. */
const isEnd = (text: string, at: number) => text.length - at < 16 && /^\s*,?\s*$/.test(text.slice(at));

/** How many letters of a value are read to judge it. */
const SAMPLE = 100;

const isSure = (strength: NameStrength | undefined) => strength === 'password' || strength === 'strong';

interface Row {
  start: number;
  end: number;
  cells: readonly SplitCell[];
}

interface SplitCell extends Place {
  value: string;
  isQuoted: boolean;
}

/** Reads the line as a row of this many cells. A ruled line gives a row without cells. */
function readLine(text: string, start: number, part: string, width: number): Row | undefined {
  const next = text.indexOf('\n', start);
  const end = next < 0 ? text.length : next;
  const line = text.slice(start, text[end - 1] === '\r' ? end - 1 : end);
  if (RULE.test(line)) return line.trim() === '' ? undefined : { start, end: end + 1, cells: [] };
  const cells = split(line, part);
  return cells.length === width ? { start, end: end + 1, cells } : undefined;
}

/** The cells of a line, without blanks and quotes; a comma between quotes separates nothing. */
function split(line: string, part: string): SplitCell[] {
  const cells: SplitCell[] = [];
  let from = 0;
  let quote = '';
  let isAtStart = true;
  for (let index = 0; index <= line.length; index++) {
    const letter = line[index];
    if (quote !== '') {
      if (letter === quote) quote = '';
    } else if (isAtStart && (letter === '"' || letter === "'")) quote = letter;
    if (letter !== ' ' && letter !== '\t') isAtStart = false;
    if (index < line.length && (letter !== part || quote !== '')) continue;
    cells.push(trimCell(line, from, index));
    from = index + 1;
    isAtStart = true;
  }
  return cells;
}

function trimCell(line: string, from: number, to: number): SplitCell {
  let [start, end] = [from, to];
  while (start < end && isBlank(line[start])) start++;
  while (end > start && isBlank(line[end - 1])) end--;
  const isQuoted = line[start] === '"' || line[start] === "'";
  if (isQuoted) start++;
  if (end > start && (line[end - 1] === '"' || line[end - 1] === "'")) end--;
  return { start, end, value: line.slice(start, end), isQuoted };
}

const isBlank = (letter: string | undefined) => letter === ' ' || letter === '\t' || letter === '\r';

/** `findInserted` reads from here on. */
export const INSERT_KEYWORD = 'insert into';
const INSERT = /insert\s{1,8}into\s{1,8}["'`[\w.\]]{1,80}\s{0,8}\(([^()]{1,4000})\)\s{0,8}values\s{0,8}/iy;
const TUPLE = /\s*,?\s*\(((?:[^()'"]|'(?:[^'\\]|\\.|'')*'(?!')|"(?:[^"\\]|\\.)*")*)\)/y;
const MAX_TUPLE = 2000;

function readTuple(text: string, at: number): Row | undefined {
  TUPLE.lastIndex = 0;
  const [tuple, inner = ''] = TUPLE.exec(text.slice(at, at + MAX_TUPLE)) ?? [];
  if (tuple === undefined) return undefined;
  const end = at + tuple.length;
  return { start: end - 1 - inner.length, end, cells: split(inner, ',') };
}
