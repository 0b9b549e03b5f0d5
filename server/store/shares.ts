import { sql } from 'kysely';
import type { AuditParty } from '../../contract/audit.ts';
import type { Policy } from '../../contract/policy.ts';
import { Problem } from '../../contract/problem.ts';
import type { Share, ShareBody } from '../../contract/share.ts';
import { newId } from '../ids.ts';
import { recordAction, recordActions } from './audit.ts';
import { type Happened, person } from './audit-chain.ts';
import { fromTimestamp, optionalTimestamp, toTimestamp } from './columns.ts';
import { forKeyShare } from './dialect.ts';
import { findMember } from './members.ts';
import { readPolicy } from './policies.ts';
import { allRows, firstRow, NONE, oneRow } from './rows.ts';
import type { Db, SessionRow, ShareRow } from './schema.ts';
import { mayShare, named, type Viewer } from './viewer.ts';

const DAY_MS = 86_400_000;
/** How many shares a session may have, including ended ones, because a list shows all of them. */
const MAX_SHARES = 500;

/** A share that a member creates. */
export interface NewShare extends ShareBody {
  sessionId: string;
  tokenHash: string;
}

/**
 * Shares a session if the member may do so.
 * @returns undefined if the member may not know of such a session
 * @throws Problem `sharing_refused`, `validation_failed`, `quota_reached`
 */
export const createShare = (db: Db, viewer: Viewer & { userId: string }, share: NewShare, now: number) =>
  db.transaction().execute(async (transaction) => {
    const { organizationId, userId } = viewer;
    const { sessionId, audience, level, expiresAt } = share;
    // The session cannot be deleted until the share is stored, so that its deletion finds the share.
    const session = await firstRow(
      transaction,
      sql<SessionRow>`
        select * from sessions
        where organization_id = ${organizationId} and session_id = ${sessionId} and deleted_at is null
          and ${named(viewer)} ${forKeyShare(transaction)}`,
    );
    if (!session) return undefined;
    if (!mayShare(viewer, session, share)) throw refusal(session, share);
    await assertAllowed(transaction, organizationId, session, share, now);
    const row = await oneRow(
      transaction,
      sql<ShareRow>`
        insert into shares (share_id, organization_id, session_id, token_hash, shared_by, audience, recipient_id, level,
          from_sequence, to_sequence, created_at, expires_at)
        values (${newId('shr', now)}, ${organizationId}, ${sessionId}, ${share.tokenHash}, ${userId}, ${audience},
          ${share.userId ?? null}, ${level}, ${share.from ?? null}, ${share.to ?? null}, ${now},
          ${fromTimestamp(expiresAt)})
        returning *`,
    );
    const details = { share: row.share_id, audience, level, expiresAt, ...(share.userId && { with: share.userId }) };
    const happened = { actor: person(userId), action: 'share.created', target: ofSession(row), details } as const;
    await recordAction(transaction, organizationId, happened, now);
    return row;
  });

/** Lists the shares of a session, including ended ones, latest first. @param by lists only the shares that this member created */
export const listShares = (db: Db, organizationId: string, sessionId: string, by?: string): Promise<ShareRow[]> =>
  allRows(
    db,
    sql<ShareRow>`
      select * from shares
      where organization_id = ${organizationId} and session_id = ${sessionId}
        ${by === undefined ? NONE : sql`and shared_by = ${by}`}
      order by share_id desc limit ${MAX_SHARES}`,
  );

export const findShare = (db: Db, organizationId: string, sessionId: string, shareId: string) =>
  firstRow(
    db,
    sql<ShareRow & Pick<SessionRow, 'user_id'>>`
      select shares.*, sessions.user_id from shares
        join sessions on sessions.organization_id = shares.organization_id and sessions.session_id = shares.session_id
      where shares.organization_id = ${organizationId} and shares.session_id = ${sessionId}
        and shares.share_id = ${shareId}`,
  );

/** Finds the share of a token in any organization, even if it has ended. */
export const findShareByHash = (db: Db, tokenHash: string): Promise<ShareRow | undefined> =>
  firstRow(db, sql<ShareRow>`select * from shares where token_hash = ${tokenHash}`);

/** Ends a share for good. */
export const revokeShare = (db: Db, share: ShareRow, actor: AuditParty, now: number): Promise<void> =>
  db.transaction().execute(async (transaction) => {
    const ended = await endShares(transaction, sql`share_id = ${share.share_id}`, share.organization_id, now);
    await recordActions(transaction, share.organization_id, revocationsOf(ended, actor), now);
  });

/**
 * Ends the shares that a member created or received, in the transaction that ends the membership.
 * @returns the entries for the audit log
 */
export async function revokeSharesOf(
  transaction: Db,
  organizationId: string,
  userId: string,
  actor: AuditParty,
  now: number,
): Promise<Happened[]> {
  const theirs = sql`(shared_by = ${userId} or recipient_id = ${userId})`;
  return revocationsOf(await endShares(transaction, theirs, organizationId, now), actor);
}

