import { Problem } from '../../contract/problem.ts';
import type { Db } from './open.ts';

/** The most an organization may have of each, revoked and disabled ones included; so many a list shows whole. */
export const QUOTAS = { environments: 10_000, installations: 20_000, secrets: 1_000, members: 10_000 } as const;
export type Quota = keyof typeof QUOTAS;

const ADVICE: Record<Quota, string> = {
  environments: 'Give machines that come and go a host name that they share.',
  installations: 'Change one of them instead of adding one.',
  secrets: 'Use an active one on more machines.',
  members: 'Remove one who has left first.',
};

/**
 * Makes sure that one more may be added in this transaction. Others that add to the organization wait until it ends.
 * @throws Problem `quota_reached`
 */
export async function assertRoom(transaction: Db, noun: Quota, organizationId: string): Promise<void> {
  // Changes nothing but locks the row, on both engines: of two that add at once, the second counts the first.
  await transaction
    .updateTable('organizations')
    .set((row) => ({ status: row.ref('status') }))
    .where('organization_id', '=', organizationId)
    .execute();
  const { count } = await transaction
    .selectFrom(noun)
    .select((row) => row.fn.countAll<number>().as('count'))
    .where('organization_id', '=', organizationId)
    .executeTakeFirstOrThrow();
  if (Number(count) < QUOTAS[noun]) return;
  throw new Problem(
    'quota_reached',
    `This organization has ${QUOTAS[noun]} ${noun}, as many as it may, and those no longer in use count. ${ADVICE[noun]}`,
  );
}
