import { hashSecret, newSecretValue } from '../credentials.ts';
import type { Deps } from '../deps.ts';
import type { Handlers } from '../http/handler.ts';
import { recordAction } from '../store/audit.ts';
import { person, secret as secretParty } from '../store/audit-chain.ts';
import { changeMembers, findOrganization } from '../store/organizations.ts';
import { addSecret, issuing, listSecrets, type NewSecret, revokeSecret, toSecret } from '../store/secrets.ts';
import { found } from './answers.ts';
import { findActor } from './members.ts';

export const secretHandlers = ({ store: { db }, lastUses, secretsRevoked, pepper, now }: Deps) =>
  ({
    async issueSecret({ caller, body }) {
      const { organizationId, userId: createdBy } = caller;
      const plane = body.secretEnvironment ?? 'live';
      const value = newSecretValue(plane);
      const secret = prepareSecret(pepper, value, { organizationId, createdBy, plane, name: body.name });
      const row = await changeMembers(db, organizationId, async (members) => {
        await findActor(members, caller);
        const added = await addSecret(members, secret, now());
        await recordAction(members, organizationId, issuing(added), now());
        return added;
      });
      return { status: 201, body: { secretId: row.secret_id, secret: toSecret(row), value } };
    },

    async listSecrets({ caller }) {
      // Includes the last uses that wait in this process, because somebody may reload the page to see them.
      await lastUses.flush();
      return { status: 200, body: { secrets: (await listSecrets(db, caller.organizationId)).map(toSecret) } };
    },

    async revokeSecret({ caller, params }) {
      const { organizationId, userId } = caller;
      const row = await db.transaction().execute(async (transaction) => {
        const { row: revoked, isChanged } = await revokeSecret(transaction, organizationId, params.secretId, now());
        if (isChanged) {
          const target = secretParty(params.secretId);
          const happened = { actor: person(userId), action: 'secret.revoked', target } as const;
          await recordAction(transaction, organizationId, happened, now());
        }
        return revoked;
      });
      const secret = toSecret(found(row, 'secret'));
      await secretsRevoked([secret.secretId]);
      return { status: 200, body: { secret } };
    },

    async identifySecret({ caller }) {
      const { name } = await findOrganization(db, caller.organizationId);
      const { secretId, organizationId, plane } = caller;
      return { status: 200, body: { secretId, organizationId, organizationName: name, secretEnvironment: plane } };
    },
  }) satisfies Partial<Handlers>;

/** A secret for the store, without its value: only its holder knows the value. */
export const prepareSecret = (
  pepper: string,
  value: string,
  whose: Omit<NewSecret, 'hash' | 'prefix' | 'lastFour'>,
): NewSecret => ({
  ...whose,
  hash: hashSecret(pepper, value),
  prefix: value.slice(0, 12),
  lastFour: value.slice(-4),
});
