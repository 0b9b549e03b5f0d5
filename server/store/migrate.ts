import type { Kysely } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import type { Engine } from './dialect.ts';
import { schema } from './migrations/0001-schema.ts';
import { lockMigrations } from './postgres.ts';
import { grantTenant } from './tenant.ts';

/**
 * Applied in this order, and never edited once released. While replicas are replaced one after the other, the version
 * before runs on the new schema, so a migration only adds.
 */
export const migrations = (engine: Engine): Record<string, Migration> => ({
  '0001-schema': schema(engine),
});

/**
 * Brings the schema up to date, wholly or not at all. Replicas that start together wait for each other.
 * @throws when the schema is newer than this program, or older than the first release
 */
export const migrate = <Schema>(db: Kysely<Schema>, engine: Engine): Promise<void> =>
  db.transaction().execute(async (transaction) => {
    if (engine === 'postgres') await lockMigrations(transaction);
    await migrateToLatest(transaction, engine);
    if (engine === 'postgres') await grantTenant(transaction);
  });

async function migrateToLatest<Schema>(db: Kysely<Schema>, engine: Engine): Promise<void> {
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations(engine) } });
  const { error, results } = await migrator.migrateToLatest();
  if (error === undefined) return;
  const failed = results?.find((result) => result.status === 'Error');
  if (failed)
    throw new Error(`the schema change ${failed.migrationName} failed; nothing of it was kept`, { cause: error });
  if (!isUnknown(error)) throw error;
  throw new Error(error.message.includes(BEFORE_RELEASE) ? TOO_OLD : TOO_NEW, { cause: error });
}

const TOO_NEW = 'the store was written by a newer version of the service; start that version or a later one';
const TOO_OLD =
  'the store was written before the first release and cannot be upgraded; start with an empty DATA_DIR or DATABASE_URL, and send the sessions again with `capture import` on each machine';

/** The first migration of every store from before the first release. */
const BEFORE_RELEASE = '0001-initial';

/** Kysely's words for a store with a migration that this program does not have. */
const isUnknown = (error: unknown): error is Error =>
  error instanceof Error && /^corrupted migrations/.test(error.message);
