import type { JsonObject } from '../agent.ts';
import { rootOf } from '../shared/database.ts';
import { isObject } from '../shared/part.ts';
import type { Query, StoredRecord } from '../store.ts';
import { POSITION, parseRow, toStored } from './rows.ts';

/**
 * Version 2 keeps a row per message, whose `data` contains all texts, thoughts and tool calls. It writes the row again after each
 * of them.
 */

interface SessionTables {
  session: string;
  tables: Set<unknown>;
  /** The table of the session, and its row there. */
  table: string;
  cells: JsonObject;
}

/**
 * The messages of version 2 in a session that changed at or after a time. When version 2 is first started, it copies the
 * messages of version 1 with their times, and keeps the originals. The copies lack some of their parts, and capture may have
 * read the originals before. So the originals are read, and the copies are left out.
 */
export function* readSessionMessages(query: Query, place: SessionTables, from: number): Generator<StoredRecord> {
  const { session, tables, table, cells } = place;
  const hasFirst = tables.has('message');
  // In a session of version 1, this table repeats the others.
  if (table === 'session' && hasFirst && query(ANY_MESSAGE, session).length > 0) {
    yield* query(CHANGED, session, from).map((row) => toStored('session_message', row));
    return;
  }
  const root = forkRootOf(query, place);
  const isOfFirst = (row: JsonObject) =>
    hasFirst && query(WRITTEN_AT, root ?? session, Number(row.time_created)).length > 0;
  for (const row of query(CHANGED, session, from)) {
    if (isOfFirst(row)) continue;
    // A fork copies rows with their times, so its own rows are the ones that are younger than it.
    const isCopy = root !== undefined && Number(row.time_created) <= Number(cells.time_created);
    yield* toRecords(row, root === undefined ? {} : { fork: { root, isCopy } });
  }
}

/** A call is captured at once. Its result is captured with the message, once that is complete. */
function* toRecords(cells: JsonObject, fork: JsonObject): Generator<StoredRecord> {
  const { row, position, modifiedAt } = parseRow(cells);
  const data = isObject(row.data) ? row.data : {};
  const unsettled = isOpen(row.type, data);
  if (unsettled && contentOf(data).some(isRunning)) {
    yield { record: { v2: withoutProgress(cells), ...fork }, position, modifiedAt };
  }
  yield { record: { v2: row, ...fork }, position, modifiedAt, unsettled };
}

const contentOf = ({ content }: JsonObject): unknown[] => (Array.isArray(content) ? content : []);

/** Whether a message is still being written. */
function isOpen(type: unknown, { time, error, status }: JsonObject): boolean {
  if (type === 'assistant') return error === undefined && !(isObject(time) && time.completed !== undefined);
  return status === 'running' && (type === 'shell' || type === 'compaction');
}

const stateOf = (element: unknown): JsonObject =>
  isObject(element) && element.type === 'tool' && isObject(element.state) ? element.state : {};

const isRunning = (element: unknown): boolean => stateOf(element).status === 'running';

/** The message as it stays while a call runs. It is parsed again, because parsers take their record apart. */
function withoutProgress(cells: JsonObject): JsonObject {
  const { time_updated: _, ...row } = parseRow(cells).row;
  const data = row.data as JsonObject;
  const content = contentOf(data).map((element) => {
    const { status, input } = stateOf(element);
    return status === 'running' ? { ...(element as JsonObject), state: { status, input } } : element;
  });
  return { ...row, data: { ...data, content } };
}

/** The session from which a fork, or the forks before it, began. Undefined if the session is no fork. */
function forkRootOf(query: Query, { session, table, cells }: SessionTables): string | undefined {
  if (typeof cells.fork_session_id !== 'string') return undefined;
  const first = String(rootOf(query, table, 'fork_session_id', session));
  // A session that was deleted has no row. Its forks still name it.
  const [row] = query(`SELECT fork_session_id AS parent FROM ${table} WHERE id = ?`, first);
  return typeof row?.parent === 'string' ? row.parent : first;
}

const ANY_MESSAGE = 'SELECT 1 FROM message WHERE session_id = ? LIMIT 1';

const WRITTEN_AT = 'SELECT 1 FROM message WHERE session_id = ? AND time_created = ? LIMIT 1';

const CHANGED = `
  SELECT rowid AS "${POSITION}", * FROM session_message WHERE session_id = ? AND time_updated >= ? ORDER BY seq`;
