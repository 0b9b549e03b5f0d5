import type { Readable } from 'node:stream';
import { Problem } from '../../contract/problem.ts';
import { streamText } from '../ingest/page.ts';
import { toTimestamp } from '../store/columns.ts';
import { type ListedTable, readListed } from '../store/rows.ts';
import type { Database, Db, SessionRow } from '../store/schema.ts';
import { asReadable, type ReadableSession, type Viewer } from '../store/viewer.ts';

/**
 * The row, if there is one.
 * @throws Problem `not_found`, saying that the organization has no such `noun`
 */
export function found<Row>(row: Row | undefined, noun: string): Row {
  if (row === undefined) throw new Problem('not_found', `No such ${noun} in this organization.${HINTS[noun] ?? ''}`);
  return row;
}

/** Other answers would reveal which of these is the case. */
const HINTS: Record<string, string> = {
  session: ' It was deleted, is private, or belongs to another organization.',
};

/**
 * The session, if there is one and the viewer may read its events.
 * @throws Problem `not_found`, `content_withheld`
 */
export function foundReadable(viewer: Viewer, row: SessionRow | undefined): ReadableSession {
  const session = asReadable(viewer, found(row, 'session'));
  if (session) return session;
  if (row?.content_expired_at) throw contentGone(row.content_expired_at);
  throw new Problem('content_withheld', 'Only the person of this session may read what was said in it. Ask them.');
}

const contentGone = (at: number) =>
  new Problem(
    'content_withheld',
    `The content of this session was removed on ${toTimestamp(at).slice(0, 10)}, as the retention policy of the organization requires. Its facts are still available.`,
  );

/** The number of rows that are read and written at a time. */
const ROWS_A_PIECE = 250;

/** A whole list of an organization. */
export interface List<Table extends ListedTable> {
  organizationId: string;
  /** The field of the answer that holds the list. */
  name: string;
  table: Table;
  ids: readonly string[];
  show: (row: Database[Table]) => object;
}

/** Answers `{"name":[…]}` in the order of the ids, a few rows at a time, so that a long list takes little memory. */
export const streamList = <Table extends ListedTable>(db: Db, list: List<Table>): Promise<Readable> =>
  streamText(textsOf(db, list));

async function* textsOf<Table extends ListedTable>(
  db: Db,
  { organizationId, name, table, ids, show }: List<Table>,
): AsyncGenerator<string> {
  yield `{${JSON.stringify(name)}:[`;
  let separator = '';
  for (let start = 0; start < ids.length; start += ROWS_A_PIECE) {
    for (const row of await readListed(db, table, organizationId, ids.slice(start, start + ROWS_A_PIECE))) {
      yield separator + JSON.stringify(show(row));
      separator = ',';
    }
  }
  yield ']}';
}
