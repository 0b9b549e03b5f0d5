import type { RemovalQuery, Role } from '../../contract/organization.ts';
import { Problem } from '../../contract/problem.ts';
import { hashSecret } from '../credentials.ts';
import type { Deps } from '../deps.ts';
import { discard, endMembership, handOver, kept, removal } from '../erase/departures.ts';
import type { MemberCaller } from '../http/auth.ts';
import type { Ask, Handlers } from '../http/handler.ts';
import { recordAction } from '../store/audit.ts';
import { person } from '../store/audit-chain.ts';
import { emailKey } from '../store/columns.ts';
import { uniqueViolation } from '../store/dialect.ts';
import { isMemberAnywhere } from '../store/invitations.ts';
import {
  findMember,
  insertInvited,
  listMemberIds,
  markMailed,
  removeUnmailed,
  toMember,
  toWaitingInvitation,
  updateRole,
} from '../store/members.ts';
import { changeMembers, findOrganization, nameOwner, settleOwner, toOrganization } from '../store/organizations.ts';
import type { Db, MemberRow } from '../store/schema.ts';
import { found, streamList } from './answers.ts';

/** Asks the identity provider to mail the invitation, and records that it did. */
export async function mailInvitation(
  { store: { db }, identity, pepper, now }: Deps,
  row: MemberRow,
  countAs: Ask['countAs'],
): Promise<MemberRow> {
  // Counted by e-mail, so that a new invitation after a withdrawal counts too. The e-mail is hashed, because counters outlive
  // the person.
  await countAs('invitation', hashSecret(pepper, `${row.organization_id} ${emailKey(row.email)}`));
  const { name: organizationName } = await findOrganization(db, row.organization_id);
  const { linkExpiresAt } = await identity
    .invite({ email: row.email, organizationName, role: row.role })
    .catch((cause) => {
      throw new Problem('idp_invite_failed', 'The identity provider could not invite this person. Try again later.', {
        cause,
      });
    });
  return (await markMailed(db, row, linkExpiresAt, now())) ?? row;
}

export const memberHandlers = (deps: Deps) => {
  const { store, changes, identity, startRound, secretsRevoked, now } = deps;
  const { db } = store;
  const toWaiting = (row: MemberRow) => ({
    ...toWaitingInvitation(row),
    ...(identity.keepsMails && row.mailed_at !== null && { isInOutbox: true as const }),
  });
  return {
    async listMembers({ caller }) {
      const { organizationId } = caller;
      const ids = await listMemberIds(db, organizationId);
      const list = { organizationId, name: 'users', table: 'members', ids, show: toMember } as const;
      return { status: 200, body: await streamList(db, list) };
    },

    async inviteMember({ caller, body, countAs }) {
      const role = body.role ?? 'member';
      if (await isMemberAnywhere(db, body.email)) throw memberExists();
      const insert = changeMembers(db, caller.organizationId, async (members) => {
        const actor = await findActor(members, caller);
        mayTouchOwners(actor.role, role);
        const invited = await insertInvited(members, caller.organizationId, body.email, role, now());
        const happened = {
          actor: person(caller.userId),
          action: 'member.invited',
          target: person(invited.user_id),
        } as const;
        await recordAction(members, caller.organizationId, { ...happened, details: { role } }, now());
        return invited;
      });
      const row = await insert.catch((error) => {
        throw uniqueViolation(error) === undefined ? error : invitedAlready();
      });
      await mailInvitation(deps, row, countAs).catch(async (error) => {
        await db.transaction().execute(async (transaction) => {
          // The person may have accepted it in the meantime.
          if (!(await removeUnmailed(transaction, row))) return;
          await recordAction(transaction, row.organization_id, removal(person(caller.userId), row), now());
        });
        throw error;
      });
      return { status: 201, body: { userId: row.user_id, email: row.email, role: row.role, status: row.status } };
    },

    async listInvitations({ caller }) {
      const { organizationId } = caller;
      const ids = await listMemberIds(db, organizationId, 'invited');
      const list = { organizationId, name: 'invitations', table: 'members', ids, show: toWaiting } as const;
      return { status: 200, body: await streamList(db, list) };
    },

    async repeatInvitation({ caller, params, countAs }) {
      const row = await findMember(db, caller.organizationId, params.userId);
      if (row?.status !== 'invited') throw noInvitation();
      mayTouchOwners(caller.role, row.role);
      return { status: 200, body: toWaiting(await mailInvitation(deps, row, countAs)) };
    },

    async changeRole({ caller, params, body }) {
      const row = await changeMember(db, caller, params.userId, now(), async (members, { actor, target }) => {
        mayTouchOwners(actor.role, target.role, body.role);
        const changed = await updateRole(members, target, body.role, now());
        if (target.role === body.role) return changed;
        const details = { from: target.role, to: body.role };
        const happened = {
          actor: person(actor.user_id),
          action: 'member.role_changed',
          target: person(target.user_id),
        } as const;
        await recordAction(members, caller.organizationId, { ...happened, details }, now());
        return changed;
      });
      // The member's live streams restart with what the new role may see.
      await changes.endStreams(caller.organizationId, row.user_id);
      return { status: 200, body: { user: toMember(row) } };
    },

    async removeMember({ caller, params, query }) {
      const { organizationId } = caller;
      const { row, secretIds } = await changeMember(db, caller, params.userId, now(), async (members, who) => {
        mayTouchOwners(who.actor.role, who.target.role);
        const departure = { actor: person(caller.userId), ...kept(query), action: 'member.removed' } as const;
        // This comes before a machine is handed over together with the secrets that stay valid.
        const revoked = await endMembership(members, who.target, departure, now());
        await settleBelongings(members, who, query, now());
        return { row: who.target, secretIds: revoked };
      });
      await changes.endStreams(organizationId, row.user_id);
      await secretsRevoked(secretIds);
      if (query.sessions === 'delete') startRound('removed members');
      return { status: 200, body: { user: toMember(row) } };
    },

    async passOwnership({ caller, body }) {
      const row = await changeMember(db, caller, body.userId, now(), async (members, { actor, target }) => {
        if (actor.role !== 'owner') throw ownersOnly();
        found(target.status === 'active' ? target : undefined, 'member');
        await updateRole(members, actor, 'admin', now());
        await updateRole(members, target, 'owner', now());
        const row = await nameOwner(members, caller.organizationId, target.user_id, now());
        const happened = { actor: person(actor.user_id), action: 'organization.owner_changed' } as const;
        await recordAction(members, row.organization_id, { ...happened, target: person(target.user_id) }, now());
        return row;
      });
      return { status: 200, body: toOrganization(row) };
    },
  } satisfies Partial<Handlers>;
};

