import type { Generated } from 'kysely';
import type { AuditParty } from '../../contract/audit.ts';
import type { RetentionTarget } from '../../contract/retention.ts';
import type { Plane } from '../../contract/secret.ts';
import type { Time } from './schema-governance.ts';

/* Rows about the removal of sessions and of their content. */

/** How much a sweep has removed so far. */
interface RemovedColumns {
  removed_events: Generated<number>;
  removed_appends: Generated<number>;
  removed_bytes: Generated<number>;
  /** The digest of the removed appends: see `nextDigest`. */
  digest: string | null;
}

/** A deleted session. The row prevents that it is captured again. */
export interface DeletedSessionRow extends RemovedColumns {
  session_id: string;
  organization_id: string;
  environment_id: string;
  plane: Plane;
  client_key: string | null;
  deleted_at: Time;
  /** When the last of its events was removed. */
  swept_at: Time | null;
  event_count: number;
  /** When its last event arrived, if it expired; otherwise null. */
  last_event_at: Time | null;
  /** 1 once the audit log counts it among the expired sessions. */
  is_noted: Generated<number>;
  /** Who deleted it; null if it expired or was deleted together with its organization. */
  deleted_by_kind: AuditParty['kind'] | null;
  deleted_by_id: string | null;
}

/** An existing session without its content, which the retention policy removed. */
export interface ExpiredContentRow extends RemovedColumns {
  session_id: string;
  organization_id: string;
  expired_at: Time;
  /** When the last of the content was removed. */
  swept_at: Time | null;
  /** When its last event arrived. */
  last_event_at: Time;
  event_count: number;
  /** The retention period of the rule. */
  days: number;
  /** The target of the rule; null for the rule of the operator. */
  target_kind: RetentionTarget['kind'] | null;
  target_id: string | null;
  /** 1 once the audit log counts it among the sessions with expired content. */
  is_noted: Generated<number>;
  /** Its derived rows that are kept: see `kept-rows.ts`. */
  kept: string;
}
