import type { Readable } from 'node:stream';
import { streamPieces } from './page.ts';

/** Rows that are read and written at a time. */
const ROWS_A_PIECE = 250;

/** A whole list of an organization, of which the ids are known. */
export interface List<Row> {
  /** Of the list in the answer. */
  name: string;
  ids: readonly string[];
  idOf: (row: Row) => string;
  /** Reads some of the rows, in any order. */
  read: (ids: readonly string[]) => Promise<Row[]>;
  show: (row: Row) => object;
}

/** `{"name":[…]}` in the order of the ids, some rows at a time, so that a long list takes little memory and holds up nobody. */
export const streamList = <Row>(list: List<Row>): Promise<Readable> => streamPieces(pieces(list));

async function* pieces<Row>({ name, ids, idOf, read, show }: List<Row>): AsyncGenerator<string> {
  yield `{${JSON.stringify(name)}:[`;
  let separator = '';
  for (let start = 0; start < ids.length; start += ROWS_A_PIECE) {
    const some = ids.slice(start, start + ROWS_A_PIECE);
    const rows = new Map((await read(some)).map((row) => [idOf(row), row]));
    for (const id of some) {
      const row = rows.get(id);
      if (!row) continue;
      yield separator + JSON.stringify(show(row));
      separator = ',';
    }
  }
  yield ']}';
}
