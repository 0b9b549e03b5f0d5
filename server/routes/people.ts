import type { Person } from '../../contract/extensions.ts';
import type { DepartureQuery } from '../../contract/organization.ts';
import { Problem } from '../../contract/problem.ts';
import type { Claims } from '../claims.ts';
import type { Deps } from '../deps.ts';
import { endMembership, kept } from '../erase/departures.ts';
import type { UserCaller } from '../http/auth.ts';
import type { Handlers } from '../http/handler.ts';
import { person } from '../store/audit-chain.ts';
import { uniqueViolation } from '../store/dialect.ts';
import { acceptInvitation, findInvitation, findProof, listInvitationsOf } from '../store/invitations.ts';
import { findMember } from '../store/members.ts';
import { changeMembers, findOrganization, settleOwner, toOrganization } from '../store/organizations.ts';
import { deletePerson, resolveCaller } from '../store/people.ts';
import { readPolicy } from '../store/policies.ts';
import type { Db } from '../store/schema.ts';
import { asService } from '../store/tenant.ts';
import { lastOwner } from './members.ts';
import { alreadyMember, mustVerifyEmail, tellTenant } from './organizations.ts';

export const personHandlers = (deps: Deps) => {
  const { store, identity, changes, secretsRevoked, now } = deps;
  const { db } = store;

  async function describe(caller: UserCaller): Promise<Person> {
    const { claims, membership, userId, email, emailVerified } = caller;
    const person = { userId, emailVerified, ...(email === undefined ? {} : { email }) };
    if (!membership) {
      const mustVerify = mustVerifyEmail(caller) && { mustVerifyEmail: true };
      return { ...person, ...mustVerify, ...(await describeOffers(claims)) };
    }
    const organization = toOrganization(await findOrganization(db, membership.organizationId));
    if (!membership.tenantAssigned && organization.ownerUserId === userId) {
      await tellTenant(deps, caller, membership.organizationId).catch(() => undefined);
    }
    const { adminsSeeAll } = await readPolicy(db, membership.organizationId);
    return { ...person, role: membership.role, organization, ...(adminsSeeAll && { adminsSeeAll }) };
  }

  async function describeOffers(claims: Claims): Promise<Partial<Person>> {
    const proof = await findProof(db, claims);
    const offers = await listInvitationsOf(db, proof);
    if (offers.length === 0) return claims.emailVerified && claims.email && !proof.email ? { emailTaken: true } : {};
    return {
      invitations: offers.map(({ organization_id: organizationId, name: organizationName, role }) => ({
        organizationId,
        organizationName,
        role,
      })),
    };
  }

  /**
   * @returns ids of the revoked secrets
   * @throws Problem `last_owner`
   */
  async function leave(members: Db, organizationId: string, userId: string, query: DepartureQuery): Promise<string[]> {
    const own = await findMember(members, organizationId, userId);
    // While this request waited, the person may have left or been removed.
    if (!own) return [];
    const departure = { actor: person(userId), ...kept(query), action: 'member.left' } as const;
    const revoked = await endMembership(members, own, departure, now());
    if (!(await settleOwner(members, organizationId, now(), person(userId)))) throw lastOwner();
    return revoked;
  }

  /** Reads all organizations, because a person who left one may have an invitation from another. */
  const describeAnew = ({ claims }: UserCaller) =>
    asService(async () => describe({ claims, ...(await resolveCaller(db, claims, now())) }));

  return {
    async getPerson({ caller }) {
      return { status: 200, body: await describe(caller) };
    },

    async deleteAccount({ caller, query }) {
      const { claims, email, emailVerified, membership, userId } = caller;
      const proof = {
        ...(emailVerified && email && { email }),
        ...(claims.directoryId && { directoryId: claims.directoryId }),
      };
      const erase = async (transaction: Db) => {
        await deletePerson(transaction, userId, proof, now());
        await identity.deleteAccount?.(transaction, claims);
      };
      if (membership) {
        const { organizationId } = membership;
        const secretIds = await changeMembers(db, organizationId, async (members) => {
          const revoked = await leave(members, organizationId, userId, query);
          await erase(members);
          return revoked;
        });
        await changes.endStreams(organizationId, userId);
        await secretsRevoked(secretIds);
      } else await db.transaction().execute(erase);
      return { status: 200, body: { userId } };
    },

    async acceptInvitation({ caller, body }) {
      const { claims, userId, membership } = caller;
      if (membership) throw alreadyMember();
      const proof = await findProof(db, claims);
      const offer = await findInvitation(db, body.organizationId, proof);
      if (!offer) throw noInvitation();
      const accept = db
        .transaction()
        .execute((transaction) => acceptInvitation(transaction, offer.user_id, { userId, proof }, now()));
      const accepted = await accept.catch((error) => {
        throw uniqueViolation(error) === undefined ? error : alreadyMember();
      });
      if (!accepted) throw noInvitation();
      return { status: 200, body: await describeAnew(caller) };
    },

    async leaveOrganization({ caller, query }) {
      const { organizationId, userId } = caller;
      const secretIds = await changeMembers(db, organizationId, (members) =>
        leave(members, organizationId, userId, query),
      );
      await changes.endStreams(organizationId, userId);
      await secretsRevoked(secretIds);
      return { status: 200, body: await describeAnew(caller) };
    },
  } satisfies Partial<Handlers>;
};

const noInvitation = () =>
  new Problem('not_found', 'You have no pending invitation from this organization. Ask to be invited again.');
