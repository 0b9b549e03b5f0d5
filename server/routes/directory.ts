import type { Directory } from '../../contract/directory.ts';
import { Problem } from '../../contract/problem.ts';
import { hashSecret, newDirectoryToken } from '../credentials.ts';
import type { Deps } from '../deps.ts';
import type { MemberCaller } from '../http/auth.ts';
import type { Handlers } from '../http/handler.ts';
import { recordAction } from '../store/audit.ts';
import { directory, person } from '../store/audit-chain.ts';
import {
  findDirectoryToken,
  type IssuedToken,
  removeDirectoryToken,
  replaceDirectoryToken,
  toDirectoryToken,
} from '../store/directory.ts';
import { findMember } from '../store/members.ts';
import { changeMembers } from '../store/organizations.ts';
import type { Db } from '../store/schema.ts';

/** How owners manage the directory. `scim.ts` holds the requests of the directory itself. */
export const directoryHandlers = ({ store: { db }, lastUses, pepper, publicUrl, now }: Deps) => {
  const describe = (row: IssuedToken | undefined): Directory => ({
    baseUrl: `${publicUrl}/scim/v2`,
    ...(row && { token: toDirectoryToken(row) }),
  });

  /** Revokes the token, if there is one, and records that. */
  async function revoke(members: Db, { organizationId, userId }: MemberCaller): Promise<void> {
    const before = await findDirectoryToken(members, organizationId);
    if (!before) return;
    await removeDirectoryToken(members, organizationId);
    const target = directory(before.token_id);
    const happened = { actor: person(userId), action: 'directory.token_revoked', target } as const;
    await recordAction(members, organizationId, happened, now());
  }

  return {
    async getDirectory({ caller }) {
      await lastUses.flush();
      return { status: 200, body: describe(await findDirectoryToken(db, caller.organizationId)) };
    },

    async issueDirectoryToken({ caller }) {
      const { organizationId, userId } = caller;
      const value = newDirectoryToken();
      const row = await changeMembers(db, organizationId, async (members) => {
        await assertOwner(members, caller);
        await revoke(members, caller);
        const token = { hash: hashSecret(pepper, value), lastFour: value.slice(-4), createdBy: userId };
        const issued = await replaceDirectoryToken(members, organizationId, token, now());
        const target = directory(issued.token_id);
        const happened = { actor: person(userId), action: 'directory.token_issued', target } as const;
        await recordAction(members, organizationId, happened, now());
        return issued;
      });
      return { status: 201, body: { ...describe({ ...row, issuer_role: 'owner' }), value } };
    },

    async revokeDirectoryToken({ caller }) {
      await changeMembers(db, caller.organizationId, async (members) => {
        await assertOwner(members, caller);
        await revoke(members, caller);
      });
      return { status: 200, body: describe(undefined) };
    },
  } satisfies Partial<Handlers>;
};

/** Reads the caller again: they may have been demoted while the request waited. */
async function assertOwner(members: Db, { organizationId, userId }: MemberCaller): Promise<void> {
  const member = await findMember(members, organizationId, userId);
  if (member?.role === 'owner') return;
  throw new Problem('insufficient_role', 'Only an owner may issue or revoke the token of the directory. Ask one.');
}
