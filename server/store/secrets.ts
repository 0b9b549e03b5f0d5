import { sql } from 'kysely';
import type { Plane, Secret } from '../../contract/secret.ts';
import { newId } from '../ids.ts';
import { type Happened, person, secret } from './audit-chain.ts';
import { optional, optionalTimestamp, toTimestamp } from './columns.ts';
import { assertRoom, QUOTAS } from './quotas.ts';
import { allRows, changedRows, firstRow, NONE, oneRow } from './rows.ts';
import type { Db, SecretRow } from './schema.ts';

export const toSecret = (row: SecretRow): Secret => ({
  secretId: row.secret_id,
  organizationId: row.organization_id,
  ...optional('name', row.name),
  secretEnvironment: row.plane,
  prefix: row.prefix,
  lastFour: row.last_four,
  status: row.status,
  createdBy: row.created_by,
  createdAt: toTimestamp(row.created_at),
  updatedAt: toTimestamp(row.updated_at),
  ...optionalTimestamp('lastUsedAt', row.last_used_at),
  ...optionalTimestamp('revokedAt', row.revoked_at),
});

export interface NewSecret {
  organizationId: string;
  name: string | undefined;
  plane: Plane;
  hash: string;
  prefix: string;
  lastFour: string;
  createdBy: string;
  /** The person who confirmed the sign-in for which it is issued. */
  userId?: string | undefined;
  /** The machine that gets it, if known. */
  environmentId?: string | undefined;
}

/**
 * Adds a secret, within a transaction.
 * @throws Problem `quota_reached`
 */
export async function addSecret(transaction: Db, secret: NewSecret, now: number): Promise<SecretRow> {
  await assertRoom(transaction, 'secrets', secret.organizationId, now);
  return oneRow(
    transaction,
    sql<SecretRow>`
      insert into secrets (secret_id, organization_id, name, plane, hash, prefix, last_four, status, created_by, is_machine, user_id,
        environment_id, created_at, updated_at)
      values (${newId('sec', now)}, ${secret.organizationId}, ${secret.name ?? null}, ${secret.plane}, ${secret.hash},
        ${secret.prefix}, ${secret.lastFour}, 'active', ${secret.createdBy}, ${Number(secret.userId !== undefined)}, ${secret.userId ?? null},
        ${secret.environmentId ?? null}, ${now}, ${now})
      returning *`,
  );
}

/** The audit entry for an issued secret. @param how further details */
export const issuing = ({ created_by, secret_id, plane }: SecretRow, how: { signIn?: string } = {}): Happened => ({
  actor: person(created_by),
  action: 'secret.issued',
  target: secret(secret_id),
  details: { plane, ...how },
});

/** The least time between two recorded uses, so that a busy secret causes few writes. */
export const USES_APART_MS = 60_000;

/** How many revoked secrets a list contains, in addition to all active ones. */
const MAX_REVOKED = 1_000;

/** Lists all active secrets and the newest revoked ones, newest first. */
export const listSecrets = (db: Db, organizationId: string): Promise<SecretRow[]> =>
  allRows(
    db,
    sql<SecretRow>`
      select * from (${newest(organizationId, 'active', QUOTAS.secrets)}) as active
      union all select * from (${newest(organizationId, 'revoked', MAX_REVOKED)}) as revoked
      order by secret_id desc`,
  );

const newest = (organizationId: string, status: SecretRow['status'], limit: number) => sql`
  select * from secrets where organization_id = ${organizationId} and status = ${status}
  order by secret_id desc limit ${limit}`;

/** Revokes a secret if it is active. @returns no row if the organization has no such secret */
export async function revokeSecret(db: Db, organizationId: string, secretId: string, now: number) {
  const changed = await changedRows(
    db,
    sql`
      update secrets set status = 'revoked', revoked_at = ${now}, updated_at = ${now}
      where organization_id = ${organizationId} and secret_id = ${secretId} and status = 'active'`,
  );
  const row = await firstRow(
    db,
    sql<SecretRow>`select * from secrets where organization_id = ${organizationId} and secret_id = ${secretId}`,
  );
  return { row, isChanged: changed > 0 };
}

/**
 * Revokes the active secrets of the organization: all of them, or those that one person issued or has on their machines. The
 * latter matter because an admin may have signed in a machine that became the person's.
 * @returns the ids of the revoked secrets
 */
export async function revokeSecrets(db: Db, organizationId: string, now: number, userId?: string): Promise<string[]> {
  const rows = await allRows(
    db,
    sql<Pick<SecretRow, 'secret_id'>>`
      update secrets set status = 'revoked', revoked_at = ${now}, updated_at = ${now}
      where organization_id = ${organizationId} and status = 'active'
        ${userId === undefined ? NONE : sql`and (created_by = ${userId} or user_id = ${userId})`}
      returning secret_id`,
  );
  return rows.map(({ secret_id }) => secret_id);
}

type SecretHolder = Pick<
  SecretRow,
  'secret_id' | 'organization_id' | 'plane' | 'status' | 'is_machine' | 'environment_id' | 'user_id'
>;

/** Finds a secret by its hash in all organizations, because the organization is not known yet. */
export const findSecretByHash = (db: Db, hash: string): Promise<SecretHolder | undefined> =>
  firstRow(
    db,
    sql<SecretHolder>`
      select secret_id, organization_id, plane, status, is_machine, environment_id, user_id from secrets
      where hash = ${hash}`,
  );

/** Finds an active secret of the organization by its hash, if it was issued after a time in epoch milliseconds. */
export const findIssued = (db: Db, organizationId: string, hash: string, issuedAfter: number) =>
  firstRow(
    db,
    sql<SecretRow>`
      select * from secrets
      where organization_id = ${organizationId} and hash = ${hash} and status = 'active'
        and created_at > ${issuedAfter}`,
  );

/** Records a use, unless one was recorded less than a minute before. */
export const markSecretUsed = (db: Db, organizationId: string, secretId: string, at: number) =>
  sql`
    update secrets set last_used_at = ${at}
    where organization_id = ${organizationId} and secret_id = ${secretId}
      and (last_used_at is null or last_used_at <= ${at - USES_APART_MS})`.execute(db);
