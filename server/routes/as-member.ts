import { Problem } from '../../contract/problem.ts';
import type { MemberCaller } from '../http/auth.ts';
import { findMember } from '../store/members.ts';
import { changeMembers } from '../store/organizations.ts';
import type { Db, MemberRow } from '../store/schema.ts';

/**
 * Changes something in an organization while no member leaves. The caller may have been removed, or have received another role,
 * since the body of the request began to arrive.
 * @throws Problem `no_organization`
 */
export const asMember = <Result>(
  db: Db,
  { organizationId, userId }: MemberCaller,
  change: (transaction: Db, member: MemberRow) => Promise<Result>,
): Promise<Result> =>
  changeMembers(db, organizationId, async (transaction) => {
    const member = await findMember(transaction, organizationId, userId);
    if (!member) throw new Problem('no_organization', 'You no longer belong to this organization.');
    return change(transaction, member);
  });
