import { isUtf8 } from 'node:buffer';
import { closeSync, openSync, readFileSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { JsonObject } from '../../agents/agent.ts';
import type { Query } from '../../agents/store.ts';
import { formatBytes } from '../../output.ts';
import { readAt } from '../cursor.ts';

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

/** Runs `use` with a way to query a database that its agent may be writing to at the same time. */
export function withDatabase<Result>(path: string, use: (query: Query) => Result): Result {
  // Whole results rather than cursors: an open read would keep the agent from tidying up its log.
  const db = new DatabaseSync(path, { readOnly: true, timeout: 1000, readBigInts: true });
  try {
    return use((sql, ...parameters) =>
      db
        .prepare(sql)
        .all(...parameters)
        .map(toJson),
    );
  } finally {
    db.close();
  }
}

/**
 * Whether reading may be in its agent's way: in a database without a write-ahead log, or one that is just being given
 * one, a reader keeps a writer waiting, who may give up. Byte 18 of the header says 2 where there is a log.
 * https://www.sqlite.org/fileformat2.html#file_format_version_numbers
 */
export function isInTheWay(path: string): boolean {
  const fd = openSync(path, 'r');
  try {
    return readAt(fd, 18, 1)[0] !== 2;
  } finally {
    closeSync(fd);
  }
}

/** The parser's own errors, told like those of the file system. */
export function unusable(reason: string): Error {
  return Object.assign(new Error(reason), { code: 'EBADMSG' });
}

const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };

function toJson(row: Record<string, unknown>): JsonObject {
  return Object.fromEntries(Object.entries(row).map(([column, value]) => [column, toJsonValue(value)]));
}

function toJsonValue(value: unknown): unknown {
  if (typeof value === 'bigint') {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : rawJSON(String(value));
  }
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value;
}
