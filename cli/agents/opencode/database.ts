import type { JsonObject } from '../agent.ts';
import { rootOf, tablesOf } from '../shared/database.ts';
import { isObject } from '../shared/part.ts';
import type { DatabaseSession, DatabaseStore, Query, StoredRecord } from '../store.ts';
import { isUnsettled, toPartRecord } from './records.ts';
import { POSITION, parseRow, toStored } from './rows.ts';
import { readSessionMessages } from './version-2.ts';

/**
 * A row of a table is a record, `{<table>: row}`. A part is `{<role of its message>: row}`, and a message of version 2 is
 * `{v2: row}`. Only the tables with a session's content are read. The tables of accounts, credentials and shares contain secrets,
 * and `event` mostly repeats the others.
 */
export const database: DatabaseStore = {
  kind: 'database',
  sessions: listSessions,
  records: readRecords,
  unknown: countLaterSessions,
};

/** The tables of sessions, the latest version first. Version 2 copied the sessions of version 1, and keeps both tables. */
const SESSION_TABLES = ['session_v2', 'session'];

/** The tables of messages: both of version 1, and the only one of version 2. */
const CONTENTS = [['message', 'part'], ['session_message']];

const sessionTablesIn = (tables: Set<unknown>): string[] => SESSION_TABLES.filter((table) => tables.has(table));

const contentsIn = (tables: Set<unknown>): string[] =>
  CONTENTS.filter((content) => content.every((table) => tables.has(table))).flat();

/** A later version of the agent may keep its sessions in another table, such as `session_v3`, beside those of before. */
function countLaterSessions(query: Query): { table: string; count: number }[] {
  const tables = tablesOf(query);
  const known = contentsIn(tables).length > 0 ? sessionTablesIn(tables) : [];
  const isNew = known.map((table) => `id NOT IN (SELECT id FROM ${table})`).join(' AND ') || 'true';
  return [...tables]
    .filter((table): table is string => typeof table === 'string' && /^session_v\d{1,3}$/.test(table))
    .filter((table) => !known.includes(table))
    .map((table) => ({
      table,
      count: Number(query(`SELECT count(*) AS count FROM ${table} WHERE ${isNew}`)[0]?.count),
    }))
    .filter(({ count }) => count > 0);
}

/** The agent may wait this long for another of its processes before it commits a row with the time at which it began. */
const LATE_MS = 10_000;

/** Messages and parts are written in row order, so the latest rows belong to active sessions. */
const RECENT_ROWS = 1000;

/** The sessions of all versions. A session that the agent has copied to the table of a later version is one session. */
function listSessions(query: Query): DatabaseSession[] {
  const tables = tablesOf(query);
  const contents = contentsIn(tables);
  if (contents.length === 0) return [];
  const listed = new Map<string, DatabaseSession>();
  for (const session of sessionTablesIn(tables).flatMap((table) => listTable(query, tables, table, contents))) {
    const other = listed.get(session.name);
    if (other === undefined || other.modifiedAt < session.modifiedAt) listed.set(session.name, session);
  }
  return [...listed.values()];
}

/** The sessions in one of the tables of sessions. */
function listTable(query: Query, tables: Set<unknown>, table: string, contents: readonly string[]): DatabaseSession[] {
  // There is no index over the times of rows, so this avoids reading the rows of all sessions.
  const recent = (content: string) => `
    SELECT session_id AS id, max(time_updated) AS changed FROM ${content} NOT INDEXED
    WHERE rowid > (SELECT max(rowid) FROM ${content}) - ${RECENT_ROWS} GROUP BY session_id`;
  const count = tables.has('event_sequence') ? '(SELECT seq FROM event_sequence WHERE aggregate_id = s.id)' : 'NULL';
  const changes = contents.map((content) => `coalesce(${content}.changed, 0)`);
  const rows = query(`
    SELECT s.id AS name, max(s.time_updated, ${changes.join(', ')}) AS modifiedAt, ${count} AS changes
    FROM ${table} s
    ${contents.map((content) => `LEFT JOIN (${recent(content)}) ${content} ON ${content}.id = s.id`).join(' ')}`);
  return rows.map(({ name, modifiedAt, changes }) => ({
    name: String(name),
    modifiedAt: Number(modifiedAt),
    // Versions from 1.17 on count every change, including removals and changes to older rows.
    ...(changes !== null && { stamp: `${modifiedAt} ${changes}` }),
  }));
}

