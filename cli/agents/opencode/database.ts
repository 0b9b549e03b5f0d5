import type { JsonObject } from '../agent.ts';
import { rootOf, tablesOf, unfoldColumns } from '../shared/database.ts';
import { isObject } from '../shared/part.ts';
import type { DatabaseSession, DatabaseStore, Query, StoredRecord } from '../store.ts';
import { isUnsettled, toPartRecord } from './records.ts';

/**
 * A row of a table is a record, `{<table>: row}`. A part is `{<role of its message>: row}`. Only the tables with a session's
 * content are read. The tables of accounts, credentials and shares hold secrets, and `event` repeats the others.
 */
export const database: DatabaseStore = {
  kind: 'database',
  sessions: listSessions,
  records: readRecords,
  unknown: countLaterSessions,
};

/** A later version of the agent keeps its sessions in another table, such as `session_v2`, beside the sessions of before. */
function countLaterSessions(query: Query): { table: string; count: number }[] {
  const tables = tablesOf(query);
  const isRead = ['session', 'message', 'part'].every((table) => tables.has(table));
  const known = isRead ? 'WHERE id NOT IN (SELECT id FROM session)' : '';
  return [...tables]
    .filter((table): table is string => typeof table === 'string' && /^session_v\d{1,3}$/.test(table))
    .map((table) => ({ table, count: Number(query(`SELECT count(*) AS count FROM ${table} ${known}`)[0]?.count) }))
    .filter(({ count }) => count > 0);
}

/** The agent may wait this long for another of its processes before it commits a row with the time at which it began. */
const LATE_MS = 10_000;

/** Parts are written in row order, so the latest rows belong to active sessions. */
const RECENT_ROWS = 1000;

/** The key of a row's position, a name that no column has. */
const POSITION = '#';

function listSessions(query: Query): DatabaseSession[] {
  const tables = tablesOf(query);
  if (!['session', 'message', 'part'].every((table) => tables.has(table))) return [];
  // There is no index over the times of parts, so this avoids reading the parts of all sessions.
  const recent = (table: string) => `
    SELECT session_id AS id, max(time_updated) AS changed FROM ${table} NOT INDEXED
    WHERE rowid > (SELECT max(rowid) FROM ${table}) - ${RECENT_ROWS} GROUP BY session_id`;
  const count = tables.has('event_sequence') ? '(SELECT seq FROM event_sequence WHERE aggregate_id = s.id)' : 'NULL';
  const rows = query(`
    SELECT s.id AS name, max(s.time_updated, coalesce(m.changed, 0), coalesce(p.changed, 0)) AS changedAt,
      ${count} AS changes
    FROM session s
    LEFT JOIN (${recent('message')}) m ON m.id = s.id
    LEFT JOIN (${recent('part')}) p ON p.id = s.id`);
  return rows.map(({ name, changedAt, changes }) => ({
    name: String(name),
    changedAt: Number(changedAt),
    // Versions from 1.17 on count every change, including removals and changes to older rows.
    ...(changes !== null && { stamp: `${changedAt} ${changes}` }),
  }));
}

function* readRecords(query: Query, session: string, since: number): Generator<StoredRecord> {
  const from = Math.max(0, since - LATE_MS);
  const tables = tablesOf(query);
  yield* readSession(query, session);
  for (const { id } of query(CHANGED_MESSAGES, session, from, session, from)) {
    yield* readMessage(query, session, String(id), from);
  }
  for (const { table, where, order } of OTHER_TABLES) {
    if (!tables.has(table)) continue;
    const rows = query(
      `SELECT rowid AS "${POSITION}", * FROM ${table} WHERE ${where} ORDER BY ${order}`,
      session,
      from,
    );
    yield* rows.map((row) => toStored(table, row));
  }
  if (tables.has('event')) yield* query(REMOVALS, session).map((row) => toStored('removed', row));
}

/**
 * Yields the session's row whatever its time, because a change of its token counts does not change its time. The record of a
 * sub-agent also names its first ancestor, because its parent may be a sub-agent itself.
 */
