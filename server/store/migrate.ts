import type { Kysely } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import { COLUMN_TYPES, type Engine } from './dialect.ts';
import { initial } from './migrations/0001-initial.ts';
import { summaryVersion } from './migrations/0002-summary-version.ts';
import { capturedSessions } from './migrations/0004-captured-sessions.ts';

/** Forward only, in this order; a migration that has been released is never edited. */
const migrations = (engine: Engine): Record<string, Migration> => ({
  '0001-initial': initial(COLUMN_TYPES[engine]),
  '0002-summary-version': summaryVersion,
  '0004-captured-sessions': capturedSessions,
});

/**
 * Brings the schema up to date. Replicas that start together wait for each other.
 * @throws when the schema is newer than this program
 */
export async function migrate<Schema>(db: Kysely<Schema>, engine: Engine): Promise<void> {
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations(engine) } });
  const { error, results } = await migrator.migrateToLatest();
  if (error === undefined) return;
  const failed = results?.find((result) => result.status === 'Error');
  if (failed)
    throw new Error(`the schema change ${failed.migrationName} failed; nothing of it was kept`, { cause: error });
  throw new Error('the store was written by a newer version of the service; start that version or a later one', {
    cause: error,
  });
}
