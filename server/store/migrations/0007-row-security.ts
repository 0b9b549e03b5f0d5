import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Engine } from '../dialect.ts';

/** What belongs to one organization alone. A person is looked for over all of them, and so are members. */
export const TENANT_TABLES = [
  'secrets',
  'environments',
  'installations',
  'sessions',
  'deleted_sessions',
  'appends',
  'session_facts',
  'session_values',
  'session_chunks',
  'figures',
] as const;

/** Whoever is not the tables' owner sees the rows of the organization that it has named, and none where it named none. */
export const rowSecurity = (engine: Engine): Migration => ({
  async up(db) {
    if (engine !== 'postgres') return;
    for (const table of TENANT_TABLES) {
      await sql`alter table ${sql.table(table)} enable row level security`.execute(db);
      await sql`create policy own_organization on ${sql.table(table)}
        using (organization_id = current_setting('app.organization', true))`.execute(db);
    }
  },
});
