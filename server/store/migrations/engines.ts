import type { Engine } from '../dialect.ts';

/** Splits a text into statements. A semicolon at the end of a line ends a statement. */
export const statementsOf = (text: string): string[] =>
  text
    .split(/;\s*\n/)
    .map((statement) => statement.trim())
    .filter(Boolean);

/** The differences between the engines in the definition of a table. */
interface Dialect {
  bytes: 'blob' | 'bytea';
  /**
   * The foreign key of an append. PostgreSQL has none, because an append has locked its session already, so the check would
   * look it up again. SQLite finds the session in memory.
   */
  sessionOfAppend: string;
  /** Keeps the rows of a table in its primary key. PostgreSQL has no such tables. */
  clustered: string;
  /** Compares a text by its bytes, as SQLite always does. */
  inByteOrder: string;
  /** A key that the engine counts up. */
  counted: string;
  /** The words of a chunk. Only PostgreSQL indexes them in their own table. */
  words: 'blob' | 'tsvector';
}

const DIALECTS: Record<Engine, Dialect> = {
  sqlite: {
    bytes: 'blob',
    sessionOfAppend: 'references sessions (session_id)',
    clustered: ' without rowid',
    inByteOrder: '',
    counted: 'integer primary key autoincrement',
    words: 'blob',
  },
  postgres: {
    bytes: 'bytea',
    sessionOfAppend: '',
    clustered: '',
    inByteOrder: ' collate "C"',
    counted: 'bigint generated always as identity primary key',
    words: 'tsvector',
  },
};

/** @returns the statements for each engine, including those that only one of them needs */
export const forEngines = (
  text: (dialect: Dialect) => string,
  extra: Partial<Record<Engine, string>> = {},
): Record<Engine, string> => ({
  sqlite: text(DIALECTS.sqlite) + (extra.sqlite ?? ''),
  postgres: text(DIALECTS.postgres) + (extra.postgres ?? ''),
});
