import type { Migration } from 'kysely/migration';

/** Sessions in the order of how many secrets were taken out of them. */
export const redactionsOrder: Migration = {
  async up({ schema }) {
    await schema
      .createIndex('session_facts_by_redactions')
      .on('session_facts')
      .columns(['organization_id', 'plane', 'redactions desc', 'session_id desc'])
      .execute();
  },
};
