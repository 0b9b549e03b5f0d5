/*
 * The conditions of a deletion, and the tombstone that it leaves.
 *
 * Only this file says when a session is held. A deletion checks that in its own transaction, on PostgreSQL under `LOCK_HOLDS`.
 * Thus a hold that is placed at the same time comes either before or after the deletion. SQLite has only one writer.
 *
 * The file has only SQL texts and does not use the query layer, because each thread of the embedded store loads it.
 */

/**
 * An SQL expression for the id of a hold on the session with that alias; null if there is none. A session with events that are
 * not derived yet counts as held by a repository hold, because it may turn out to be of that repository.
 */
export const holdOf = (session: string): string => `(
  SELECT holds.hold_id FROM holds
  WHERE holds.organization_id = ${session}.organization_id AND holds.released_at IS NULL AND (
    holds.target_kind = 'everything'
    OR holds.target_kind = 'session' AND holds.target_id = ${session}.session_id
    OR holds.target_kind = 'person' AND holds.target_id = ${session}.user_id
    OR holds.target_kind = 'repository' AND (
      holds.target_id = ${session}.repository
      OR EXISTS (
        SELECT 1 FROM session_values
        WHERE session_values.organization_id = ${session}.organization_id
          AND session_values.session_id = ${session}.session_id
          AND session_values.field = 'repository' AND session_values.value = holds.target_id
      )
      OR ${session}.repository IS NULL AND ${session}.event_count > 0 AND NOT EXISTS (
        SELECT 1 FROM session_facts
        WHERE session_facts.organization_id = ${session}.organization_id
          AND session_facts.session_id = ${session}.session_id
          AND session_facts.derived_through >= ${session}.event_count
      )
    )
  )
  ORDER BY holds.hold_id LIMIT 1)`;

/** Prevents holds in the organizations with these ids until the transaction ends. */
export const LOCK_HOLDS = `
SELECT pg_advisory_xact_lock_shared(hashtextextended('holds of ' || id, 0))
FROM (SELECT DISTINCT id FROM unnest($1::text[]) AS id ORDER BY id) AS locked`;

/** The columns of the tombstone that a deletion inserts. */
export const TOMBSTONE =
  'session_id, organization_id, environment_id, plane, client_key, deleted_at, event_count, last_event_at, deleted_by_kind, deleted_by_id';

/**
 * The values of these columns for the session `s`, which was just marked. Only an expired session gets `last_event_at`, which
 * distinguishes it from a session that a person deleted.
 * The parameters are SQL expressions. The last two name the actor.
 */
export const tombstoneOf = (isExpired: string, byKind: string, byId: string): string => `
  s.session_id, s.organization_id, s.environment_id, s.plane, s.client_key, s.deleted_at, s.event_count,
  CASE WHEN ${isExpired} THEN coalesce(
    (SELECT a.created_at FROM appends a WHERE a.session_id = s.session_id ORDER BY a.first_sequence DESC LIMIT 1),
    s.created_at) END, ${byKind}, ${byId}`;
