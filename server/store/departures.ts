import type { AuditParty } from '../../contract/audit.ts';
import { recordActions } from './audit.ts';
import { type Happened, person, secret } from './audit-chain.ts';
import { removeMember } from './members.ts';
import type { Db, MemberRow } from './schema.ts';
import { revokeSecrets } from './secrets.ts';
import { revokeSharesOf } from './shares.ts';

/** Who ends a membership, and whether the secrets that the person issued or has on their machines go on. */
export interface Departure {
  actor: AuditParty;
  keepsSecrets: boolean;
  action: 'member.removed' | 'member.left';
}

/**
 * Ends a membership or withdraws an invitation, in a transaction of `changeMembers`.
 * @returns ids of the secrets that were revoked
 */
export async function endMembership(
  transaction: Db,
  member: MemberRow,
  { actor, keepsSecrets, action }: Departure,
  now: number,
): Promise<string[]> {
  const { organization_id, user_id } = member;
  await removeMember(transaction, member);
  const revoked = keepsSecrets ? [] : await revokeSecrets(transaction, organization_id, now, user_id);
  const unshared = await revokeSharesOf(transaction, organization_id, user_id, actor, now);
  const departed = action === 'member.left' ? { actor, action, target: person(user_id) } : removal(actor, member);
  const happened = [departed, ...revocations(actor, revoked), ...unshared];
  await recordActions(transaction, organization_id, happened, now);
  return revoked;
}

/** The audit entry of a member who was removed. */
export const removal = (actor: AuditParty, { user_id, role, status }: MemberRow): Happened => ({
  actor,
  action: 'member.removed',
  target: person(user_id),
  details: { role, status },
});

/** The audit entries of secrets that were revoked together. */
const revocations = (actor: AuditParty, secretIds: readonly string[]): Happened[] =>
  secretIds.map((secretId) => ({ actor, action: 'secret.revoked', target: secret(secretId) }));
