import type { Migration } from 'kysely/migration';

/** Machines that wait for a person to confirm their sign-in. */
export const deviceSignIns: Migration = {
  async up({ schema }) {
    await schema
      .createTable('device_sign_ins')
      .addColumn('device_hash', 'text', (column) => column.primaryKey())
      .addColumn('user_hash', 'text', (column) => column.notNull().unique())
      .addColumn('hostname', 'text', (column) => column.notNull())
      .addColumn('platform', 'text', (column) => column.notNull())
      .addColumn('cli_version', 'text', (column) => column.notNull())
      .addColumn('address', 'text', (column) => column.notNull())
      .addColumn('status', 'text', (column) => column.notNull())
      .addColumn('organization_id', 'text', (column) => column.references('organizations.organization_id'))
      .addColumn('decided_by', 'text')
      .addColumn('plane', 'text')
      .addColumn('polled_at', 'bigint')
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('expires_at', 'bigint', (column) => column.notNull())
      .execute();
    await schema.createIndex('device_sign_ins_by_end').on('device_sign_ins').column('expires_at').execute();
  },
};
