import type { HoldTarget } from '../../contract/hold.ts';
import type { MaskOutcome, RunOutcome } from '../../contract/mask.ts';
import type { Look, Surface } from '../../contract/session-view.ts';
import type { ShareAudience, ShareLevel } from '../../contract/share.ts';

/* Rows about the governance of an organization and about the actions in it. */

/** Epoch milliseconds. */
export type Time = number;

/** The policy that an owner set for all members. */
export interface PolicyRow {
  organization_id: string;
  /** JSON text: `PolicyBody` of `contract/policy.ts`. */
  policy: string;
  updated_at: Time;
}

/** A legal hold. Its target cannot be deleted until the hold is released. */
export interface HoldRow {
  hold_id: string;
  organization_id: string;
  target_kind: HoldTarget['kind'];
  /** Null if it holds everything. */
  target_id: string | null;
  reason: string;
  placed_by: string;
  placed_at: Time;
  released_by: string | null;
  released_at: Time | null;
}

/** The token with which an organization's directory signs in. */
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

/** A user of an organization's directory. */
export interface DirectoryUserRow {
  directory_user_id: string;
  organization_id: string;
  /** Lower-case `userName`. */
  user_key: string;
  /** Lower-case e-mail of the membership or of the invitation. */
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

/** A person who was removed together with their sessions. The row exists until all sessions are deleted. */
export interface PersonDeletionRow {
  organization_id: string;
  user_id: string;
  /** The admin who removed them. */
  actor_id: string;
  /** Sessions that were opened later are kept. */
  requested_at: Time;
}

/** The looks of one member at a session of another person, of one kind and within one hour. */
export interface SessionViewRow {
  session_id: string;
  organization_id: string;
  user_id: string;
  kind: Look;
  /** The start of the hour. */
  hour: Time;
  first_at: Time;
  last_at: Time;
  count: number;
  /** The surface of the last look. */
  surface: Surface;
  network: string;
}

/** A request to mask a text in a session. */
export interface MaskRow {
  mask_id: string;
  organization_id: string;
  session_id: string;
  /** The mark that replaces the text. */
  mark: string;
  /** The encrypted text, or `TODAYS_RULES`; null once the mask has ended. */
  sealed: string | null;
  masked_by: string;
  requested_at: Time;
  /** How many acknowledged events the session had at the request, including those that were not in the store yet. */
  accepted_events: number;
  finished_at: Time | null;
  /** Null while the mask runs. */
  outcome: MaskOutcome | null;
  /** In how many events the text was masked. */
  events: number;
  /** In how many places of these events. */
  places: number;
  /** In how many places of the session's own fields, such as its title. */
  fields: number;
}

/** A request of an admin to mask or count a text in all sessions that they may read. */
export interface MaskRunRow {
  run_id: string;
  organization_id: string;
  /** The encrypted text; null once the run has ended. */
  sealed: string | null;
  is_dry: number;
  requested_by: string;
  requested_at: Time;
  finished_at: Time | null;
  /** Null while it runs. */
  outcome: RunOutcome | null;
  /** How many sessions were read. */
  sessions: number;
  /** How many of these contained the text. */
  found: number;
  /** How many sessions a hold protects. */
  held: number;
  /** How many sessions were left out because their events are damaged. */
  damaged: number;
  events: number;
  places: number;
  fields: number;
}

/** A long job. If a process stops, another process continues the job. */
export interface JobRow {
  /** The id of the object that it works on, such as a mask. */
  job_id: string;
  organization_id: string;
  kind: string;
  /** Its progress, in a form that depends on its kind. */
  progress: string;
  /** No process may take the job before this time: a process is working on it, or it waits after an error. */
  not_before: Time;
  /** The lease of the process that took the job last. */
  lease: string | null;
  /** How often it was taken since it last made progress, without the attempts of processes that closed. */
  attempts: number;
}

/** The keys of the salts of a session's events. */
export interface SessionSaltsRow {
  session_id: string;
  organization_id: string;
  /** JSON of `SaltKeys`. */
  salt_keys: string;
}

/** An event that was masked after it was stored. */
export interface EventMaskRow {
  session_id: string;
  sequence: number;
  organization_id: string;
  /** The digest of the original event: `eventDigest`. Its salt was removed. */
  digest: string;
  places: number;
  masked_by: string;
  masked_at: Time;
}

/** The last signed head of a session's chain. */
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

/** A session, or a range of it, that others can read with a token. */
export interface ShareRow {
  share_id: string;
  organization_id: string;
  session_id: string;
  token_hash: string;
  shared_by: string;
  audience: ShareAudience;
  /** The member who may read it; null unless the audience is a person. */
  recipient_id: string | null;
  level: ShareLevel;
  /** Null: from the start. `to_sequence` null: to the end. */
  from_sequence: number | null;
  to_sequence: number | null;
  created_at: Time;
  expires_at: Time;
  revoked_at: Time | null;
  views: number;
  last_viewed_at: Time | null;
}
