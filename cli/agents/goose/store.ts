import type { JsonObject } from '../agent.ts';
import { rootOf, tablesOf, unfoldColumns } from '../shared/database.ts';
import type { DatabaseSession, DatabaseStore, Query, StoredRecord } from '../store.ts';

/**
 * A row of a table is a record, `{<table>: row}`. Messages have no time of their last change, and all of them are written
 * again when a conversation is shortened. So a changed session is read as a whole, and known records are recognised.
 */
export const database: DatabaseStore = { kind: 'database', sessions: listSessions, records: readRecords };

function listSessions(query: Query): DatabaseSession[] {
  const tables = tablesOf(query);
  if (!tables.has('sessions') || !tables.has('messages')) return [];
  // Row numbers are never reused, and the index over sessions contains them.
  const last = (table: string) => `SELECT session_id, max(id) AS last FROM ${table} GROUP BY session_id`;
  const ledger = tables.has('usage_ledger') ? last('usage_ledger') : 'SELECT NULL AS session_id, NULL AS last';
  const rows = query(`
    SELECT s.id AS name, s.updated_at AS changed, m.last AS message, u.last AS usage
    FROM sessions s LEFT JOIN (${last('messages')}) m ON m.session_id = s.id
    LEFT JOIN (${ledger}) u ON u.session_id = s.id`);
  return rows.map(({ name, changed, message, usage }) => ({
    name: String(name),
    modifiedAt: toTime(changed) ?? 0,
    stamp: `${changed} ${message} ${usage}`,
  }));
}

function* readRecords(query: Query, session: string): Generator<StoredRecord> {
  const tables = tablesOf(query);
  const usage = tables.has('usage_ledger')
    ? query('SELECT * FROM usage_ledger WHERE session_id = ? ORDER BY id', session)
    : [];
  for (const row of query('SELECT rowid AS "#", * FROM sessions WHERE id = ?', session)) {
    const { '#': position, ...cells } = row;
    const isChild = typeof row.parent_session_id === 'string';
    const root = isChild && { root: rootOf(query, 'sessions', 'parent_session_id', session) };
    // If the ledger has tokens, the totals repeat them.
    const key = usage.length > 0 ? 'sessions' : 'summed';
    const record = { [key]: unfoldRow(cells), ...(root || {}) };
    yield { record, position: Number(position), modifiedAt: toTime(row.updated_at) ?? 0 };
  }
  const messages = query('SELECT * FROM messages WHERE session_id = ? ORDER BY created_timestamp, id', session);
  yield* messages.map((row) => toStored('messages', row));
  yield* usage.map((row) => toStored('usage_ledger', row));
}

const toStored = (table: string, row: JsonObject): StoredRecord => ({
  record: { [table]: unfoldRow(row) },
  position: Number(row.id),
  modifiedAt: toTime(row.created_timestamp) ?? 0,
});

const unfoldRow = (row: JsonObject): JsonObject => unfoldColumns(row, (column) => JSON_COLUMN.test(column));

const JSON_COLUMN = /_json$|^extension_data$|^parent_delegation$/;

/** A time of Goose in milliseconds. Goose writes seconds, in some versions milliseconds, or UTC text without a zone. */
export function toTime(value: unknown): number | undefined {
  if (typeof value === 'number') return value < FIRST_MILLISECONDS ? value * 1000 : value;
  if (typeof value !== 'string') return undefined;
  const time = Date.parse(/^[\d-]+ [\d:.]+$/.test(value) ? `${value.replace(' ', 'T')}Z` : value);
  return Number.isNaN(time) ? undefined : time;
}

/** As seconds, this is in the year 2286. */
const FIRST_MILLISECONDS = 10_000_000_000;
