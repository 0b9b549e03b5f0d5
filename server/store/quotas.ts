import { Problem } from '../../contract/problem.ts';
import type { Db } from './schema.ts';

/** The most of each that an organization may use. Revoked, disabled or long unseen ones do not count. */
export const QUOTAS = { environments: 10_000, installations: 20_000, secrets: 1_000, members: 10_000 } as const;
export type Quota = keyof typeof QUOTAS;

/** UTF-8 bytes of `config` that all installations of an organization may have together. */
export const CONFIG_QUOTA = 8 * 1024 * 1024;

/** A machine counts if it was seen in this time, so that CI runners with random host names stop counting by themselves. */
export const SEEN_WITHIN_MS = 7 * 24 * 3_600_000;

const ADVICE: Record<Quota, string> = {
  environments: 'Those not seen for a week do not count. Give machines that come and go a host name that they share.',
  installations: 'Disable one that is not needed, or give machines that come and go a host name that they share.',
  secrets: 'Revoke one that is not needed.',
  members: 'Remove one who has left first.',
};

const COUNTS: Record<Quota, (db: Db, organizationId: string, now: number) => Promise<{ count: number }>> = {
  environments: (db, organizationId, now) =>
    db
      .selectFrom('environments')
      .select((row) => row.fn.countAll<number>().as('count'))
      .where('organization_id', '=', organizationId)
      .where('status', '=', 'active')
      .where('last_seen_at', '>', now - SEEN_WITHIN_MS)
      .executeTakeFirstOrThrow(),
  installations: (db, organizationId, now) =>
    db
      .selectFrom('installations')
      .leftJoin('environments', 'environments.environment_id', 'installations.environment_id')
      .select((row) => row.fn.countAll<number>().as('count'))
      .where('installations.organization_id', '=', organizationId)
      .where('installations.status', '=', 'active')
      .where((row) =>
        row.or([
          row('environments.environment_id', 'is', null),
          row.and([
            row('environments.status', '=', 'active'),
            row('environments.last_seen_at', '>', now - SEEN_WITHIN_MS),
          ]),
        ]),
      )
      .executeTakeFirstOrThrow(),
  secrets: (db, organizationId) =>
    db
      .selectFrom('secrets')
      .select((row) => row.fn.countAll<number>().as('count'))
      .where('organization_id', '=', organizationId)
      .where('status', '=', 'active')
      .executeTakeFirstOrThrow(),
  members: (db, organizationId) =>
    db
      .selectFrom('members')
      .select((row) => row.fn.countAll<number>().as('count'))
      .where('organization_id', '=', organizationId)
      .executeTakeFirstOrThrow(),
};

/**
 * Checks that one more may be added in this transaction. Other additions to the organization wait until it ends.
 * @throws Problem `quota_reached`
 */
export async function assertRoom(transaction: Db, noun: Quota, organizationId: string, now: number): Promise<void> {
  await lockOrganization(transaction, organizationId);
  const { count } = await COUNTS[noun](transaction, organizationId, now);
  if (Number(count) < QUOTAS[noun]) return;
  throw new Problem(
    'quota_reached',
    `This organization uses ${QUOTAS[noun]} ${noun}, which is its quota. ${ADVICE[noun]}`,
  );
}

/**
 * Checks the bytes of `config` of all installations, after this transaction changed one.
 * @throws Problem `quota_reached`
 */
export async function assertConfigRoom(transaction: Db, organizationId: string): Promise<void> {
  await lockOrganization(transaction, organizationId);
  const { bytes } = await transaction
    .selectFrom('installations')
    .select((row) => row.fn.sum<number | null>(row.fn('octet_length', ['config'])).as('bytes'))
    .where('organization_id', '=', organizationId)
    .executeTakeFirstOrThrow();
  if (Number(bytes) <= CONFIG_QUOTA) return;
  throw new Problem(
    'quota_reached',
    `All /config of this organization's agent installations together may have ${CONFIG_QUOTA} bytes. Shorten another one first.`,
  );
}

/** Locks the organization, so that two concurrent additions count each other. An update locks the row on both engines. */
const lockOrganization = (transaction: Db, organizationId: string) =>
  transaction
    .updateTable('organizations')
    .set((row) => ({ status: row.ref('status') }))
    .where('organization_id', '=', organizationId)
    .execute();
