import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { ColumnTypes } from '../dialect.ts';

/** The first schema: tenants, ingest, identity. */
export const initial = (types: ColumnTypes): Migration => ({
  async up(db) {
    await createTenantTables(db);
    await createIngestTables(db, types);
    await createIdentityTables(db);
    await createRateLimitTable(db);
  },
});

async function createTenantTables(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  await schema
    .createTable('settings')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('value', 'text', (column) => column.notNull())
    .execute();
  await schema
    .createTable('users')
    .addColumn('user_id', 'text', (column) => column.primaryKey())
    .addColumn('issuer', 'text', (column) => column.notNull())
    .addColumn('subject', 'text', (column) => column.notNull())
    .addColumn('email', 'text')
    .addColumn('email_verified', 'integer', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('updated_at', 'bigint', (column) => column.notNull())
    .addUniqueConstraint('users_identity', ['issuer', 'subject'])
    .execute();
  await schema
    .createTable('organizations')
    .addColumn('organization_id', 'text', (column) => column.primaryKey())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('slug', 'text', (column) => column.notNull().unique())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('owner_user_id', 'text', (column) => column.notNull())
    .addColumn('tenant_assigned', 'integer', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('updated_at', 'bigint', (column) => column.notNull())
    .execute();
  await schema
    .createTable('members')
    .addColumn('organization_id', 'text', (column) => column.notNull().references('organizations.organization_id'))
    .addColumn('user_id', 'text', (column) => column.primaryKey())
    .addColumn('email', 'text', (column) => column.notNull())
    .addColumn('email_key', 'text', (column) => column.unique())
    .addColumn('role', 'text', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('joined_at', 'bigint')
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('updated_at', 'bigint', (column) => column.notNull())
    .execute();
  await schema.createIndex('members_by_organization').on('members').column('organization_id').execute();
  await schema
    .createTable('secrets')
    .addColumn('secret_id', 'text', (column) => column.primaryKey())
    .addColumn('organization_id', 'text', (column) => column.notNull().references('organizations.organization_id'))
    .addColumn('name', 'text')
    .addColumn('plane', 'text', (column) => column.notNull())
    .addColumn('hash', 'text', (column) => column.notNull().unique())
    .addColumn('prefix', 'text', (column) => column.notNull())
    .addColumn('last_four', 'text', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('created_by', 'text', (column) => column.notNull())
    .addColumn('last_used_at', 'bigint')
    .addColumn('revoked_at', 'bigint')
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('updated_at', 'bigint', (column) => column.notNull())
    .execute();
  await schema.createIndex('secrets_by_organization').on('secrets').columns(['organization_id', 'secret_id']).execute();
}

/** The shape that rate-limiter-flexible expects; used where replicas share a limit. */
async function createRateLimitTable(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('rate_limits')
    .addColumn('key', 'varchar(255)', (column) => column.primaryKey())
    .addColumn('points', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('expire', 'bigint')
    .execute();
}

async function createIngestTables(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  const { schema } = db;
  await schema
    .createTable('environments')
    .addColumn('environment_id', 'text', (column) => column.primaryKey())
    .addColumn('organization_id', 'text', (column) => column.notNull().references('organizations.organization_id'))
    .addColumn('display_name', 'text')
    .addColumn('hostname', 'text', (column) => column.notNull())
    .addColumn('platform', 'text', (column) => column.notNull())
    .addColumn('cli_version', 'text', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('repo_root', 'text')
    .addColumn('repo_remote', 'text')
    .addColumn('git_branch', 'text')
    .addColumn('last_seen_at', 'bigint', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('updated_at', 'bigint', (column) => column.notNull())
    .addUniqueConstraint('environments_identity', ['organization_id', 'hostname', 'platform'])
    .execute();
  await schema
    .createTable('installations')
    .addColumn('installation_id', 'text', (column) => column.primaryKey())
    .addColumn('organization_id', 'text', (column) => column.notNull().references('organizations.organization_id'))
    .addColumn('agent_id', 'text', (column) => column.notNull())
    .addColumn('environment_id', 'text', (column) => column.references('environments.environment_id'))
    .addColumn('version', 'text')
    .addColumn('config', 'text')
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('updated_at', 'bigint', (column) => column.notNull())
    .addUniqueConstraint('installations_identity', ['environment_id', 'agent_id'])
    .execute();
  await schema
    .createIndex('installations_by_organization')
    .on('installations')
    .columns(['organization_id', 'installation_id'])
    .execute();
  await schema
    .createTable('sessions')
    .addColumn('session_id', 'text', (column) => column.primaryKey())
    .addColumn('organization_id', 'text', (column) => column.notNull().references('organizations.organization_id'))
    .addColumn('environment_id', 'text', (column) => column.notNull().references('environments.environment_id'))
    .addColumn('installation_id', 'text', (column) => column.notNull().references('installations.installation_id'))
    .addColumn('agent_id', 'text', (column) => column.notNull())
    .addColumn('plane', 'text', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('title', 'text')
    .addColumn('repo_root', 'text')
    .addColumn('git_branch', 'text')
    .addColumn('started_at', 'bigint', (column) => column.notNull())
    .addColumn('ended_at', 'bigint')
    .addColumn('event_count', 'integer', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('updated_at', 'bigint', (column) => column.notNull())
    .execute();
  // One index a filter of the session list, so that a page costs the same whatever else is stored.
  const listOrder = ['started_at desc', 'session_id desc'] as const;
  for (const [name, filters] of Object.entries({
    sessions_by_plane: ['plane'],
    sessions_by_time: [],
    sessions_by_environment: ['environment_id', 'plane'],
    sessions_by_agent: ['agent_id', 'plane'],
  })) {
    await schema
      .createIndex(name)
      .on('sessions')
      .columns(['organization_id', ...filters, ...listOrder])
      .execute();
  }
  await schema
    .createTable('appends')
    .addColumn('session_id', 'text', (column) => column.notNull().references('sessions.session_id'))
    .addColumn('first_sequence', 'integer', (column) => column.notNull())
    .addColumn('last_sequence', 'integer', (column) => column.notNull())
    .addColumn('organization_id', 'text', (column) => column.notNull())
    .addColumn('append_id', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('idempotency_key', 'text')
    .addColumn('fingerprint', 'text')
    .addColumn('codec', 'integer', (column) => column.notNull())
    .addColumn('body', types.bytes, (column) => column.notNull())
    .addPrimaryKeyConstraint('appends_sequence', ['session_id', 'first_sequence'])
    .execute();
  await schema
    .createIndex('appends_by_key')
    .on('appends')
    .columns(['session_id', 'idempotency_key'])
    .unique()
    .where('idempotency_key', 'is not', null)
    .execute();
  await schema
    .createTable('summaries')
    .addColumn('session_id', 'text', (column) => column.primaryKey().references('sessions.session_id'))
    .addColumn('organization_id', 'text', (column) => column.notNull())
    .addColumn('summarized_through', 'integer', (column) => column.notNull())
    .addColumn('summary', 'text', (column) => column.notNull())
    .execute();
}

async function createIdentityTables(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  await schema
    .createTable('accounts')
    .addColumn('account_id', 'text', (column) => column.primaryKey())
    .addColumn('email', 'text', (column) => column.notNull())
    .addColumn('email_key', 'text', (column) => column.notNull().unique())
    .addColumn('email_verified', 'integer', (column) => column.notNull())
    .addColumn('password', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('updated_at', 'bigint', (column) => column.notNull())
    .execute();
  await schema
    .createTable('links')
    .addColumn('token_hash', 'text', (column) => column.primaryKey())
    .addColumn('purpose', 'text', (column) => column.notNull())
    .addColumn('email', 'text')
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .addColumn('used_at', 'bigint')
    .execute();
  await schema
    .createTable('provider_records')
    .addColumn('record_id', 'text', (column) => column.primaryKey())
    .addColumn('model', 'text', (column) => column.notNull())
    .addColumn('grant_id', 'text')
    .addColumn('uid', 'text')
    .addColumn('user_code', 'text')
    .addColumn('payload', 'text', (column) => column.notNull())
    .addColumn('expires_at', 'bigint')
    .addColumn('consumed_at', 'bigint')
    .execute();
  for (const column of ['grant_id', 'uid', 'user_code', 'expires_at']) {
    await schema.createIndex(`provider_records_by_${column}`).on('provider_records').column(column).execute();
  }
}
