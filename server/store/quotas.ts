import { type RawBuilder, sql } from 'kysely';
import { Problem } from '../../contract/problem.ts';
import { oneRow } from './rows.ts';
import type { Db } from './schema.ts';

/** The most of each that an organization may have. Revoked, disabled and long unseen ones do not count. */
export const QUOTAS = {
  environments: 10_000,
  installations: 20_000,
  secrets: 1_000,
  members: 10_000,
  directory_users: 20_000,
} as const;
export type Quota = keyof typeof QUOTAS;

/** How many UTF-8 bytes of `config` all installations of an organization together may have. */
export const CONFIG_QUOTA = 8 * 1024 * 1024;

/** A machine counts if it was seen in this time, so that CI runners with random host names stop counting by themselves. */
const SEEN_WITHIN_MS = 7 * 24 * 3_600_000;

const NAMES: Partial<Record<Quota, string>> = { directory_users: 'users of its directory' };

const ADVICE: Record<Quota, string> = {
  environments: 'Those not seen for a week do not count. Give machines that come and go a host name that they share.',
  installations: 'Disable one that is not needed, or give machines that come and go a host name that they share.',
  secrets: 'Revoke one that is not needed.',
  members: 'Remove one who has left first.',
  directory_users: 'Let the directory delete users who have left.',
};

/** Queries for the counted rows of an organization. A machine counts if it was seen after `seenAfter`. */
const COUNTED: Record<Quota, (organizationId: string, seenAfter: number) => RawBuilder<{ count: number | string }>> = {
  environments: (organizationId, seenAfter) => sql`
    select count(*) as count from environments
    where organization_id = ${organizationId} and status = 'active' and last_seen_at > ${seenAfter}`,
  installations: (organizationId, seenAfter) => sql`
    select count(*) as count
    from installations left join environments on environments.environment_id = installations.environment_id
    where installations.organization_id = ${organizationId} and installations.status = 'active'
      and (environments.environment_id is null
        or (environments.status = 'active' and environments.last_seen_at > ${seenAfter}))`,
  secrets: (organizationId) => sql`
    select count(*) as count from secrets where organization_id = ${organizationId} and status = 'active'`,
  members: (organizationId) => sql`
    select count(*) as count from members where organization_id = ${organizationId}`,
  directory_users: (organizationId) => sql`
    select count(*) as count from directory_users where organization_id = ${organizationId}`,
};

/**
 * Checks that one more may be added in this transaction. Other additions to the organization wait until it ends.
 * @throws Problem `quota_reached`
 */
export async function assertRoom(transaction: Db, noun: Quota, organizationId: string, now: number): Promise<void> {
  await lockOrganization(transaction, organizationId);
  const { count } = await oneRow(transaction, COUNTED[noun](organizationId, now - SEEN_WITHIN_MS));
  if (Number(count) < QUOTAS[noun]) return;
  throw new Problem(
    'quota_reached',
    `This organization uses ${QUOTAS[noun]} ${NAMES[noun] ?? noun}, which is its quota. ${ADVICE[noun]}`,
  );
}

/**
 * Checks the bytes of `config` of all installations, after this transaction changed one.
 * @throws Problem `quota_reached`
 */
export async function assertConfigRoom(transaction: Db, organizationId: string): Promise<void> {
  await lockOrganization(transaction, organizationId);
  const { bytes } = await oneRow(
    transaction,
    sql<{ bytes: number | string | null }>`
      select sum(octet_length(config)) as bytes from installations where organization_id = ${organizationId}`,
  );
  if (Number(bytes) <= CONFIG_QUOTA) return;
  throw new Problem(
    'quota_reached',
    `All /config of this organization's agent installations together may have ${CONFIG_QUOTA} bytes. Shorten another one first.`,
  );
}

/** Locks the organization, so that two concurrent additions count each other. An update locks the row on both engines. */
export const lockOrganization = (transaction: Db, organizationId: string) =>
  sql`update organizations set status = status where organization_id = ${organizationId}`.execute(transaction);
