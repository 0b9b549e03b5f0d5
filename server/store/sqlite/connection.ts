import { DatabaseSync } from 'node:sqlite';

/** Acknowledged data must be fsynced: WAL with synchronous=FULL syncs the log at every commit. */
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

const CHECKPOINTER = `
  PRAGMA busy_timeout = 5000;
  PRAGMA synchronous = FULL;
`;

const READER = `
  PRAGMA busy_timeout = 5000;
  PRAGMA query_only = ON;
  PRAGMA temp_store = MEMORY;
  PRAGMA cache_size = -32768;
`;

/** Opens the only writing connection, and checks its durability. */
export function openWriter(path: string): DatabaseSync {
  const database = new DatabaseSync(path);
  database.exec(WRITER);
  assertDurable(database);
  return database;
}

/** Opens a connection that moves the write-ahead log into the file. The writer must have opened the file first. */
export function openCheckpointer(path: string): DatabaseSync {
  const database = new DatabaseSync(path);
  database.exec(CHECKPOINTER);
  return database;
}

/** Opens a connection in which each query sees everything committed before it. The writer must have opened the file first. */
export function openReader(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { readOnly: true });
  database.exec(READER);
  return database;
}

/**
 * Checks the settings. A new connection may report FULL without applying it, so the answer is reliable only after a first write.
 * @throws if an acknowledged write could be lost
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
