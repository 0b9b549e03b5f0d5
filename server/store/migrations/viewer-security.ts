import { type MixedTable, tablesThatTell } from '../tables.ts';

const VIEWER = "current_setting('app.viewer', true)";
/** The values that reveal content: `VALUES_OF_CONTENT` of this version. */
const OF_CONTENT = "('command', 'commit', 'tests')";

/*
 * The condition is a scalar subquery instead of "exists", for which PostgreSQL would read all sessions: 1 instead of 94 ms for
 * 500 appends (2026-11-23). The subquery is subject to the policy of `sessions`, so it returns null for a hidden session.
 */
const ofSession = (table: string, condition: string) => `(
    select ${condition} from sessions as session where session.session_id = ${table}.session_id)`;
const NAMED = 'true';
const READABLE = `session.content_expired_at is null and (session.visibility = 'team' or session.user_id = ${VIEWER})`;

/** The rows that a member may read of tables whose rows or columns differ, and of a table of views of the list of sessions. */
const OWN_RULES: Record<MixedTable | 'views', string> = {
  // Uses only columns that the indexes of lists contain, so that a page reads no row for it.
  sessions: `visibility <> 'private' or user_id = ${VIEWER}`,
  // Nobody can see a deleted session. Its receipt has counts, who deleted it, and the ids of its machine and of its transcript.
  removals: `removals.what = 'session' or ${ofSession('removals', NAMED)}`,
  session_values: ofSession('session_values', `session_values.field not in ${OF_CONTENT} or ${READABLE}`),
  shares: `shared_by = ${VIEWER} or ${ofSession('shares', NAMED)}`,
  // Looks are shown to the session's person, or to admins if the session has no person.
  session_views: `user_id = ${VIEWER}
    or ${ofSession('session_views', `session.user_id is null or session.user_id = ${VIEWER}`)}`,
  // The figures of a mask of all sessions count sessions that only its requester may read.
  masks: `case when masks.session_id is null then masks.requested_by = ${VIEWER} else ${ofSession('masks', READABLE)} end`,
  views: `created_by = ${VIEWER} or is_shared = 1`,
};

/** The rows that a member may read, for each table with data of single sessions. */
const VISIBLE: readonly (readonly [table: string, visible: string])[] = [
  ...tablesThatTell('content').map((table) => [table, ofSession(table, READABLE)] as const),
  // `toSummary` and `toSessionFacts` leave content out of the responses that have facts.
  ...tablesThatTell('facts').map((table) => [table, ofSession(table, NAMED)] as const),
  ...Object.entries(OWN_RULES),
];

/**
 * Applies the rule of `server/store/viewer.ts` again when a member reads. Tables that tell counts are not included, because sums
 * count all sessions for every reader.
 */
export const viewerSecurity = (): string =>
  VISIBLE.map(
    ([table, visible]) =>
      `create policy viewer on ${table} as restrictive for select using (${VIEWER} = '*' or ${visible});\n`,
  ).join('');
