import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * Lets several organizations invite one address, remembers when an invitation was mailed, and counts the passwords an
 * account has had.
 */
export const people: Migration = {
  async up(db) {
    await rebuildMembers(db);
    await db.schema
      .alterTable('accounts')
      .addColumn('password_version', 'integer', (column) => column.notNull().defaultTo(0))
      .execute();
  },
};

/** The embedded engine cannot drop the uniqueness of a column, so the table is written anew. */
async function rebuildMembers(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  await schema
    .createTable('members_next')
    .addColumn('organization_id', 'text', (column) => column.notNull().references('organizations.organization_id'))
    .addColumn('user_id', 'text', (column) => column.primaryKey())
    .addColumn('email', 'text', (column) => column.notNull())
    .addColumn('email_key', 'text')
    .addColumn('role', 'text', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('mailed_at', 'bigint')
    .addColumn('link_expires_at', 'bigint')
    .addColumn('joined_at', 'bigint')
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('updated_at', 'bigint', (column) => column.notNull())
    .execute();
  await sql`
    insert into members_next (organization_id, user_id, email, email_key, role, status, mailed_at, link_expires_at,
      joined_at, created_at, updated_at)
    select organization_id, user_id, email, email_key, role, status,
      case when status = 'invited' then created_at end,
      case when status = 'invited' then
        (select max(expires_at) from links where purpose = 'invitation' and links.email = members.email_key) end,
      joined_at, created_at, updated_at
    from members`.execute(db);
  await schema.dropTable('members').execute();
  await schema.alterTable('members_next').renameTo('members').execute();
  await schema
    .createIndex('members_of_organization')
    .on('members')
    .columns(['organization_id', 'email_key'])
    .unique()
    .execute();
  await schema.createIndex('members_by_email').on('members').column('email_key').execute();
  await schema
    .createIndex('members_active_email')
    .on('members')
    .column('email_key')
    .unique()
    .where(sql.ref('status'), '=', sql.lit('active'))
    .execute();
}
