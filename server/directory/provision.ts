import type { AuditParty } from '../../contract/audit.ts';
import { Problem } from '../../contract/problem.ts';
import type { Deps } from '../deps.ts';
import { endMembership } from '../erase/departures.ts';
import type { DirectoryCaller } from '../http/auth.ts';
import { recordAction } from '../store/audit.ts';
import { directory, person } from '../store/audit-chain.ts';
import { emailKey } from '../store/columns.ts';
import { uniqueViolation } from '../store/dialect.ts';
import {
  findDirectoryUser,
  insertDirectoryUser,
  type KnownUser,
  removeDirectoryUser,
  updateDirectoryUser,
} from '../store/directory.ts';
import { findByDirectoryId, findMemberByEmail, insertInvited, nameMember } from '../store/members.ts';
import { changeMembers, settleOwner } from '../store/organizations.ts';
import type { Db, MemberRow } from '../store/schema.ts';
import type { DirectoryUser } from './attributes.ts';

/** The effect on a member when a directory changes its user. */
interface Outcome {
  invited?: MemberRow;
  left?: MemberRow;
  secretIds: readonly string[];
}

const UNCHANGED: Outcome = { secretIds: [] };

export type Invite = (invited: MemberRow) => Promise<void>;

/**
 * Makes the members of an organization follow its directory. A user who becomes active is invited. Like every invited person,
 * the user is a member from their first request on. A user who is no longer active leaves, and the secrets that they issued or
 * hold are revoked. A member of another organization is invited too, and joins after leaving that organization: a refusal would
 * reveal that other membership.
 */
export const createProvisioning = ({
  store: { db },
  changes,
  secretsRevoked,
  now,
}: Pick<Deps, 'store' | 'changes' | 'secretsRevoked' | 'now'>) => {
  /** Updates a membership, in a transaction of `changeMembers`. */
  async function follow(
    members: Db,
    { organizationId, tokenId }: DirectoryCaller,
    memberKey: string,
    { email, active }: { email: string; active: boolean },
  ): Promise<Outcome> {
    const actor = directory(tokenId);
    const member = await findMemberByEmail(members, organizationId, memberKey);
    const isSame = member?.status === 'active' || memberKey === emailKey(email);
    if (active && member && isSame) return UNCHANGED;
    const secretIds = member ? await end(members, member, actor) : [];
    const known = active ? await findMemberByEmail(members, organizationId, emailKey(email)) : undefined;
    const invited = active && !known ? await invite(members, organizationId, email, actor) : undefined;
    return { secretIds, ...(invited && { invited }), ...(member && { left: member }) };
  }

  /**
   * Keeps the directory's own token: otherwise a directory that removes the person who connected it could remove nobody else.
   * @throws Problem `last_owner`
   */
  async function end(members: Db, member: MemberRow, actor: AuditParty): Promise<string[]> {
    const secretIds = await endMembership(
      members,
      member,
      { actor, keepsSecrets: false, keepsDirectory: true, action: 'member.removed' },
      now(),
    );
    if (await settleOwner(members, member.organization_id, now(), actor)) return secretIds;
    throw new Problem(
      'last_owner',
      'An organization needs an owner, and this is the last one. Make another member an owner in the dashboard first.',
    );
  }

  async function invite(members: Db, organizationId: string, email: string, actor: AuditParty): Promise<MemberRow> {
    const invited = await insertInvited(members, organizationId, email, 'member', now());
    const target = person(invited.user_id);
    const happened = { actor, action: 'member.invited', target, details: { role: invited.role } } as const;
    await recordAction(members, organizationId, happened, now());
    return invited;
  }

  /** Runs a change of users, and then informs everybody concerned about the members' changes. */
  async function run<Result>(
    { organizationId }: DirectoryCaller,
    change: (members: Db) => Promise<{ result: Result; outcome: Outcome }>,
    onInvited?: Invite,
  ): Promise<Result> {
    const { result, outcome } = await changeMembers(db, organizationId, change).catch((error) => {
      throw uniqueViolation(error) === undefined ? error : taken();
    });
    if (outcome.left) await changes.endStreams(organizationId, outcome.left.user_id);
    await secretsRevoked(outcome.secretIds);
    if (outcome.invited) await onInvited?.(outcome.invited);
    return result;
  }

  return {
    /** @returns the id of the new user */
    async create(caller: DirectoryCaller, { attributes, active = true, email }: DirectoryUser, onInvited: Invite) {
      const memberKey = emailKey(email);
      const { externalId } = attributes;
      const known = externalId === undefined ? [] : await findByDirectoryId(db, externalId);
      const create = async (members: Db) => {
        await nameMember(members, caller.organizationId, known, email);
        const row = await insertDirectoryUser(members, caller.organizationId, { attributes, memberKey }, now());
        const outcome = await follow(members, caller, memberKey, { email, active });
        return { result: row.directory_user_id, outcome };
      };
      return run(caller, create, onInvited);
    },

    /** A membership keeps its e-mail when the directory changes the user's e-mail: it is still the same person. */
    async change(
      caller: DirectoryCaller,
      id: string,
      describe: (row: KnownUser) => DirectoryUser,
      onInvited: Invite,
    ): Promise<void> {
      const change = async (members: Db) => {
        const row = await findUser(members, caller, id);
        const { attributes, active = row.role !== null, email } = describe(row);
        const outcome = await follow(members, caller, row.member_key, { email, active });
        const isKept = active && row.role !== null && outcome === UNCHANGED;
        const memberKey = isKept ? row.member_key : emailKey(email);
        await updateDirectoryUser(members, row, { attributes, memberKey }, now());
        return { result: undefined, outcome };
      };
      await run(caller, change, onInvited);
    },

    async remove(caller: DirectoryCaller, id: string): Promise<void> {
      await run(caller, async (members) => {
        const row = await findUser(members, caller, id);
        const outcome = await follow(members, caller, row.member_key, { email: row.member_key, active: false });
        await removeDirectoryUser(members, row);
        return { result: undefined, outcome };
      });
    },
  };
};

/**
 * The user in the directory's current form, in a transaction of `changeMembers`, because another request of the directory may
 * have changed the user.
 * @throws Problem `not_found`
 */
export async function findUser(db: Db, { organizationId }: DirectoryCaller, id: string): Promise<KnownUser> {
  const row = await findDirectoryUser(db, organizationId, id);
  if (row) return row;
  throw new Problem('not_found', 'The directory of this organization has no such user.');
}

const taken = () => new Problem('member_exists', 'Another user of the directory has this user name or e-mail.');