function* readRecords(query: Query, session: string, since: number): Generator<StoredRecord> {
  const from = Math.max(0, since - LATE_MS);
  const tables = tablesOf(query);
  const row = findSession(query, tables, session);
  if (row !== undefined) yield toSessionRecord(query, row.table, session, row.cells);
  if (tables.has('message') && tables.has('part')) {
    for (const { id } of query(CHANGED_MESSAGES, session, from, session, from)) {
      yield* readMessage(query, session, String(id), from);
    }
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
  if (tables.has('session_message') && row !== undefined) {
    yield* readSessionMessages(query, { session, tables, ...row }, from);
  }
  if (tables.has('event')) yield* readLog(query, session);
}

/** Entries of the log of changes that no other table repeats: removals of rows, and the tokens that a title took. */
function* readLog(query: Query, session: string): Generator<StoredRecord> {
  for (const row of query(LOG, session)) {
    const isUsage = String(row.type).startsWith(USAGE);
    const stored = toStored(isUsage ? 'usage' : 'removed', row);
    const { data } = stored.record[isUsage ? 'usage' : 'removed'] as JsonObject;
    // The message of a compaction has its tokens.
    if (!isUsage || (isObject(data) && data.source === 'title')) yield stored;
  }
}

/** The session's row in the table of the latest version that has it. */
function findSession(query: Query, tables: Set<unknown>, session: string) {
  for (const table of sessionTablesIn(tables)) {
    const [cells] = query(`SELECT rowid AS "${POSITION}", * FROM ${table} WHERE id = ?`, session);
    if (cells !== undefined) return { table, cells };
  }
  return undefined;
}

/**
 * The session's row is read whatever its time, because a change of its token counts does not change its time. The record of a
 * sub-agent also names its first ancestor, because its parent may be a sub-agent itself.
 */
function toSessionRecord(query: Query, table: string, session: string, cells: JsonObject): StoredRecord {
  const stored = toStored('session', cells);
  const root = cells.parent_id === null ? {} : { root: rootOf(query, table, 'parent_id', session) };
  return { ...stored, record: { ...stored.record, ...root } };
}

function* readMessage(query: Query, session: string, id: string, from: number): Generator<StoredRecord> {
  const [row] = query(`SELECT rowid AS "${POSITION}", * FROM message WHERE id = ?`, id);
  const message = row && toStored('message', row);
  const data = message && (message.record.message as JsonObject).data;
  const info = isObject(data) ? data : {};
  const isChanged = message && row.session_id === session && message.modifiedAt >= from;
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
  const writtenFrom = writtenWith(info);
  for (const part of query(PARTS, id, session, from)) {
    const { position, modifiedAt, row } = parseRow(part);
    const content = isObject(row.data) ? row.data : {};
    const toRecord = (row: JsonObject, content: JsonObject) => toPartRecord(row, content, info);
    const state = isObject(content.state) ? content.state : {};
    if (state.status === 'running') {
      // The call is captured at once. Its output is captured once it has not changed for a while.
      const asked = { ...content, state: { status: state.status, input: state.input } };
      const { time_updated: _, ...unchanging } = row;
      yield { record: toRecord({ ...unchanging, data: asked }, asked), position, modifiedAt };
    }
    const unsettled = isUnsettled(content, info.role);
    yield { record: toRecord(row, content), position, modifiedAt, unsettled, ...writtenFrom };
  }
}

/**
 * A fork copies messages with their times and parts with new ones. The parts of the model have times in their content. Those
 * of the person do not, so their message's time tells how old they are.
 */
function writtenWith({ role, time }: JsonObject): Pick<StoredRecord, 'writtenFrom'> {
  const created = role === 'user' && isObject(time) ? time.created : undefined;
  return typeof created === 'number' ? { writtenFrom: created } : {};
}

const CHANGED_MESSAGES = `
  SELECT c.id FROM (
    SELECT id FROM message WHERE session_id = ? AND time_updated >= ?
    UNION SELECT message_id FROM part WHERE session_id = ? AND time_updated >= ?
  ) c LEFT JOIN message m ON m.id = c.id ORDER BY m.time_created, c.id`;

const PARTS = `
  SELECT rowid AS "${POSITION}", * FROM part WHERE message_id = ? AND session_id = ? AND time_updated >= ? ORDER BY id`;

const USAGE = 'session.usage.recorded';

/** These are ranges rather than names, because the names end in the version of the event. */
const LOG = `
  SELECT seq AS "${POSITION}", * FROM event WHERE aggregate_id = ?
    AND (${['message.removed', 'message.part.removed', 'session.revert.committed', USAGE]
      .map((type) => `type > '${type}.' AND type < '${type}/'`)
      .join(' OR ')}) ORDER BY seq`;

const OTHER_TABLES = [
  { table: 'todo', where: 'session_id = ? AND time_updated >= ?', order: 'position' },
  { table: 'session_input', where: 'session_id = ? AND time_created >= ?', order: 'admitted_seq' },
];
