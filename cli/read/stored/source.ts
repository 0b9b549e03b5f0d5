import { isUtf8 } from 'node:buffer';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import type { JsonObject } from '../../agents/agent.ts';
import type { Query } from '../../agents/store.ts';
import { formatBytes } from '../../output.ts';

/** A document is held in memory as a whole. */
const MAX_DOCUMENT_BYTES = 256 * 1024 * 1024;

/** The text of a document. Throws an error with a `code` where it cannot be had, like one of the file system. */
export function readDocument(path: string): string {
  const { size } = statSync(path);
  if (size > MAX_DOCUMENT_BYTES) throw unusable(`${formatBytes(size)} are more than a document may have`);
  const bytes = readFileSync(path);
  if (!isUtf8(bytes)) throw unusable('it is no UTF-8');
  return bytes.toString('utf8');
}

/**
 * Runs `use` with a way to query a database that its agent may be writing to at the same time, and must not be kept from
 * it: agents that find their database locked while they start simply end. So the file is read without any lock as long as
 * nothing lies beside it, and once more if it changed meanwhile. With a write-ahead log, readers and writers are not in each
 * other's way, but whoever opens it first after a crash locks it to tidy up: that is left to the agent.
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
      // A file that changed while it was read may have made any error.
      if (isWhole()) throw error;
    }
  }
  throw Object.assign(new Error('its agent is writing to it'), { code: 'EBUSY' });
}

const ATTEMPTS = 3;

function query<Result>(path: URL, use: (query: Query) => Result): Result {
  const db = new DatabaseSync(path, { readOnly: true, timeout: 1000, readBigInts: true });
  try {
    // Whole results rather than cursors: an open read would keep the agent from tidying up its log.
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

/** The index of the log is only read, and made in memory where there is none: `readonly_shm` in SQLite's `os_unix.c`. */
const withoutRecovery = (path: string): URL =>
  // Without an index, this is a copy that no agent has open.
  existsSync(`${path}-shm`) ? Object.assign(pathToFileURL(path), { search: '?readonly_shm=1' }) : pathToFileURL(path);

function stampOf(path: string): string {
  const { size, mtimeNs, ino } = statSync(path, { bigint: true });
  return `${size} ${mtimeNs} ${ino}`;
}

/** The parser's own errors, in the form of the file system's. */
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
