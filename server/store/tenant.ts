import { AsyncLocalStorage } from 'node:async_hooks';
import { type Kysely, type PostgresPool, type PostgresPoolClient, sql } from 'kysely';
import pg from 'pg';
import { StoreUnsuitable } from './postgres.ts';
import { TENANT_TABLES } from './tables.ts';

/*
 * Every query names its organization. On PostgreSQL row-level security is a second protection: a request runs its queries
 * as a role that sees only the rows of the caller's organization. If a member reads, the role also applies the rule of
 * `viewer.ts`: it sees neither the sessions that are hidden from the member, nor the events that the member may not read.
 */

/** Which rows queries see. */
interface Sight {
  organizationId: string;
  /** The member who reads; `EVERYBODY` if the work does not show sessions to a person. */
  viewer: string;
}

const EVERYBODY = '*';

const organization = new AsyncLocalStorage<Sight | undefined>();

/** Runs work in which queries see only the rows of this organization. @param viewer the member for whom the work reads */
export const asOrganization = <Result>(organizationId: string, work: () => Result, viewer = EVERYBODY): Result =>
  organization.run({ organizationId, viewer }, work);

/** Lets the current work see all sessions of its organization from now on. Its reader must be an admin with that right. */
export function seeEverything(): void {
  const sight = organization.getStore();
  if (sight) sight.viewer = EVERYBODY;
}

/** Runs work in which queries see the rows of all organizations, even within a request. */
export const asService = <Result>(work: () => Result): Result => organization.run(undefined, work);

/** Returns a function that runs later work with the same restrictions as now, for example for the rest of a stream. */
export const asNow = (): (<Result>(work: () => Result) => Result) => AsyncLocalStorage.snapshot();

/** The name of the role, derived from the owner's, so that each installation on a server has its own. */
const ROLE = sql`left(current_user, 56) || '_tenant'`;

/**
 * Creates the role, and grants it the tables of organizations only. If the owner may not create roles, an administrator
 * creates it once.
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
 * Refuses a database role that does not own the tables. Row-level security would hide all rows, and the store would look
 * empty.
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

/** The name of the role; undefined if it cannot be used. */
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

/** SQLSTATE codes for a role that does not exist, may not be assumed, may not read the table, or does not see it. */
const UNUSABLE = new Set(['22023', '42501', '42704', '42P01']);

/** The pool for Kysely: queries for an organization run as the role. */
export const poolOfTenants = (pool: pg.Pool, role: string): PostgresPool => ({
  async connect() {
    const sight = organization.getStore();
    const client = await pool.connect();
    return sight === undefined ? (client as PostgresPoolClient) : restrict(client, role, sight);
  },
  end: () => pool.end(),
  options: pool.options,
});

function restrict(client: pg.PoolClient, role: string, { organizationId, viewer }: Sight): PostgresPoolClient {
  // Settings of a transaction end with it, so the next user of the connection never sees them, even behind a pooler.
  const settings = `; set local role ${pg.escapeIdentifier(role)}; set local app.organization = ${pg.escapeLiteral(organizationId)}; set local app.viewer = ${pg.escapeLiteral(viewer)}`;
  let inTransaction = false;

  /** Sends three statements at once, so that they take one round trip. */
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
      // Kysely does not roll back a transaction that failed to begin; the next user of the connection would be in it.
      await client.query('rollback').catch(() => undefined);
      throw error;
    }
  }

  return { query, release: (isLost?: boolean) => client.release(isLost) } as unknown as PostgresPoolClient;
}
