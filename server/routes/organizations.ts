import { MAX_NAME_LENGTH } from '../../contract/organization.ts';
import { Problem } from '../../contract/problem.ts';
import type { Deps } from '../deps.ts';
import type { UserCaller } from '../http/caller.ts';
import type { Handlers } from '../http/handler.ts';
import { uniqueViolation } from '../store/dialect.ts';
import { insertInvited, listMembers, removeInvited, toMember } from '../store/members.ts';
import {
  createOrganization,
  findOrganization,
  markTenantAssigned,
  renameOrganization,
  toOrganization,
} from '../store/organizations.ts';

export const organizationHandlers = ({ store: { db }, identity, now }: Deps) => {
  /** Repeated at each sign-in until the provider has taken it. */
  async function assignTenant(caller: UserCaller, organizationId: string): Promise<void> {
    await identity.assignTenant(caller.claims, organizationId);
    await markTenantAssigned(db, organizationId);
  }

  return {
    async createOrganization({ caller, body }) {
      if (caller.membership) throw alreadyMember();
      const row = await createOrganization(db, readName(body.name), caller, now()).catch((error) => {
        throw uniqueViolation(error) === undefined ? error : alreadyMember();
      });
      await assignTenant(caller, row.organization_id).catch((cause) => {
        throw new Problem(
          'idp_assignment_failed',
          'The organization was created, but the identity provider could not be told. It is told again when you next sign in.',
          { cause },
        );
      });
      return { status: 201, body: { ...toOrganization(row), slug: row.slug } };
    },

    async getOrganization({ caller }) {
      return { status: 200, body: toOrganization(await findOrganization(db, caller.organizationId)) };
    },

    async renameOrganization({ caller, body }) {
      const row = await renameOrganization(db, caller.organizationId, readName(body.name), now());
      return { status: 200, body: toOrganization(row) };
    },

    async listMembers({ caller }) {
      return { status: 200, body: { users: (await listMembers(db, caller.organizationId)).map(toMember) } };
    },

    async inviteMember({ caller, body }) {
      const role = body.role ?? 'member';
      if (role === 'owner' && caller.role !== 'owner') {
        throw new Problem('insufficient_role', 'Only an owner may invite an owner.');
      }
      const row = await insertInvited(db, caller.organizationId, body.email, role, now()).catch((error) => {
        throw uniqueViolation(error) === undefined ? error : memberExists();
      });
      const { name: organizationName } = await findOrganization(db, caller.organizationId);
      await identity.invite({ email: row.email, organizationName, role }).catch(async (cause) => {
        await removeInvited(db, caller.organizationId, row.user_id);
        throw new Problem('idp_invite_failed', 'The identity provider could not invite this person. Try again later.', {
          cause,
        });
      });
      return { status: 201, body: { userId: row.user_id, email: row.email, role: row.role, status: row.status } };
    },

    async getPerson({ caller }) {
      const { membership, userId, email, emailVerified } = caller;
      const person = { userId, emailVerified, ...(email === undefined ? {} : { email }) };
      if (!membership) return { status: 200, body: person };
      const organization = toOrganization(await findOrganization(db, membership.organizationId));
      if (!membership.tenantAssigned && organization.ownerUserId === userId) {
        await assignTenant(caller, membership.organizationId).catch(() => undefined);
      }
      return { status: 200, body: { ...person, role: membership.role, organization } };
    },
  } satisfies Partial<Handlers>;
};

function readName(given: string): string {
  const name = given.trim();
  const { length } = [...name];
  if (length >= 1 && length <= MAX_NAME_LENGTH) return name;
  throw new Problem(
    'validation_failed',
    `/name takes 1 to ${MAX_NAME_LENGTH} characters, spaces around it not counted.`,
  );
}

const alreadyMember = () =>
  new Problem('organization_exists', 'You already belong to an organization; a person belongs to one.');

const memberExists = () =>
  new Problem('member_exists', 'This e-mail is already a member or invited, here or in another organization.');
