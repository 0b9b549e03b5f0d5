import { isUtf8 } from 'node:buffer';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import type { JsonObject } from '../../agents/agent.ts';
import type { Query } from '../../agents/store.ts';
import { formatBytes } from '../../output.ts';

/** A document is loaded into memory as a whole. */
const MAX_DOCUMENT_BYTES = 256 * 1024 * 1024;

/** The text of a document. Like the file system, throws an error with a `code` where the text is not available. */
export function readDocument(path: string): string {
  const { size } = statSync(path);
  if (size > MAX_DOCUMENT_BYTES) throw unusable(`${formatBytes(size)} are more than the limit for a document`);
  const bytes = readFileSync(path);
  if (!isUtf8(bytes)) throw unusable('it is not UTF-8');
  return bytes.toString('utf8');
}

/**
 * Runs `use` with a query function. The database's agent may be writing at the same time, and capture must not block it:
 * agents that find their database locked at their start simply exit. If no journal or log is beside the file, it is read
 * without any lock, and read again if it changed meanwhile. With a write-ahead log, readers and writers do not block each
 * other. But the first process that opens the file after a crash locks it for recovery. Capture leaves that to the agent.
 */
export function withDatabase<Result>(path: string, use: (query: Query) => Result): Result {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (existsSync(`${path}-journal`)) break;
    const hasLog = existsSync(`${path}-wal`);
    const before = stampOf(path);
    const isWhole = () =>
      hasLog || (stampOf(path) === before && !existsSync(`${path}-wal`) && !existsSync(`${path}-journal`));
    try {
      const result = query(hasLog ? withoutRecovery(path) : withoutLocks(path), use);
      if (isWhole()) return result;
    } catch (error) {
      // A file that changed during the read may have caused any error.
      if (isWhole()) throw error;
    }
  }
  throw Object.assign(new Error('its agent is writing to it'), { code: 'EBUSY' });
}

const ATTEMPTS = 3;

function query<Result>(path: URL, use: (query: Query) => Result): Result {
  const db = new DatabaseSync(path, { readOnly: true, timeout: 1000, readBigInts: true });
  try {
    // Returns whole results rather than cursors, because an open read would keep the agent from checkpointing its log.
    const all: Query = (sql, ...parameters) =>
      db
        .prepare(sql)
        .all(...parameters)
        .map(toObject);
    return use(all);
  } finally {
    db.close();
  }
}

/** https://www.sqlite.org/uri.html#uriimmutable */
const withoutLocks = (path: string): URL => Object.assign(pathToFileURL(path), { search: '?immutable=1' });

/** The index of the log is only read, and built in memory if it is absent: `readonly_shm` in SQLite's `os_unix.c`. */
const withoutRecovery = (path: string): URL =>
  // A database without an index is a copy that no agent has open.
  existsSync(`${path}-shm`) ? Object.assign(pathToFileURL(path), { search: '?readonly_shm=1' }) : pathToFileURL(path);

function stampOf(path: string): string {
  const { size, mtimeNs, ino } = statSync(path, { bigint: true });
  return `${size} ${mtimeNs} ${ino}`;
}

/** An error of the parser in the form of a file system error. */
export function unusable(reason: string): Error {
  return Object.assign(new Error(reason), { code: 'EBADMSG' });
}

const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };

function toObject(row: Record<string, unknown>): JsonObject {
  return Object.fromEntries(Object.entries(row).map(([column, value]) => [column, toJsonValue(value)]));
}

function toJsonValue(value: unknown): unknown {
  if (typeof value === 'bigint') {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : rawJSON(String(value));
  }
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value;
}
