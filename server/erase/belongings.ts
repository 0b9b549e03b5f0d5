import { sql } from 'kysely';
import type { AuditParty } from '../../contract/audit.ts';
import { directory, type Happened, secret } from '../store/audit-chain.ts';
import { denySignInsOf } from '../store/devices.ts';
import { findDirectoryToken, removeDirectoryToken } from '../store/directory.ts';
import type { Database, Db, MemberKey } from '../store/schema.ts';
import { revokeSecrets } from '../store/secrets.ts';
import { revokeSharesOf } from '../store/shares.ts';
import { removeOwnViews } from '../store/views.ts';

/* Everything in the store that names a person, and what becomes of it when their membership ends. */

/** A person whose membership ends, and what of theirs stays valid because somebody decided so. */
export interface Leaver extends MemberKey {
  actor: AuditParty;
  keepsSecrets: boolean;
  keepsDirectory: boolean;
}

/** What ended, for the audit log, and the ids of revoked secrets, which every replica must refuse. */
interface Ended {
  happened: readonly Happened[];
  secretIds?: readonly string[];
}

type End = (transaction: Db, leaver: Leaver, now: number) => Promise<Ended>;

type Fate =
  /** It ends with the membership, in the same transaction. */
  | End
  /** It stays, for this reason. */
  | string;

/** The secrets that the person issued, and those on their machines. */
const endSecrets: End = async (transaction, { organizationId, userId, actor, keepsSecrets }, now) => {
  const secretIds = keepsSecrets ? [] : await revokeSecrets(transaction, organizationId, now, userId);
  const happened = secretIds.map((id) => ({ actor, action: 'secret.revoked', target: secret(id) }) as const);
  return { happened, secretIds };
};

/** The shares that the person created or received. */
const endShares: End = async (transaction, { organizationId, userId, actor }, now) => ({
  happened: await revokeSharesOf(transaction, organizationId, userId, actor, now),
});

/** The token of the directory, if the person issued it: with its value, they could invite themselves again. */
const endDirectoryToken: End = async (transaction, { organizationId, userId, actor, keepsDirectory }) => {
  const token = await findDirectoryToken(transaction, organizationId);
  if (keepsDirectory || token?.created_by !== userId) return { happened: [] };
  await removeDirectoryToken(transaction, organizationId);
  return { happened: [{ actor, action: 'directory.token_revoked', target: directory(token.token_id) }] };
};

/** Sign-ins that the person confirmed, whose machines have not collected their secret. */
const endSignIns: End = async (transaction, { organizationId, userId, actor }) => ({
  happened: await denySignInsOf(transaction, organizationId, userId, actor),
});

/** Views that the person saved for themselves. Their shared views stay with the organization. */
const endViews: End = async (transaction, { organizationId, userId }) => {
  await removeOwnViews(transaction, organizationId, userId);
  return { happened: [] };
};

const endClaims: End = async (transaction, { organizationId, userId }) => {
  await sql`
    update environments set claimed_by = null
    where organization_id = ${organizationId} and claimed_by = ${userId}`.execute(transaction);
  return { happened: [] };
};

const RECORD = 'a record of who did it';
const DECIDED = 'the query of the removal decides about machines and sessions';

type Columns<Row> = { [Column in keyof Row]?: Fate };

/**
 * Every column with the id of a person. A column that is missing here fails a test. Live streams are no rows: `endStreams` ends
 * them after the transaction.
 */
export const BELONGINGS = {
  users: { user_id: 'the person can still sign in, and join another organization' },
  organizations: { owner_user_id: 'another owner is named, or the membership cannot end' },
  members: { user_id: '`endMembership` removes the row' },
  audit_entries: { actor_id: RECORD, target_id: RECORD },
  person_deletions: { user_id: 'their sessions are deleted afterwards', actor_id: RECORD },
  directory_tokens: { created_by: endDirectoryToken },
  secrets: { created_by: endSecrets, user_id: endSecrets },
  shares: { shared_by: endShares, recipient_id: endShares },
  device_sign_ins: { decided_by: endSignIns },
  views: { created_by: endViews },
  environments: { user_id: DECIDED, claimed_by: endClaims },
  holds: { placed_by: RECORD, released_by: RECORD },
  sessions: { user_id: DECIDED },
  session_views: { user_id: RECORD },
  masks: { requested_by: RECORD },
  event_masks: { masked_by: RECORD },
} satisfies { [Table in keyof Database]?: Columns<Database[Table]> };

const ENDS = new Set(
  Object.values(BELONGINGS)
    .flatMap((columns) => Object.values<Fate>(columns))
    .filter((fate) => typeof fate === 'function'),
);

/** Ends everything of the person that ends with their membership. */
export async function endBelongings(transaction: Db, leaver: Leaver, now: number) {
  const happened: Happened[] = [];
  const secretIds: string[] = [];
  for (const end of ENDS) {
    const ended = await end(transaction, leaver, now);
    happened.push(...ended.happened);
    secretIds.push(...(ended.secretIds ?? []));
  }
  return { happened, secretIds };
}
