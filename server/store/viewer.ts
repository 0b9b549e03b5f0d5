import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Role } from '../../contract/organization.ts';
import type { SessionKey } from '../log/decide.ts';
import { unindexed } from './dialect.ts';
import { findMember } from './members.ts';
import { readPolicy } from './policies.ts';
import { allRows, firstRow } from './rows.ts';
import type { Db, MemberKey, SessionRow, ShareRow } from './schema.ts';
import { withoutContent } from './session-columns.ts';
import { asOrganization, seeEverything } from './tenant.ts';

/*
 * Who may see a session. Only this file has the rule, apart from the row-level security of PostgreSQL as a second protection
 * (`viewer-security.ts`). Each function that returns or counts data of single sessions takes a viewer, and uses this file to find
 * out what that viewer may see.
 */

/** The reader of an organization's sessions. */
export interface Viewer {
  organizationId: string;
  userId?: string | undefined;
  /** Whether it sees every session completely: the service itself, or an admin if the policy allows it. */
  seesAll: boolean;
}

/** The viewer for the service itself, or for a machine and its own sessions; never for a person. */
export const wholeOrganization = (organizationId: string): Viewer => ({ organizationId, seesAll: true });

interface Asker extends MemberKey {
  role: Role;
}

/** The viewer for a member. */
export async function viewerOf(db: Db, { organizationId, userId, role }: Asker): Promise<Viewer> {
  const seesAll = role !== 'member' && (await readPolicy(db, organizationId)).adminsSeeAll;
  if (seesAll) seeEverything();
  return { organizationId, userId, seesAll };
}

/** The viewer with the current role and policy; undefined for a person who is no longer a member. */
export async function viewerNow(db: Db, viewer: Viewer): Promise<Viewer | undefined> {
  const { organizationId, userId } = viewer;
  if (userId === undefined) return viewer;
  const member = await findMember(db, organizationId, userId);
  return member && viewerOf(db, { organizationId, userId, role: member.role });
}

/** The fields of a session that decide who may see it. */
export type Audience = Pick<SessionRow, 'visibility' | 'user_id' | 'content_expired_at'>;

/** The audience of a whole row, in the form of the notices to other replicas. */
export const audienceOf = ({ visibility, user_id, content_expired_at }: SessionRow): Audience => ({
  visibility,
  user_id,
  content_expired_at,
});

/** Whether the viewer may know that the session exists. */
export const mayName = (viewer: Viewer, session: Audience): boolean =>
  viewer.seesAll || session.visibility !== 'private' || isPersonOf(viewer, session);

/** Whether the viewer may read the content of the session. Nobody may once it has expired. */
export const mayRead = (viewer: Viewer, session: Audience): boolean =>
  session.content_expired_at === null &&
  (viewer.seesAll || session.visibility === 'team' || isPersonOf(viewer, session));

/** How much of a session a share shows, and to whom. */
export type Shown = Pick<ShareRow, 'audience' | 'level'>;

/**
 * Whether the viewer may share that much of the session with that audience. An admin must not pass on content that they may
 * read only because of the policy. A session that is hidden from the team may be shared only with members.
 */
export function mayShare(viewer: Viewer, session: Audience, { audience, level }: Shown): boolean {
  if (audience === 'link' && session.visibility !== 'team') return false;
  const own = { ...viewer, seesAll: false };
  return level === 'figures' ? mayName(own, session) : mayRead(own, session);
}

const isPersonOf = ({ userId }: Viewer, { user_id }: Audience) => userId !== undefined && user_id === userId;

/** `mayName` as a condition on a row of `sessions`. @param table the name of `sessions` in the query */
export const named = (viewer: Viewer, table = 'sessions'): RawBuilder<SqlBool> =>
  viewer.seesAll ? sql`1 = 1` : sql`(${sql.ref(`${table}.visibility`)} <> 'private' or ${isOwn(viewer, table)})`;

/** `mayRead` as a condition on a row of `sessions`. */
export const readable = (viewer: Viewer, table = 'sessions'): RawBuilder<SqlBool> =>
  sql`(${sql.ref(`${table}.content_expired_at`)} is null
    and ${viewer.seesAll ? sql`1 = 1` : sql`(${sql.ref(`${table}.visibility`)} = 'team' or ${isOwn(viewer, table)})`})`;

const isOwn = ({ userId }: Viewer, table: string) =>
  userId === undefined ? sql`1 = 0` : sql`${sql.ref(`${table}.user_id`)} = ${userId}`;

/**
 * `mayName` as a condition on a column with session ids, for tables without the person of the session. The query looks up the few
 * hidden sessions once, in a separate index, which is empty if no session is private. The query must see all sessions of the
 * organization: otherwise row-level security hides the private ones, and the lookup finds none.
 */
export const isNamed = (viewer: Viewer, column: string): RawBuilder<SqlBool> =>
  viewer.seesAll
    ? sql`1 = 1`
    : sql`${sql.ref(column)} not in (
        select hidden.session_id from sessions as hidden
        where hidden.organization_id = ${viewer.organizationId} and hidden.visibility = 'private'
          and hidden.user_id is distinct from ${viewer.userId ?? null})`;

/** The sessions among these whose existence is hidden from the viewer. Deleted sessions are hidden from nobody. */
export async function findHidden(db: Db, viewer: Viewer, sessionIds: readonly string[]): Promise<ReadonlySet<string>> {
  if (viewer.seesAll || sessionIds.length === 0) return new Set();
  const { organizationId } = viewer;
  // Row-level security would hide these sessions from this query as well.
  const rows = await asOrganization(organizationId, () =>
    allRows(
      db,
      sql<Pick<SessionRow, 'session_id'>>`
        select session_id from sessions
        where ${unindexed(db, 'organization_id')} = ${organizationId} and session_id in (${sql.join([...sessionIds])})
          and not ${named(viewer)}`,
    ),
  );
  return new Set(rows.map(({ session_id }) => session_id));
}

/** The part of the row that the viewer may see. */
export const shownTo = <Row extends SessionRow>(viewer: Viewer, row: Row): Row =>
  mayRead(viewer, row) ? row : withoutContent(row);

/** The audience of a session, even while it is being deleted; undefined if the organization has no such session. */
export const findAudience = (db: Db, { organizationId, sessionId }: SessionKey): Promise<Audience | undefined> =>
  firstRow(
    db,
    sql<Audience>`
      select visibility, user_id, content_expired_at from sessions
      where organization_id = ${organizationId} and session_id = ${sessionId}`,
  );

declare const READABLE: unique symbol;

/** A session whose events the viewer may read. Functions that read events accept only this type. */
export type ReadableSession = SessionRow & { readonly [READABLE]: true };

/** The session, if the viewer may read its events. */
export const asReadable = (viewer: Viewer, session: SessionRow): ReadableSession | undefined =>
  mayRead(viewer, session) ? (session as ReadableSession) : undefined;
