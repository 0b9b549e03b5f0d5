/** A cell of a table of which the header names a secret. */
export interface Cell {
  start: number;
  end: number;
  /** Between quotes. */
  isQuoted: boolean;
}

/** Letters of all rows: each name of a secret in a header reads them anew. */
const LONGEST_TABLE = 320_000;
const MOST_LETTERS = 400;
const MOST_ROW = 1600;
/** What parts the cells of a line: Markdown and `psql`, tabs, CSV. */
const PARTS = ['|', '│', '\t', ',', ';'];
/** A cell of a header has words and nothing else. */
const HEADER = /^[\w .#/-]{1,40}$/;
const RULE = /^[\s|│+:=─┼├┤-]*$/;

/** The cells below a header, if the name at `start` is one: in CSV, in a table of Markdown, in what `psql` prints. */
export function findColumn(text: string, start: number, end: number): Cell[] {
  const before = text.slice(Math.max(0, start - MOST_LETTERS), start);
  const after = text.slice(end, end + MOST_LETTERS);
  const [lineStart, lineEnd] = [start - before.length + before.lastIndexOf('\n') + 1, end + after.indexOf('\n')];
  if (lineEnd < end || (lineStart === start - before.length && lineStart > 0)) return [];
  const line = text.slice(lineStart, lineEnd);
  const part = PARTS.find((each) => line.includes(each));
  if (part === undefined) return [];
  const header = split(line, part);
  const names = header
    .map(({ value }) => value)
    .filter((value, index) => value !== '' || (index > 0 && index < header.length - 1));
  const column = header.findIndex((cell) => lineStart + cell.start <= start && lineStart + cell.end >= end);
  if (names.length < 2 || column < 0 || !names.every((value) => HEADER.test(value))) return [];
  const cells: Cell[] = [];
  for (let at = lineEnd + 1; at < text.length && at - end < LONGEST_TABLE; ) {
    const piece = text.slice(at, at + MOST_ROW);
    const length = piece.indexOf('\n') < 0 ? piece.length : piece.indexOf('\n');
    if (length === MOST_ROW) break;
    const rowEnd = at + length;
    const values = text.slice(at, rowEnd).replace(/\r$/, '');
    if (!RULE.test(values)) {
      const found = split(values, part);
      const cell = found[column];
      if (found.length !== header.length || cell === undefined) break;
      cells.push({ start: at + cell.start, end: at + cell.end, isQuoted: cell.isQuoted });
    } else if (values.trim() === '') break;
    at = rowEnd + 1;
  }
  return cells;
}

/** The cells of a line, without blanks and quotes; a comma between quotes parts nothing. */
function split(line: string, part: string): { start: number; end: number; value: string; isQuoted: boolean }[] {
  const cells = [];
  let from = 0;
  let quote = '';
  for (let index = 0; index <= line.length; index++) {
    const letter = line[index];
    if (quote !== '') {
      if (letter === quote) quote = '';
    } else if ((letter === '"' || letter === "'") && line.slice(from, index).trim() === '') quote = letter;
    if (index < line.length && (letter !== part || quote !== '')) continue;
    const cell = line.slice(from, index);
    const lead = /^\s*["']?/.exec(cell)?.[0].length ?? 0;
    const value = cell.slice(lead).replace(/["']?\s*$/, '');
    const isQuoted = /["']/.test(cell.slice(0, lead));
    cells.push({ start: from + lead, end: from + lead + value.length, value, isQuoted });
    from = index + 1;
  }
  return cells;
}

const INSERT = /insert\s+into\s+["'`[\w.\]]{1,80}\s*$/i;
const VALUES = /\)\s*values\s*/iy;
const TUPLE = /\s*,?\s*\(((?:[^()'"]|'(?:[^'\\]|\\.|'')*'(?!')|"(?:[^"\\]|\\.)*")*)\)/y;
const MOST_TUPLE = 2000;

/** `INSERT INTO users (name, password) VALUES ('robin', '…'), …`: the values of the column at `start`. */
export function findInserted(text: string, start: number, end: number): Cell[] {
  const before = text.slice(Math.max(0, start - MOST_LETTERS), start);
  const open = start - before.length + before.lastIndexOf('(');
  const close = end + text.slice(end, end + MOST_LETTERS).indexOf(')');
  if (!before.includes('(') || close < end) return [];
  if (!INSERT.test(text.slice(Math.max(0, open - 120), open))) return [];
  VALUES.lastIndex = close;
  if (!VALUES.test(text)) return [];
  const column = split(text.slice(open + 1, close), ',').findIndex(
    (cell) => open + 1 + cell.start <= start && open + 1 + cell.end >= end,
  );
  const cells: Cell[] = [];
  for (let at = VALUES.lastIndex; at - end < LONGEST_TABLE; ) {
    const piece = text.slice(at, at + MOST_TUPLE);
    TUPLE.lastIndex = 0;
    const tuple = TUPLE.exec(piece);
    if (tuple === null) break;
    const inner = at + tuple[0].length - 1 - (tuple[1]?.length ?? 0);
    const cell = split(tuple[1] ?? '', ',')[column];
    if (cell !== undefined) cells.push({ start: inner + cell.start, end: inner + cell.end, isQuoted: cell.isQuoted });
    at += tuple[0].length;
  }
  return cells;
}
