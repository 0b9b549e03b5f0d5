import type { Migration } from 'kysely/migration';

export const summaryVersion: Migration = {
  async up(db) {
    await db.schema
      .alterTable('summaries')
      .addColumn('version', 'integer', (column) => column.notNull().defaultTo(0))
      .execute();
  },
};