/** How often a share was opened since the last write. */
export interface ShareViews {
  shareId: string;
  organizationId: string;
  count: number;
  lastAt: number;
}

/**
 * Adds views to the stored count of a share. The count becomes at least 1, because a reader may read the events of a share
 * without opening it first. Views of a removed share are dropped.
 */
export async function addShareViews(db: Db, { shareId, organizationId, count, lastAt }: ShareViews): Promise<void> {
  await sql`
    update shares set views = case when views + ${count} = 0 then 1 else views + ${count} end,
      last_viewed_at = case when last_viewed_at > ${lastAt} then last_viewed_at else ${lastAt} end
    where organization_id = ${organizationId} and share_id = ${shareId}`.execute(db);
}

/** When the share ends by itself: at the requested time, or sooner if the policy limits how long shares last. */
export const endOf = (share: ShareRow, { shareDays }: Policy): number =>
  Math.min(share.expires_at, share.created_at + shareDays * DAY_MS);

export const isInForce = (share: ShareRow, policy: Policy, now: number): boolean =>
  share.revoked_at === null && now < endOf(share, policy) && (share.audience !== 'link' || policy.linkSharing === 'on');

export const toShare = (row: ShareRow, policy: Policy): Share => ({
  shareId: row.share_id,
  sessionId: row.session_id,
  by: row.shared_by,
  audience: row.audience,
  ...(row.recipient_id !== null && { userId: row.recipient_id }),
  level: row.level,
  ...(row.from_sequence !== null && { from: row.from_sequence }),
  ...(row.to_sequence !== null && { to: row.to_sequence }),
  createdAt: toTimestamp(row.created_at),
  expiresAt: toTimestamp(endOf(row, policy)),
  ...optionalTimestamp('revokedAt', row.revoked_at),
  views: row.views,
  ...optionalTimestamp('lastViewedAt', row.last_viewed_at),
});

const endShares = (transaction: Db, which: ReturnType<typeof sql>, organizationId: string, now: number) =>
  allRows(
    transaction,
    sql<ShareRow>`
      update shares set revoked_at = ${now}
      where organization_id = ${organizationId} and revoked_at is null and ${which}
      returning *`,
  );

const ofSession = ({ session_id: id }: ShareRow) => ({ kind: 'session', id }) as const;

const revocationsOf = (rows: readonly ShareRow[], actor: AuditParty): Happened[] =>
  rows.map((row) => ({
    actor,
    action: 'share.revoked',
    target: ofSession(row),
    details: { share: row.share_id, audience: row.audience },
  }));

/** @throws Problem if the policy of the organization or the state of the session does not allow this share */
async function assertAllowed(
  transaction: Db,
  organizationId: string,
  session: SessionRow,
  { audience, userId, level, from, to, expiresAt }: NewShare,
  now: number,
): Promise<void> {
  const { linkSharing, shareDays } = await readPolicy(transaction, organizationId);
  if (audience === 'link' && linkSharing === 'off') throw linksOff();
  const lasts = fromTimestamp(expiresAt) - now;
  if (lasts <= 0 || lasts > shareDays * DAY_MS) {
    throw invalid(`/expiresAt is at most ${shareDays} days from now, as the policy of the organization says.`);
  }
  if ((audience === 'person') !== (userId !== undefined))
    throw invalid('/userId names a member, and belongs to the audience "person" only.');
  const recipient = userId === undefined ? undefined : await findMember(transaction, organizationId, userId);
  if (userId !== undefined && recipient?.status !== 'active') throw invalid('/userId names no member.');
  if (level === 'figures' && (from ?? to) !== undefined) {
    throw invalid('Figures always cover a whole session. Leave out /from and /to.');
  }
  const [first, last] = [from ?? 1, to ?? session.event_count];
  if (first > Math.max(1, last) || last > session.event_count) {
    throw invalid(`/from and /to must be a range of the ${session.event_count} events of this session.`);
  }
  const made = await listShares(transaction, organizationId, session.session_id);
  if (made.length >= MAX_SHARES) {
    throw new Problem('quota_reached', `This session was shared ${MAX_SHARES} times, which is the maximum.`);
  }
}

const invalid = (sentence: string) => new Problem('validation_failed', sentence);

const linksOff = () =>
  new Problem(
    'sharing_refused',
    'This organization does not allow shares by link. Share with a member, or ask an owner to allow links.',
  );

const refusal = ({ visibility, content_expired_at }: SessionRow, { audience }: NewShare) =>
  new Problem(
    'sharing_refused',
    content_expired_at !== null
      ? 'The content of this session was removed, so only its figures can be shared.'
      : audience === 'link' && visibility !== 'team'
        ? 'Only a session that the whole team may see is shared by link. Its person may change who may see it.'
        : 'Only the person of this session may share what was said in it. Ask them.',
  );
