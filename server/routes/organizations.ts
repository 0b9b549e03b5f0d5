import { MAX_NAME_LENGTH } from '../../contract/organization.ts';
import { Problem } from '../../contract/problem.ts';
import { isVisible } from '../../contract/visible.ts';
import type { Deps } from '../deps.ts';
import { endOrganization } from '../erase/organization-end.ts';
import type { UserCaller } from '../http/auth.ts';
import type { Handlers } from '../http/handler.ts';
import { recordAction } from '../store/audit.ts';
import { person } from '../store/audit-chain.ts';
import { uniqueViolation } from '../store/dialect.ts';
import { isMemberAnywhere } from '../store/invitations.ts';
import { findMember } from '../store/members.ts';
import {
  createOrganization,
  findOrganization,
  markTenantAssigned,
  renameOrganization,
  toOrganization,
} from '../store/organizations.ts';

export const organizationHandlers = (deps: Deps) => {
  const { store, changes, secretsRevoked, startRound, now } = deps;
  const { db } = store;
  return {
    async createOrganization({ caller, body }) {
      if (caller.membership) throw alreadyMember();
      const { email, emailVerified } = caller;
      if (mustVerifyEmail(caller)) throw unverified();
      const name = readName(body.name);
      if (emailVerified && email && (await isMemberAnywhere(db, email))) throw emailTaken();
      const row = await createOrganization(db, name, caller, now()).catch((error) => {
        throw uniqueViolation(error) === undefined ? error : alreadyMember();
      });
      // Signs the first head of the audit log.
      startRound('audit heads');
      await tellTenant(deps, caller, row.organization_id).catch((cause) => {
        throw new Problem(
          'idp_assignment_failed',
          'The organization was created, but the identity provider could not be informed. Your next sign-in tries again.',
          { cause },
        );
      });
      return { status: 201, body: { ...toOrganization(row), slug: row.slug } };
    },

    async getOrganization({ caller }) {
      return { status: 200, body: toOrganization(await findOrganization(db, caller.organizationId)) };
    },

    async getStorage({ caller }) {
      return { status: 200, body: await deps.storageOf(caller.organizationId) };
    },

    async deleteOrganization({ caller, body }) {
      const { organizationId, userId } = caller;
      const member = await findMember(db, organizationId, userId);
      if (member?.role !== 'owner') throw ownersOnly();
      const { name } = await findOrganization(db, organizationId);
      if (body.name.trim() !== name) throw otherName();
      const secretIds = await endOrganization(db, organizationId, now());
      await changes.endStreams(organizationId);
      await secretsRevoked(secretIds);
      startRound('organizations');
      return { status: 200, body: { organizationId } };
    },

    async renameOrganization({ caller, body }) {
      const { organizationId, userId } = caller;
      const name = readName(body.name);
      const row = await db.transaction().execute(async (transaction) => {
        const { name: before } = await findOrganization(transaction, organizationId);
        const renamed = await renameOrganization(transaction, organizationId, name, now());
        if (name === before) return renamed;
        const target = { kind: 'organization', id: organizationId } as const;
        await recordAction(
          transaction,
          organizationId,
          { actor: person(userId), action: 'organization.renamed', target },
          now(),
        );
        return renamed;
      });
      return { status: 200, body: toOrganization(row) };
    },
  } satisfies Partial<Handlers>;
};

function readName(given: string): string {
  const name = given.trim();
  const { length } = [...name];
  if (length <= MAX_NAME_LENGTH && isVisible(name)) return name;
  throw new Problem(
    'validation_failed',
    `/name must have 1 to ${MAX_NAME_LENGTH} characters, without the spaces around it and without hidden characters.`,
  );
}

/** Informs the identity provider of the person's organization. Each sign-in retries until it succeeds. */
export async function tellTenant(
  { identity, store: { db } }: Deps,
  { claims }: UserCaller,
  organizationId: string,
): Promise<void> {
  await identity.assignTenant(claims, organizationId);
  await markTenantAssigned(db, organizationId);
}

/**
 * Whether the person must prove their e-mail before they create an organization. Otherwise a stranger could create one under
 * somebody else's address, and wait there for that person.
 */
export const mustVerifyEmail = ({ claims, emailVerified }: UserCaller): boolean =>
  !emailVerified && !claims.foundsUnverified;

export const alreadyMember = () =>
  new Problem('organization_exists', 'You already belong to an organization; a person belongs to one.');

const unverified = () =>
  new Problem(
    'email_unverified',
    'Your e-mail address is not verified, so you cannot create an organization. Follow the link in the mail that you got when you created the account, or verify the address at your identity provider, and sign in again.',
  );

const ownersOnly = () => new Problem('insufficient_role', 'Only an owner may delete the organization. Ask one.');

const otherName = () => new Problem('validation_failed', '/name is not the name of this organization.');

const emailTaken = () =>
  new Problem(
    'organization_exists',
    'A member with your e-mail signs in with another account. Sign in with that one. If the identity provider was changed, ask the operator to set ADOPT_MEMBERS=verified-email, and sign in again.',
  );
