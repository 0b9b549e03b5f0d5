import { Kysely } from 'kysely';
import { changesOf, migrate, type SchemaChange } from '../server/store/migrate.ts';
import { openPostgres, postgresDialect, SCHEMA_SETTINGS } from '../server/store/postgres.ts';

/* A program: the service one release later. Its schema has two more columns and an index, named after NEXT_VERSION. */

const { DATABASE_URL = '', NEXT_VERSION = '' } = process.env;
const column = `later_${NEXT_VERSION}`;
const changes: SchemaChange[] = [
  ...['sessions', 'appends'].map((table) => ({
    name: `9000-${table}-${column}`,
    isAdditive: true,
    statements: [`alter table ${table} add column ${column} text`],
  })),
  {
    name: `9000-index-${column}`,
    isAdditive: true,
    index: `appends_${column}`,
    on: `appends (organization_id) where ${column} is not null`,
  },
];

async function start(): Promise<void> {
  const pool = openPostgres(DATABASE_URL, () => undefined, { settings: SCHEMA_SETTINGS });
  const db = new Kysely({ dialect: postgresDialect(pool) });
  try {
    await migrate(db, 'postgres', [...changesOf('postgres'), ...changes]);
  } finally {
    await db.destroy();
  }
  await import('../server/main.ts');
}

void start();
