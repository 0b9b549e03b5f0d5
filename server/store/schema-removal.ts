import type { Generated } from 'kysely';
import type { AuditParty } from '../../contract/audit.ts';
import type { RetentionTarget } from '../../contract/retention.ts';
import type { Plane } from '../../contract/secret.ts';
import type { Time } from './schema-governance.ts';

/* Rows that remember what was removed of sessions. */

/** What a sweep has removed so far. */
interface RemovedColumns {
  removed_events: Generated<number>;
  removed_appends: Generated<number>;
  removed_bytes: Generated<number>;
  /** Of the removed appends: see `nextDigest`. */
  digest: string | null;
}

/** A deleted session, remembered so that it is not captured again. */
export interface DeletedSessionRow extends RemovedColumns {
  session_id: string;
  organization_id: string;
  environment_id: string;
  plane: Plane;
  client_key: string | null;
  deleted_at: Time;
  /** When the last of its events was gone. */
  swept_at: Time | null;
  event_count: number;
  /** When its last event came, where it expired; null where a person deleted it. */
  last_event_at: Time | null;
  /** 1 once the audit log counts it among the sessions that expired. */
  is_noted: Generated<number>;
  /** Who deleted it; null where nobody did, as it expired or went with its organization. */
  deleted_by_kind: AuditParty['kind'] | null;
  deleted_by_id: string | null;
}

/** A session whose words the retention policy removed. */
export interface ExpiredContentRow extends RemovedColumns {
  session_id: string;
  organization_id: string;
  expired_at: Time;
  /** When the last of the words was gone. */
  swept_at: Time | null;
  /** When its last event came. */
  last_event_at: Time;
  event_count: number;
  /** What the rule says. */
  days: number;
  /** Of the rule; null where it is the operator's. */
  target_kind: RetentionTarget['kind'] | null;
  target_id: string | null;
  /** 1 once the audit log counts it. */
  is_noted: Generated<number>;
  /** Its derived rows: see `kept-rows.ts`. */
  kept: string;
}
