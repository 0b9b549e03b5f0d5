import { DatabaseSync } from 'node:sqlite';

/** Acknowledged means fsynced: WAL with synchronous=FULL syncs the log at every commit. */
const WRITER = `
  PRAGMA busy_timeout = 5000;
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA foreign_keys = ON;
  PRAGMA secure_delete = ON;
  PRAGMA journal_size_limit = 67108864;
  PRAGMA temp_store = MEMORY;
  PRAGMA wal_autocheckpoint = 4000;
  PRAGMA cache_size = -65536;
`;

const READER = `
  PRAGMA busy_timeout = 5000;
  PRAGMA query_only = ON;
  PRAGMA temp_store = MEMORY;
  PRAGMA cache_size = -32768;
`;

/** The one connection that writes, its durability asserted. */
export function openWriter(path: string): DatabaseSync {
  const database = new DatabaseSync(path);
  database.exec(WRITER);
  assertDurable(database);
  return database;
}

/** A connection that sees what was committed before each of its queries; the writer must have opened the file. */
export function openReader(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { readOnly: true });
  database.exec(READER);
  return database;
}

/**
 * A fresh connection may report FULL and yet not hold it; only after a first write is the answer worth anything.
 * @throws when an acknowledged write could be lost
 */
export function assertDurable(database: DatabaseSync): void {
  database.exec('CREATE TABLE IF NOT EXISTS durability (started_at INTEGER NOT NULL) STRICT');
  database.exec(`DELETE FROM durability; INSERT INTO durability VALUES (${Date.now()})`);
  const journal = database.prepare('PRAGMA journal_mode').get()?.journal_mode;
  const synchronous = database.prepare('PRAGMA synchronous').get()?.synchronous;
  if (synchronous !== 2 || journal !== 'wal') {
    throw new Error(
      `the store is not durable: journal_mode=${journal}, synchronous=${synchronous}; expected wal and 2`,
    );
  }
}
