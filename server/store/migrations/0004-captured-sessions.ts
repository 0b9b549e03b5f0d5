import type { Migration } from 'kysely/migration';

/** Sessions under their client's own keys, and the memory of those that were deleted. */
export const capturedSessions: Migration = {
  async up(db) {
    const { schema } = db;
    for (const name of ['client_key', 'continues_key', 'forked_from_key']) {
      await schema.alterTable('sessions').addColumn(name, 'text').execute();
    }
    for (const name of ['client_ended_at', 'deleted_at']) {
      await schema.alterTable('sessions').addColumn(name, 'bigint').execute();
    }
    await schema
      .createIndex('sessions_by_client_key')
      .on('sessions')
      .columns(['organization_id', 'plane', 'client_key'])
      .unique()
      .where('client_key', 'is not', null)
      .execute();
    await schema
      .createTable('deleted_sessions')
      .addColumn('session_id', 'text', (column) => column.primaryKey())
      .addColumn('organization_id', 'text', (column) => column.notNull().references('organizations.organization_id'))
      .addColumn('plane', 'text', (column) => column.notNull())
      .addColumn('client_key', 'text')
      .addColumn('deleted_at', 'bigint', (column) => column.notNull())
      .addColumn('swept_at', 'bigint')
      .execute();
    await schema
      .createIndex('deleted_sessions_by_client_key')
      .on('deleted_sessions')
      .columns(['organization_id', 'plane', 'client_key'])
      .execute();
    await schema
      .createIndex('deleted_sessions_unswept')
      .on('deleted_sessions')
      .columns(['session_id', 'swept_at'])
      .where('swept_at', 'is', null)
      .execute();
  },
};
