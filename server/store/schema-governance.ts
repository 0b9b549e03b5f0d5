import type { HoldTarget } from '../../contract/hold.ts';
import type { Look, Surface } from '../../contract/session-view.ts';

/* Rows that say how an organization is governed, and what was done in it. */

/** Epoch milliseconds. */
export type Time = number;

/** What an owner has decided for all members. */
export interface PolicyRow {
  organization_id: string;
  /** JSON text: `PolicyBody` of `contract/policy.ts`. */
  policy: string;
  updated_at: Time;
}

/** A legal hold: what it names is not deleted until it is released. */
export interface HoldRow {
  hold_id: string;
  organization_id: string;
  target_kind: HoldTarget['kind'];
  /** Null where it holds everything. */
  target_id: string | null;
  reason: string;
  placed_by: string;
  placed_at: Time;
  released_by: string | null;
  released_at: Time | null;
}

/** The last entry of an organization's audit log. */
export interface AuditHeadRow {
  organization_id: string;
  sequence: number;
  hash: string;
  changed_at: Time;
}

export interface AuditEntryRow {
  organization_id: string;
  sequence: number;
  at: Time;
  actor_kind: string;
  actor_id: string;
  action: string;
  target_kind: string;
  target_id: string;
  /** JSON. */
  details: string | null;
  previous: string;
  hash: string;
}

/** A person who was removed together with their sessions, until these are gone. */
export interface PersonDeletionRow {
  organization_id: string;
  user_id: string;
  /** The admin who removed them. */
  actor_id: string;
  /** Sessions that were opened later are not meant. */
  requested_at: Time;
}

/** A member's looks of one kind at a session of somebody else within an hour. */
export interface SessionViewRow {
  session_id: string;
  organization_id: string;
  user_id: string;
  kind: Look;
  /** When the hour began. */
  hour: Time;
  first_at: Time;
  last_at: Time;
  count: number;
  /** Of the last look. */
  surface: Surface;
  network: string;
}
