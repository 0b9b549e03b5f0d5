import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Role } from '../../contract/organization.ts';
import type { SessionKey } from '../log/decide.ts';
import { findMember } from './members.ts';
import { readPolicy } from './policies.ts';
import { firstRow } from './rows.ts';
import type { Db, MemberKey, SessionRow } from './schema.ts';
import type { ShareRow } from './schema-governance.ts';
import { seeEverything } from './tenant.ts';

/*
 * Who may see a session: the only place that knows the rule, but for the second wall on PostgreSQL (`VIEWERS`). Each function that returns or counts something of single
 * sessions takes a viewer, and asks here what that viewer may see.
 */

/** Who asks for sessions of an organization. */
export interface Viewer {
  organizationId: string;
  userId?: string | undefined;
  /** Sees every session whole: the service itself, or an admin where the organization has said so. */
  seesAll: boolean;
}

/** The service itself, or a machine that acts on what it sent; never a person. */
export const wholeOrganization = (organizationId: string): Viewer => ({ organizationId, seesAll: true });

interface Asker extends MemberKey {
  role: Role;
}

/** The member who asks. */
export async function viewerOf(db: Db, { organizationId, userId, role }: Asker): Promise<Viewer> {
  const seesAll = role !== 'member' && (await readPolicy(db, organizationId)).adminsSeeAll;
  if (seesAll) seeEverything();
  return { organizationId, userId, seesAll };
}

/** The viewer as of now: the role and the policy may have changed. Undefined for who is no member any more. */
export async function viewerNow(db: Db, viewer: Viewer): Promise<Viewer | undefined> {
  const { organizationId, userId } = viewer;
  if (userId === undefined) return viewer;
  const member = await findMember(db, organizationId, userId);
  return member && viewerOf(db, { organizationId, userId, role: member.role });
}

/** What decides who may see a session. */
export type Audience = Pick<SessionRow, 'visibility' | 'user_id' | 'content_expired_at'>;

/** Of a whole row, as replicas are told. */
export const audienceOf = ({ visibility, user_id, content_expired_at }: SessionRow): Audience => ({
  visibility,
  user_id,
  content_expired_at,
});

/** Whether the viewer may know that the session exists. */
export const mayName = (viewer: Viewer, session: Audience): boolean =>
  viewer.seesAll || session.visibility !== 'private' || isPersonOf(viewer, session);

/** Whether the viewer may read what was said and done in the session. Nobody may, once its words have expired. */
export const mayRead = (viewer: Viewer, session: Audience): boolean =>
  session.content_expired_at === null &&
  (viewer.seesAll || session.visibility === 'team' || isPersonOf(viewer, session));

/** What is shown of a session to others, and to whom. */
export type Shown = Pick<ShareRow, 'audience' | 'level'>;

/**
 * Whether the viewer may show that much of the session to that audience. What an admin reads because the policy says so is not theirs
 * to pass on; and what its person keeps from the team goes to members alone.
 */
export function mayShare(viewer: Viewer, session: Audience, { audience, level }: Shown): boolean {
  if (audience === 'link' && session.visibility !== 'team') return false;
  const own = { ...viewer, seesAll: false };
  return level === 'figures' ? mayName(own, session) : mayRead(own, session);
}

const isPersonOf = ({ userId }: Viewer, { user_id }: Audience) => userId !== undefined && user_id === userId;

/** The condition of `mayName` on a row of `sessions`, under the name that the table has in the query. */
export const named = (viewer: Viewer, table = 'sessions'): RawBuilder<SqlBool> =>
  viewer.seesAll ? sql`1 = 1` : sql`(${sql.ref(`${table}.visibility`)} <> 'private' or ${isOwn(viewer, table)})`;

/** The condition of `mayRead`. */
export const readable = (viewer: Viewer, table = 'sessions'): RawBuilder<SqlBool> =>
  sql`(${sql.ref(`${table}.content_expired_at`)} is null
    and ${viewer.seesAll ? sql`1 = 1` : sql`(${sql.ref(`${table}.visibility`)} = 'team' or ${isOwn(viewer, table)})`})`;

const isOwn = ({ userId }: Viewer, table: string) =>
  userId === undefined ? sql`1 = 0` : sql`${sql.ref(`${table}.user_id`)} = ${userId}`;

/**
 * The condition of `mayName` on a column with the ids of sessions, for tables that do not say whose they are. The few that
 * are hidden are looked up once a query, in an index of their own; where none is private, it is empty. For queries that see
 * all sessions of the organization: to others PostgreSQL would show none that is hidden.
 */
export const isNamed = (viewer: Viewer, column: string): RawBuilder<SqlBool> =>
  viewer.seesAll
    ? sql`1 = 1`
    : sql`${sql.ref(column)} not in (
        select hidden.session_id from sessions as hidden
        where hidden.organization_id = ${viewer.organizationId} and hidden.visibility = 'private'
          and hidden.user_id is distinct from ${viewer.userId ?? null})`;

/** The row as the viewer may see it. */
export const shownTo = <Row extends SessionRow>(viewer: Viewer, row: Row): Row =>
  mayRead(viewer, row) ? row : { ...row, title: null };

/** Who may see a session, also one that is being deleted; undefined where the organization has no such session. */
export const findAudience = (db: Db, { organizationId, sessionId }: SessionKey): Promise<Audience | undefined> =>
  firstRow(
    db,
    sql<Audience>`
      select visibility, user_id, content_expired_at from sessions
      where organization_id = ${organizationId} and session_id = ${sessionId}`,
  );

declare const READABLE: unique symbol;

/** A session whose events the viewer may read: what reads events takes no other. */
export type ReadableSession = SessionRow & { readonly [READABLE]: true };

/** The session, if the viewer may read its events. */
export const asReadable = (viewer: Viewer, session: SessionRow): ReadableSession | undefined =>
  mayRead(viewer, session) ? (session as ReadableSession) : undefined;
