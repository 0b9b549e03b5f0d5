/** The columns of a tombstone that is made as its session is deleted. */
export const TOMBSTONE =
  'session_id, organization_id, environment_id, plane, client_key, deleted_at, event_count, last_event_at, deleted_by_kind, deleted_by_id';

/**
 * The values of these columns for the session `s`, which was just marked. Only an expired session gets `last_event_at`: this
 * distinguishes it from one that a person deleted.
 * The parameters are expressions of SQL; the last two name who deleted it.
 */
export const tombstoneOf = (isExpired: string, byKind: string, byId: string): string => `
  s.session_id, s.organization_id, s.environment_id, s.plane, s.client_key, s.deleted_at, s.event_count,
  CASE WHEN ${isExpired} THEN coalesce(
    (SELECT a.created_at FROM appends a WHERE a.session_id = s.session_id ORDER BY a.first_sequence DESC LIMIT 1),
    s.created_at) END, ${byKind}, ${byId}`;
