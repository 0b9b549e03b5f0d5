import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Engine } from '../dialect.ts';

/** Indexes for every filter of the session list, a version of what is derived, and how PostgreSQL lays out its tables. */
export const lists = (engine: Engine): Migration => ({
  async up(db) {
    const { schema } = db;
    // Of both planes together, the indexes of each are merged: see `listSessions`.
    await schema.dropIndex('sessions_by_time').execute();
    await schema
      .createIndex('sessions_by_environment_and_agent')
      .on('sessions')
      .columns(['organization_id', 'environment_id', 'agent_id', 'plane', 'started_at desc', 'session_id desc'])
      .execute();
    await schema
      .alterTable('summaries')
      .addColumn('version', 'integer', (column) => column.notNull().defaultTo(0))
      .execute();
    if (engine === 'postgres') await layOut(db);
  },
});

async function layOut(db: Kysely<unknown>): Promise<void> {
  // Bodies are compressed already; trying again costs time at each append and gains nothing.
  await sql`alter table appends alter column body set storage external`.execute(db);
  // Each append updates counters that no index holds: with room on the page they stay where they are (HOT).
  await sql`alter table sessions set (fillfactor = 70)`.execute(db);
  // An append has found and locked its session when it writes, so the look-up of the key is a second one. The embedded
  // engine keeps it: there it costs a look-up in memory, and dropping it would mean to write the whole table anew.
  await sql`alter table appends drop constraint appends_session_id_fkey`.execute(db);
  // What a crash forgets is a minute's counting.
  await sql`alter table rate_limits set unlogged`.execute(db);
}
