/*
 * The conditions of a deletion, and the tombstone that it leaves.
 *
 * Only this file says when a session is held. A deletion checks that in its own transaction, on PostgreSQL under `lockHolds`.
 * Thus a hold that is placed at the same time comes either before or after the deletion. SQLite has only one writer.
 *
 * The file has only SQL texts and does not use the query layer, because each thread of the embedded store loads it.
 */

/**
 * An SQL expression for the id of a hold on the session with that alias; null if there is none. A session with events that are
 * not derived yet counts as held by a repository hold, because it may turn out to be of that repository. Repositories are compared in lower
 * case: only the sessions that the author of a hold may know give it their spelling.
 */
export const holdOf = (session: string): string => `(
  SELECT holds.hold_id FROM holds
  WHERE holds.organization_id = ${session}.organization_id AND holds.released_at IS NULL AND (
    holds.target_kind = 'everything'
    OR holds.target_kind = 'session' AND holds.target_id = ${session}.session_id
    OR holds.target_kind = 'person' AND holds.target_id = ${session}.user_id
    OR holds.target_kind = 'repository' AND (
      lower(holds.target_id) = lower(${session}.repository)
      OR EXISTS (
        SELECT 1 FROM session_values
        WHERE session_values.organization_id = ${session}.organization_id
          AND session_values.session_id = ${session}.session_id
          AND session_values.field = 'repository' AND lower(session_values.path) = lower(holds.target_id)
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

/** Finds the hold on a session that is not deleted. The parameters are SQL expressions. */
export const findHold = (sessionId: string, organizationId: string): string => `
  SELECT ${holdOf('s')} AS hold_id FROM sessions s
  WHERE s.session_id = ${sessionId} AND s.organization_id = ${organizationId} AND s.deleted_at IS NULL`;

/**
 * Locks the holds of organizations on PostgreSQL until the transaction ends. `shared` prevents new holds. `alone` also waits for
 * the transactions that do so.
 * @param ids an SQL expression for the list of organizations
 */
export const lockHolds = (how: 'shared' | 'alone', ids: string): string => `
  SELECT pg_advisory_xact_lock${how === 'shared' ? '_shared' : ''}(hashtextextended('holds of ' || id, 0))
  FROM (SELECT DISTINCT id FROM unnest(${ids}::text[]) AS id ORDER BY id) AS locked`;

/** What an update of a session `s` sets to mark it as deleted. The parameter is an SQL expression. */
export const markDeleted = (at: string): string =>
  `deleted_at = ${at}, status = CASE s.status WHEN 'active' THEN 'failed' ELSE s.status END`;

/** Finds the plane of a deleted session. The parameters are SQL expressions. */
export const findDeletedPlane = (sessionId: string, organizationId: string): string => `
  SELECT plane FROM removals WHERE session_id = ${sessionId} AND organization_id = ${organizationId} AND what = 'session'`;

/**
 * Inserts the removal of the session `s`, which was just marked: its tombstone. Only an expired session gets `last_event_at`, which
 * distinguishes it from a session that a person deleted. If the content of the session expired before, its removal continues as
 * this one, and so does its receipt.
 * @param s where the session is found
 * The other parameters are SQL expressions. The last two name the actor.
 */
export const insertTombstone = (s: string, isExpired: string, byKind: string, byId: string): string => `
  INSERT INTO removals (session_id, organization_id, what, environment_id, plane, client_key, requested_at, event_count,
    last_event_at, by_kind, by_id)
  SELECT s.session_id, s.organization_id, 'session', s.environment_id, s.plane, s.client_key, s.deleted_at, s.event_count,
    CASE WHEN ${isExpired} THEN coalesce(
      (SELECT a.created_at FROM appends a WHERE a.session_id = s.session_id ORDER BY a.first_sequence DESC LIMIT 1),
      s.created_at) END, ${byKind}, ${byId}
  FROM ${s}
  ON CONFLICT (session_id) DO UPDATE SET what = 'session', client_key = excluded.client_key,
    requested_at = excluded.requested_at, finished_at = NULL,
    last_event_at = CASE WHEN excluded.last_event_at IS NOT NULL THEN removals.last_event_at END,
    by_kind = excluded.by_kind, by_id = excluded.by_id, days = NULL, target_kind = NULL, target_id = NULL, kept = NULL`;
