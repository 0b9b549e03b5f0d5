import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Config, ConfigError } from './config.ts';
import { reindex } from './reindex.ts';
import { moveStore } from './store/move.ts';
import { openStore } from './store/open.ts';

/** What the program does instead of serving, by the word it is called with. */
export const COMMANDS: Record<string, (config: Config, write: (line: string) => void) => Promise<void>> = {
  'migrate --from sqlite --to postgres': migrateToPostgres,
  reindex,
};

/**
 * Moves what is in `DATA_DIR` into the PostgreSQL of `DATABASE_URL`.
 * @throws ConfigError where one of them is missing; MoveRefused
 */
async function migrateToPostgres(config: Config, write: (line: string) => void): Promise<void> {
  const { DATA_DIR: dataDir, DATABASE_URL: databaseUrl } = config;
  const problems = [
    ...(databaseUrl === undefined ? ['DATABASE_URL is needed: the PostgreSQL to move into'] : []),
    ...(existsSync(join(dataDir, 'session-capture.sqlite')) ? [] : [`DATA_DIR ${dataDir} holds no embedded store`]),
  ];
  if (problems.length > 0) throw new ConfigError(problems);
  const onError = (error: Error) => write(`A connection was lost: ${error.message}`);
  const from = await openStore({ dataDir, onError });
  try {
    const to = await openStore({ dataDir, databaseUrl, onError });
    try {
      await moveStore({
        from,
        to,
        onTable: (table, rows, phase) => write(`${phase} ${String(rows).padStart(12)} rows of ${table}`),
      });
    } finally {
      await to.close();
    }
  } finally {
    await from.close();
  }
  write('Everything is there, row by row. Start the service with DATABASE_URL; keep DATA_DIR until you trust it.');
}
