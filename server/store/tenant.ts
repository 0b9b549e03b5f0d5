import { AsyncLocalStorage } from 'node:async_hooks';
import { type Kysely, type PostgresPool, type PostgresPoolClient, sql } from 'kysely';
import pg from 'pg';
import { TENANT_TABLES } from './migrations/0001-schema.ts';
import { StoreUnsuitable } from './postgres.ts';

/*
 * The second wall between organizations, behind the one in every query: on PostgreSQL, what a request asks is asked as a
 * role that sees the rows of the caller's organization alone.
 */

const organization = new AsyncLocalStorage<string | undefined>();

/** Has all that the work asks of the store see the one organization's rows. */
export const asOrganization = <Result>(organizationId: string, work: () => Result): Result =>
  organization.run(organizationId, work);

/** Has the work see the rows of all organizations, whoever it was begun for. */
export const asService = <Result>(work: () => Result): Result => organization.run(undefined, work);

/** For what is read later on, by somebody else: sees then what is seen now. */
export const asNow = (): (<Result>(work: () => Result) => Result) => AsyncLocalStorage.snapshot();

/** The name of the role, made of the owner's so that each installation on a server has its own. */
const ROLE = sql`left(current_user, 56) || '_tenant'`;

/**
 * Creates the role and lets it use the tables of organizations and no others. Where the owner may not create roles, an
 * administrator does it once.
 */
export async function grantTenant<Schema>(transaction: Kysely<Schema>): Promise<void> {
  await sql`select set_config('app.tenant', ${ROLE}, true), set_config('app.tenant_tables', ${TENANT_TABLES.join()}, true)`.execute(
    transaction,
  );
  await sql`
    do $$
    declare
      tenant text := current_setting('app.tenant');
      tables text[] := string_to_array(current_setting('app.tenant_tables'), ',');
      relation regclass;
    begin
      begin
        execute format('set local role %I', tenant);
        reset role;
      exception when others then
        if not exists (select from pg_roles where rolname = tenant) then
          execute format('create role %I nologin', tenant);
        end if;
        execute format('grant %I to %I', tenant, current_user);
      end;
      if not has_schema_privilege(tenant, current_schema(), 'usage') then
        execute format('grant usage on schema %I to %I', current_schema(), tenant);
      end if;
      for relation in
        select oid from pg_class where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p')
          and relname = any (tables) and not has_table_privilege(tenant, oid, 'select')
      loop
        execute format('grant select, insert, update, delete on %s to %I', relation, tenant);
      end loop;
    exception when insufficient_privilege or undefined_object or duplicate_object or unique_violation then null;
    end $$`.execute(transaction);
}

/**
 * Refuses a role from which row-level security hides the rows: it may use the tables, but they belong to another. To such
 * a role the store looks empty.
 * @throws StoreUnsuitable
 */
export async function assertOwner<Schema>(db: Kysely<Schema>): Promise<void> {
  const { rows } = await sql<{ role: string; owner: string }>`
    select current_user as role, pg_get_userbyid(relowner) as owner
    from pg_class where oid = to_regclass('sessions') and row_security_active(oid)`.execute(db);
  const [hidden] = rows;
  if (hidden === undefined) return;
  throw new StoreUnsuitable(
    `PostgreSQL's row-level security hides every row from the role "${hidden.role}", because the tables belong to "${hidden.owner}". Make the role their owner: see "Whose the tables must be" in docs/postgresql.md.`,
  );
}

/** The role's name; undefined where it cannot be used. */
export async function findTenant(pool: pg.Pool): Promise<string | undefined> {
  const client = await pool.connect();
  try {
    const { rows } = await client.query<{ role: string }>(`select left(current_user, 56) || '_tenant' as role`);
    const role = rows[0]?.role ?? '';
    await client.query('begin');
    await client.query(`set local role ${pg.escapeIdentifier(role)}`);
    await client.query('select from sessions limit 0');
    return role;
  } catch (error) {
    if (UNUSABLE.has((error as { code?: string }).code ?? '')) return undefined;
    throw error;
  } finally {
    await client.query('rollback').catch(() => undefined);
    client.release();
  }
}

/** SQLSTATE of a role that is not there, of one that may not be taken, and of a table that it may not read, or not even see. */
const UNUSABLE = new Set(['22023', '42501', '42704', '42P01']);

/** The pool as Kysely uses it: what is asked for an organization is asked as the role. */
export const poolOfTenants = (pool: pg.Pool, role: string): PostgresPool => ({
  async connect() {
    const organizationId = organization.getStore();
    const client = await pool.connect();
    return organizationId === undefined ? (client as PostgresPoolClient) : restrict(client, role, organizationId);
  },
  end: () => pool.end(),
  options: pool.options,
});

function restrict(client: pg.PoolClient, role: string, organizationId: string): PostgresPoolClient {
  // Settings of a transaction leave nothing behind on a connection that is another's next, also behind a pooler.
  const settings = `; set local role ${pg.escapeIdentifier(role)}; set local app.organization = ${pg.escapeLiteral(organizationId)}`;
  let inTransaction = false;

  /** Three statements that are sent at once, and so in one round trip. */
  async function queryAlone(text: string, values: readonly unknown[]) {
    const asked = [client.query(`begin${settings}`), client.query(text, [...values]), client.query('commit')] as const;
    await Promise.allSettled(asked);
    const [, result] = await Promise.all(asked);
    return result;
  }

  async function query(text: string, values: readonly unknown[]) {
    const begins = /^(begin|start transaction)/.test(text);
    if (!begins && !inTransaction) return queryAlone(text, values);
    if (/^(commit|rollback$)/.test(text)) inTransaction = false;
    if (!begins) return client.query(text, [...values]);
    try {
      const begun = await client.query(text + settings);
      inTransaction = true;
      return begun;
    } catch (error) {
      // Kysely rolls back nothing that failed to begin, and the connection's next user would be in the middle of it.
      await client.query('rollback').catch(() => undefined);
      throw error;
    }
  }

  return { query, release: (isLost?: boolean) => client.release(isLost) } as unknown as PostgresPoolClient;
}
