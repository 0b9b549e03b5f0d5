import type { JsonObject } from '../agent.ts';
import { unfoldColumns } from '../shared/database.ts';
import type { StoredRecord } from '../store.ts';

/** The key of a row's position, a name that no column has. */
export const POSITION = '#';

/** A row of a table as a record, `{<table>: row}`. */
export function toStored(table: string, cells: JsonObject): StoredRecord {
  const { row, position, modifiedAt } = parseRow(cells);
  return { record: { [table]: row }, position, modifiedAt };
}

export function parseRow({ [POSITION]: position, ...cells }: JsonObject) {
  const row = unfoldColumns(cells, (column) => JSON_COLUMNS.has(column));
  return { row, position: Number(position), modifiedAt: Number(cells.time_updated ?? cells.time_created ?? 0) };
}

/** Columns that contain JSON. */
const JSON_COLUMNS = new Set([
  'data',
  'fork_boundary',
  'summary_diffs',
  'metadata',
  'revert',
  'permission',
  'model',
  'prompt',
  'snapshot',
]);
