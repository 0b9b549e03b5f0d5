import { sql } from 'kysely';
import type { AuditParty } from '../../contract/audit.ts';
import { Problem } from '../../contract/problem.ts';
import type { Plane } from '../../contract/secret.ts';
import { strictestOf, type Visibility } from '../../contract/session.ts';
import { recordAction } from './audit.ts';
import { person, secret } from './audit-chain.ts';
import { forUpdate } from './dialect.ts';
import { findSender, mayRestrict } from './ownership.ts';
import { firstRow } from './rows.ts';
import type { Db, SecretKey, SessionRow } from './schema.ts';
import { forgetWords } from './session-rows.ts';
import { type Audience, named, type Viewer } from './viewer.ts';
import { wordPrefix } from './word-index.ts';

/** A member who changes the visibility of a session. */
export interface Decider {
  viewer: Viewer;
  userId: string;
  isAdmin: boolean;
}

/** Whether the member may decide: the person of the session, or an admin if the session has no person. */
export const decides = ({ userId, isAdmin }: Omit<Decider, 'viewer'>, { user_id }: Audience): boolean =>
  user_id === null ? isAdmin : user_id === userId;

/**
 * Changes the visibility of a session if the member may decide that.
 * @returns the session before the change; undefined if the member may not know of such a session
 * @throws Problem `insufficient_role`
 */
export const changeVisibility = (db: Db, decider: Decider, sessionId: string, to: Visibility, now: number) =>
  db.transaction().execute(async (transaction) => {
    const { viewer, userId } = decider;
    const { organizationId } = viewer;
    const row = await firstRow(
      transaction,
      sql<SessionRow>`
        select * from sessions
        where organization_id = ${organizationId} and session_id = ${sessionId} and deleted_at is null
          and ${named(viewer)} ${forUpdate(transaction)}`,
    );
    if (!row) return undefined;
    if (!decides(decider, row)) throw notYours(row);
    if (row.visibility === to) return row;
    await store(transaction, row, to, person(userId), now);
    return row;
  });

/**
 * Makes the visibility of a session stricter on request of its machine. A machine can never make it laxer, since secrets are
 * copied and shared.
 * @returns the session before the change and its visibility now; undefined if the sender has no such session
 */
export const restrictVisibility = (db: Db, caller: Restricting, sessionId: string, asked: Visibility, now: number) =>
  db.transaction().execute(async (transaction) => {
    const { organizationId, plane, secretId } = caller;
    const row = await firstRow(
      transaction,
      sql<SessionRow>`
        select * from sessions
        where organization_id = ${organizationId} and session_id = ${sessionId} and plane = ${plane}
          and deleted_at is null ${forUpdate(transaction)}`,
    );
    if (!row || !mayRestrict(row, await findSender(transaction, caller), now)) return undefined;
    const to = strictestOf(row.visibility, asked);
    if (to !== row.visibility) await store(transaction, row, to, secret(secretId), now);
    return { was: row, to };
  });

interface Restricting extends SecretKey {
  plane: Plane;
}

async function store(transaction: Db, row: SessionRow, to: Visibility, actor: AuditParty, now: number): Promise<void> {
  const { organization_id: organizationId, session_id: sessionId, visibility: from } = row;
  await sql`
    update sessions set visibility = ${to}
    where organization_id = ${organizationId} and session_id = ${sessionId}`.execute(transaction);
  if (wordPrefix(row) !== wordPrefix({ ...row, visibility: to })) await forgetWords(transaction, [sessionId]);
  const target = { kind: 'session', id: sessionId } as const;
  const happened = { actor, action: 'session.visibility_changed', target, details: { from, to } } as const;
  await recordAction(transaction, organizationId, happened, now);
}

const notYours = ({ user_id }: SessionRow) =>
  new Problem(
    'insufficient_role',
    user_id === null
      ? 'This session belongs to nobody, so only an admin may change who sees it. Ask one.'
      : 'Only the person of this session may change who sees it. Ask them.',
  );
