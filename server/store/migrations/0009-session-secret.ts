import type { Migration } from 'kysely/migration';

/** Which secret opened a session: what is not known of those that are there already stays so. */
export const sessionSecret: Migration = {
  async up({ schema }) {
    await schema.alterTable('sessions').addColumn('secret_id', 'text').execute();
    await schema
      .createIndex('sessions_by_secret')
      .on('sessions')
      .columns(['organization_id', 'secret_id', 'plane', 'started_at desc', 'session_id desc'])
      .where('secret_id', 'is not', null)
      .execute();
  },
};
