import type { HoldTarget } from '../../contract/hold.ts';
import type { MaskOutcome, RunOutcome } from '../../contract/mask.ts';
import type { Look, Surface } from '../../contract/session-view.ts';
import type { ShareAudience, ShareLevel } from '../../contract/share.ts';

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

/** With what an organization's directory signs in. */
export interface DirectoryTokenRow {
  organization_id: string;
  token_id: string;
  /** HMAC-SHA-256 of the value under the server's pepper, in hexadecimal. */
  hash: string;
  last_four: string;
  created_by: string;
  created_at: Time;
  last_used_at: Time | null;
}

/** A user of that directory. */
export interface DirectoryUserRow {
  directory_user_id: string;
  organization_id: string;
  /** Lower-case `userName`. */
  user_key: string;
  /** Lower-case e-mail of the member, or of the invitation that they would get. */
  member_key: string;
  external_id: string | null;
  /** JSON of the attributes that the directory sent. */
  attributes: string;
  created_at: Time;
  updated_at: Time;
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

/** A text that somebody had masked in a session. */
export interface MaskRow {
  mask_id: string;
  organization_id: string;
  session_id: string;
  /** What stands in its place. */
  mark: string;
  /** The text, encrypted, or `TODAYS_RULES`; null once it is masked. */
  sealed: string | null;
  masked_by: string;
  requested_at: Time;
  /** Events that the session had then, those included that were on their way into the store. */
  accepted_events: number;
  finished_at: Time | null;
  /** Null while it runs. */
  outcome: MaskOutcome | null;
  /** Events in which it was masked. */
  events: number;
  /** Places in these events. */
  places: number;
  /** Places in what the session itself says, such as its title. */
  fields: number;
}

/** A text that an admin had masked, or counted, in all sessions that they may read. */
export interface MaskRunRow {
  run_id: string;
  organization_id: string;
  /** The text, encrypted; null once it has ended. */
  sealed: string | null;
  is_dry: number;
  requested_by: string;
  requested_at: Time;
  finished_at: Time | null;
  /** Null while it runs. */
  outcome: RunOutcome | null;
  /** Sessions that were read. */
  sessions: number;
  /** Of these, sessions in which it stood. */
  found: number;
  /** Sessions that a hold keeps. */
  held: number;
  events: number;
  places: number;
  fields: number;
}

/** Long work. A process continues where another one was stopped. */
export interface JobRow {
  /** Of what it works on, such as a mask. */
  job_id: string;
  organization_id: string;
  kind: string;
  /** How far it is, in the terms of its kind. */
  progress: string;
  /** Nobody takes it before: a process has it, or it waits after an error. */
  not_before: Time;
  /** Of the process that took it last. */
  lease: string | null;
  /** How often it was taken since it got further. */
  attempts: number;
}

/** An event that was masked after it was stored. */
export interface EventMaskRow {
  session_id: string;
  sequence: number;
  organization_id: string;
  /** Of the event as it was accepted: `eventDigest`. */
  digest: string;
  places: number;
  masked_by: string;
  masked_at: Time;
}

/** The head of a session's chain as the service has signed it last. */
export interface SessionChainRow {
  session_id: string;
  organization_id: string;
  sequence: number;
  hash: string;
  machine_key: string | null;
  /** JSON of a DSSE envelope. */
  envelope: string;
  signed_at: Time;
}

/** A session, or a range of it, that is shown to others by a token. */
export interface ShareRow {
  share_id: string;
  organization_id: string;
  session_id: string;
  token_hash: string;
  shared_by: string;
  audience: ShareAudience;
  /** The member; null unless the audience is a person. */
  recipient_id: string | null;
  level: ShareLevel;
  /** Null: from the start, to the end. */
  from_sequence: number | null;
  to_sequence: number | null;
  created_at: Time;
  expires_at: Time;
  revoked_at: Time | null;
  views: number;
  last_viewed_at: Time | null;
}
