const VIEWER = "current_setting('app.viewer', true)";
/** Values that tell what was said or done: `VALUES_OF_WORDS` of this version. */
const OF_WORDS = "('command', 'commit', 'tests')";

/*
 * A value and no "exists", which PostgreSQL would answer from all sessions: 94 ms instead of 1 for 500 appends (2026-11-23).
 * The session is looked up behind its own policy: there is none for who may not know of it, so the value is null.
 */
const ofSession = (table: string, condition: string) => `(
    select ${condition} from sessions as session where session.session_id = ${table}.session_id)`;
const NAMED = 'true';
const READABLE = `session.content_expired_at is null and (session.visibility = 'team' or session.user_id = ${VIEWER})`;

/** What a member may read of each table that tells of single sessions. */
const VISIBLE: Record<string, string> = {
  // By columns that the indexes of lists hold, so that a page reads no row for it.
  sessions: `visibility <> 'private' or user_id = ${VIEWER}`,
  appends: ofSession('appends', READABLE),
  session_chunks: ofSession('session_chunks', READABLE),
  masks: ofSession('masks', READABLE),
  event_masks: ofSession('event_masks', READABLE),
  session_chains: ofSession('session_chains', READABLE),
  // `toSummary` and `toSessionFacts` leave the texts with words out of answers.
  session_facts: ofSession('session_facts', NAMED),
  session_values: ofSession('session_values', `session_values.field not in ${OF_WORDS} or ${READABLE}`),
  expired_contents: ofSession('expired_contents', NAMED),
  shares: `shared_by = ${VIEWER} or ${ofSession('shares', NAMED)}`,
  // Who looked is shown to the session's person; to admins, where it is nobody's.
  session_views: `user_id = ${VIEWER}
    or ${ofSession('session_views', `session.user_id is null or session.user_id = ${VIEWER}`)}`,
  views: `created_by = ${VIEWER} or is_shared = 1`,
};

/**
 * The rule of `server/store/viewer.ts` once more, where a member reads. The figures of days and add-ons are not among the tables:
 * sums count all sessions, whoever asks.
 */
export const viewerSecurity = (): string =>
  Object.entries(VISIBLE)
    .map(
      ([table, visible]) =>
        `create policy viewer on ${table} as restrictive for select using (${VIEWER} = '*' or ${visible});\n`,
    )
    .join('');