function* readSession(query: Query, session: string): Generator<StoredRecord> {
  for (const row of query(`SELECT rowid AS "${POSITION}", * FROM session WHERE id = ?`, session)) {
    const stored = toStored('session', row);
    const root = row.parent_id === null ? {} : { root: rootOf(query, 'session', 'parent_id', session) };
    yield { ...stored, record: { ...stored.record, ...root } };
  }
}

function* readMessage(query: Query, session: string, id: string, from: number): Generator<StoredRecord> {
  const [row] = query(`SELECT rowid AS "${POSITION}", * FROM message WHERE id = ?`, id);
  const message = row && toStored('message', row);
  const data = message && (message.record.message as JsonObject).data;
  const info = isObject(data) ? data : {};
  const isChanged = message && row.session_id === session && message.changedAt >= from;
  const own = isChanged ? [{ ...message, unsettled: isUnsettled(info) }] : [];
  // The model's message is complete once its parts are there.
  if (info.role !== 'assistant') yield* own;
  yield* readParts(query, session, id, from, info);
  if (info.role === 'assistant') yield* own;
}

function* readParts(
  query: Query,
  session: string,
  id: string,
  from: number,
  info: JsonObject,
): Generator<StoredRecord> {
  const firstWrittenAt = writtenWith(info);
  for (const part of query(PARTS, id, session, from)) {
    const { position, changedAt, row } = parseRow(part);
    const content = isObject(row.data) ? row.data : {};
    const toRecord = (row: JsonObject, content: JsonObject) => toPartRecord(row, content, info);
    const state = isObject(content.state) ? content.state : {};
    if (state.status === 'running') {
      // The call is captured at once. Its output is captured once it has not changed for a while.
      const asked = { ...content, state: { status: state.status, input: state.input } };
      const { time_updated: _, ...unchanging } = row;
      yield { record: toRecord({ ...unchanging, data: asked }, asked), position, changedAt };
    }
    const unsettled = isUnsettled(content, info.role);
    yield { record: toRecord(row, content), position, changedAt, unsettled, ...firstWrittenAt };
  }
}

/**
 * A fork copies messages with their times and parts with new ones. The parts of the model have times in their content. Those
 * of the person do not, so their message's time tells how old they are.
 */
function writtenWith({ role, time }: JsonObject): Pick<StoredRecord, 'firstWrittenAt'> {
  const created = role === 'user' && isObject(time) ? time.created : undefined;
  return typeof created === 'number' ? { firstWrittenAt: created } : {};
}

function toStored(table: string, cells: JsonObject): StoredRecord {
  const { row, position, changedAt } = parseRow(cells);
  return { record: { [table]: row }, position, changedAt };
}

function parseRow({ [POSITION]: position, ...cells }: JsonObject) {
  const row = unfoldColumns(cells, (column) => JSON_COLUMNS.has(column));
  return { row, position: Number(position), changedAt: Number(cells.time_updated ?? cells.time_created ?? 0) };
}

/** Columns that hold JSON. */
const JSON_COLUMNS = new Set([
  'data',
  'summary_diffs',
  'metadata',
  'revert',
  'permission',
  'model',
  'prompt',
  'snapshot',
]);

const CHANGED_MESSAGES = `
  SELECT c.id FROM (
    SELECT id FROM message WHERE session_id = ? AND time_updated >= ?
    UNION SELECT message_id FROM part WHERE session_id = ? AND time_updated >= ?
  ) c LEFT JOIN message m ON m.id = c.id ORDER BY m.time_created, c.id`;

const PARTS = `
  SELECT rowid AS "${POSITION}", * FROM part WHERE message_id = ? AND session_id = ? AND time_updated >= ? ORDER BY id`;

/** These are ranges rather than names, because the names end in the version of the event. */
const REMOVALS = `
  SELECT seq AS "${POSITION}", * FROM event WHERE aggregate_id = ?
    AND (type > 'message.removed.' AND type < 'message.removed/'
      OR type > 'message.part.removed.' AND type < 'message.part.removed/') ORDER BY seq`;

const OTHER_TABLES = [
  { table: 'todo', where: 'session_id = ? AND time_updated >= ?', order: 'position' },
  { table: 'session_message', where: 'session_id = ? AND time_updated >= ?', order: 'seq' },
  { table: 'session_input', where: 'session_id = ? AND time_created >= ?', order: 'admitted_seq' },
];
