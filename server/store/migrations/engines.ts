import type { Engine } from '../dialect.ts';

/** A semicolon at the end of a line ends a statement. */
export const statementsOf = (text: string): string[] =>
  text
    .split(/;\s*\n/)
    .map((statement) => statement.trim())
    .filter(Boolean);

/** Where the engines word the same table differently. */
interface Dialect {
  bytes: 'blob' | 'bytea';
  /**
   * An append on PostgreSQL has locked its session already, so a foreign key would look it up twice. SQLite finds it in
   * memory.
   */
  sessionOfAppend: string;
  /** Keeps the rows of a table in its primary key. PostgreSQL has no such tables. */
  clustered: string;
}

const DIALECTS: Record<Engine, Dialect> = {
  sqlite: { bytes: 'blob', sessionOfAppend: 'references sessions (session_id)', clustered: ' without rowid' },
  postgres: { bytes: 'bytea', sessionOfAppend: '', clustered: '' },
};

/** @returns the tables as each engine words them, with the statements that only one of them needs */
export const forEngines = (
  text: (dialect: Dialect) => string,
  extra: Partial<Record<Engine, string>> = {},
): Record<Engine, string> => ({
  sqlite: text(DIALECTS.sqlite) + (extra.sqlite ?? ''),
  postgres: text(DIALECTS.postgres) + (extra.postgres ?? ''),
});