/** @throws Problem `validation_failed`, `not_found` */
async function settleBelongings(
  members: Db,
  { actor, target }: { actor: MemberRow; target: MemberRow },
  { sessions, to }: RemovalQuery,
  now: number,
): Promise<void> {
  const { organization_id: organizationId, user_id: userId } = target;
  const leaving = { organizationId, userId, actorId: actor.user_id };
  if (sessions === 'delete') return discard(members, leaving, now);
  if (sessions !== 'handOver') return;
  if (to === undefined || to === userId) throw nobodyToHandOver();
  const next = await findMember(members, organizationId, to);
  await handOver(members, leaving, found(next?.status === 'active' ? next : undefined, 'member').user_id, now);
}

const nobodyToHandOver = () =>
  new Problem('validation_failed', '/to must name another member. That member gets the machines and sessions.');

/**
 * Changes a member while no other change runs, and keeps at least one owner.
 * @throws Problem `not_found`, `last_owner`, and the problems of `findActor`
 */
function changeMember<Result>(
  db: Db,
  caller: MemberCaller,
  userId: string,
  now: number,
  change: (db: Db, who: { actor: MemberRow; target: MemberRow }) => Promise<Result>,
): Promise<Result> {
  const { organizationId } = caller;
  return changeMembers(db, organizationId, async (members) => {
    const actor = await findActor(members, caller);
    const target = found(await findMember(members, organizationId, userId), 'member');
    const result = await change(members, { actor, target });
    if (!(await settleOwner(members, organizationId, now, person(caller.userId)))) throw lastOwner();
    return result;
  });
}

/**
 * Reads the calling admin or owner again within `changeMembers`, because they may have been removed or demoted while the body
 * of the request arrived.
 * @throws Problem `no_organization`, `insufficient_role`
 */
export async function findActor(members: Db, { organizationId, userId }: MemberCaller): Promise<MemberRow> {
  const actor = await findMember(members, organizationId, userId);
  if (!actor) throw new Problem('no_organization', 'You no longer belong to this organization.');
  if (actor.role === 'member') throw new Problem('insufficient_role', 'Only an admin or owner may do this. Ask one.');
  return actor;
}

/** Only owners promote, change and remove owners. */
function mayTouchOwners(own: Role, ...roles: readonly Role[]): void {
  if (own !== 'owner' && roles.includes('owner')) throw ownersOnly();
}

export const lastOwner = () =>
  new Problem(
    'last_owner',
    'An organization needs an owner. Make another member an owner first, or delete the organization.',
  );

const ownersOnly = () =>
  new Problem('insufficient_role', 'Only an owner may name, invite, change or remove an owner. Ask one.');

const noInvitation = () => new Problem('not_found', 'There is no such pending invitation in this organization.');

export const memberExists = () =>
  new Problem('member_exists', 'This e-mail already belongs to a member, here or in another organization.');

const invitedAlready = () => new Problem('member_exists', 'This e-mail is already invited. Send the invitation again.');
