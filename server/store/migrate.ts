import type { Kysely } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import { COLUMN_TYPES, type Engine } from './dialect.ts';
import { initial } from './migrations/0001-initial.ts';
import { lists } from './migrations/0002-lists.ts';
import { people } from './migrations/0003-people.ts';
import { capturedSessions } from './migrations/0004-captured-sessions.ts';
import { derived } from './migrations/0005-derived.ts';
import { deviceSignIns } from './migrations/0006-device-sign-ins.ts';
import { rowSecurity } from './migrations/0007-row-security.ts';
import { redactionsOrder } from './migrations/0008-redactions-order.ts';
import { sessionSecret } from './migrations/0009-session-secret.ts';
import { lockMigrations } from './postgres.ts';
import { grantTenant } from './tenant.ts';

/**
 * Forward only, in this order; a migration that has been released is never edited. While replicas are replaced one after
 * the other the version before goes on: what it asks for stays.
 */
export const migrations = (engine: Engine): Record<string, Migration> => ({
  '0001-initial': initial(COLUMN_TYPES[engine]),
  '0002-lists': lists(engine),
  '0003-people': people,
  '0004-captured-sessions': capturedSessions,
  '0005-derived': derived(engine, COLUMN_TYPES[engine]),
  '0006-device-sign-ins': deviceSignIns,
  '0007-row-security': rowSecurity(engine),
  '0008-redactions-order': redactionsOrder,
  '0009-session-secret': sessionSecret,
});

/**
 * Brings the schema up to date, wholly or not at all. Replicas that start together wait for each other.
 * @throws when the schema is newer than this program
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
  if (!isNewer(error)) throw error;
  throw new Error('the store was written by a newer version of the service; start that version or a later one', {
    cause: error,
  });
}

/** Kysely's words for a migration that was made and that this program does not have. */
const isNewer = (error: unknown) => error instanceof Error && /^corrupted migrations/.test(error.message);
