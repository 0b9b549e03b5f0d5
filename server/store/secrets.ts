import type { Plane, Secret } from '../../contract/secret.ts';
import { newId } from '../ids.ts';
import type { Db } from './open.ts';
import { assertRoom, QUOTAS } from './quotas.ts';
import type { SecretRow } from './schema.ts';
import { optional, optionalTimestamp, toTimestamp } from './time.ts';

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
  /** The machine that it is issued to, where that is known already. */
  environmentId?: string | undefined;
}

/**
 * Adds a secret, within a transaction.
 * @throws Problem `quota_reached`
 */
export async function addSecret(transaction: Db, secret: NewSecret, now: number): Promise<SecretRow> {
  await assertRoom(transaction, 'secrets', secret.organizationId, now);
  return transaction
    .insertInto('secrets')
    .values({
      secret_id: newId('sec', now),
      organization_id: secret.organizationId,
      name: secret.name ?? null,
      plane: secret.plane,
      hash: secret.hash,
      prefix: secret.prefix,
      last_four: secret.lastFour,
      status: 'active',
      created_by: secret.createdBy,
      environment_id: secret.environmentId ?? null,
      last_used_at: null,
      revoked_at: null,
      created_at: now,
      updated_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Revoked secrets that a list shows beside all active ones. */
const MOST_REVOKED = 1_000;

/** Newest first: all that are active, and the newest of those that were revoked. */
export async function listSecrets(db: Db, organizationId: string): Promise<SecretRow[]> {
  const newest = (status: SecretRow['status'], limit: number) =>
    db
      .selectFrom('secrets')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .where('status', '=', status)
      .orderBy('secret_id', 'desc')
      .limit(limit)
      .execute();
  const rows = [...(await newest('active', QUOTAS.secrets)), ...(await newest('revoked', MOST_REVOKED))];
  return rows.sort((a, b) => (a.secret_id < b.secret_id ? 1 : -1));
}

/** The secret as revoked; undefined when the organization has no such secret. A revoked one stays as it is. */
export async function revokeSecret(db: Db, organizationId: string, secretId: string, now: number) {
  await db
    .updateTable('secrets')
    .set({ status: 'revoked', revoked_at: now, updated_at: now })
    .where('organization_id', '=', organizationId)
    .where('secret_id', '=', secretId)
    .where('status', '=', 'active')
    .execute();
  return db
    .selectFrom('secrets')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('secret_id', '=', secretId)
    .executeTakeFirst();
}

/**
 * Revokes the active secrets of the organization that a person issued, or without a person all.
 * @returns their ids
 */
export async function revokeSecrets(db: Db, organizationId: string, now: number, issuedBy?: string): Promise<string[]> {
  const rows = await db
    .updateTable('secrets')
    .set({ status: 'revoked', revoked_at: now, updated_at: now })
    .where('organization_id', '=', organizationId)
    .where('status', '=', 'active')
    .$if(issuedBy !== undefined, (query) => query.where('created_by', '=', issuedBy as string))
    .returning('secret_id')
    .execute();
  return rows.map(({ secret_id }) => secret_id);
}

/** By hash over all organizations: the one query that comes before an organization is known. */
export const findSecretByHash = (db: Db, hash: string) =>
  db
    .selectFrom('secrets')
    .select(['secret_id', 'organization_id', 'plane', 'status'])
    .where('hash', '=', hash)
    .executeTakeFirst();

/** An active secret of the organization by its hash, unless it was issued at or before a time in epoch milliseconds. */
export const findIssued = (db: Db, organizationId: string, hash: string, issuedAfter: number) =>
  db
    .selectFrom('secrets')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('hash', '=', hash)
    .where('status', '=', 'active')
    .where('created_at', '>', issuedAfter)
    .executeTakeFirst();

export const markSecretUsed = (db: Db, organizationId: string, secretId: string, now: number) =>
  db
    .updateTable('secrets')
    .set({ last_used_at: now })
    .where('organization_id', '=', organizationId)
    .where('secret_id', '=', secretId)
    .execute();
