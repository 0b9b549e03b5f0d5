/* This file is generated from `server/store/migrations/` by `npm run generate`. */

import type { AddOnKind, AgentId, AuditParty, DevicePurpose, HoldTarget, Look, MaskOutcome, Plane, Platform, RetentionTarget, Role, RunOutcome, ShareAudience, ShareLevel, Surface, Time, ValueField, Visibility } from './column-types.ts';

/** A value that the service generated and stores, such as the pepper or a signing key. */
export interface SettingRow {
  name: string;
  value: string;
}

export interface UserRow {
  user_id: string;
  issuer: string;
  subject: string;
  email: string | null;
  email_verified: number;
  /** The person's id in the directory behind the issuer; null if the issuer names none. */
  directory_id: string | null;
  /** When the audit log last recorded a sign-in at an external identity provider. */
  signed_in_at: Time | null;
  created_at: Time;
  updated_at: Time;
}

export interface OrganizationRow {
  organization_id: string;
  name: string;
  slug: string;
  /** `deleted` while its data is being removed. */
  status: 'active' | 'deleted';
  owner_user_id: string;
  /** 1 once the identity provider knows the owner's organization. */
  tenant_assigned: number;
  created_at: Time;
  updated_at: Time;
}

export interface MemberRow {
  organization_id: string;
  user_id: string;
  email: string;
  /** Lower-case e-mail, unique within an organization. Null for a founder whose address is not verified. */
  email_key: string | null;
  /**
   * 1 if an active member has proven the address, which is then unique over all organizations. 0 for invitations, and
   * for members whom the directory's id identified: an organization's owner chooses their address.
   */
  email_proven: number;
  role: Role;
  status: 'active' | 'invited';
  /** When the invitation was last handed over for mailing; null if that never succeeded. */
  mailed_at: Time | null;
  /** When the mailed link expires; null if it does not. */
  link_expires_at: Time | null;
  joined_at: Time | null;
  created_at: Time;
  updated_at: Time;
}

/** The token with which an organization's directory provisions members, hashed like a secret. */
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

/** Users of directories. member_key is the e-mail of the membership, and the membership says whether the person is active. */
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

/** The policies that owners set for all members, as JSON. */
export interface PolicyRow {
  organization_id: string;
  /** JSON text: `PolicyBody` of `contract/policy.ts`. */
  policy: string;
  updated_at: Time;
}

/** People who were removed together with their sessions. A row exists until all these sessions are deleted. */
export interface PersonDeletionRow {
  organization_id: string;
  user_id: string;
  /** The admin who removed them. */
  actor_id: string;
  /** Sessions that were opened later are kept. */
  requested_at: Time;
}

export interface SecretRow {
  secret_id: string;
  organization_id: string;
  name: string | null;
  plane: Plane;
  /** HMAC-SHA-256 of the value under the server's pepper, in hexadecimal. */
  hash: string;
  prefix: string;
  last_four: string;
  status: 'active' | 'revoked';
  created_by: string;
  /** Whether a machine got it by a confirmed sign-in. */
  is_machine: number;
  /** The person who confirmed the sign-in that issued it; null for a plain secret, or if the machine belongs to nobody. */
  user_id: string | null;
  /** The machine of the secret: the one that a member signed in with it, or the first that registered with it. */
  environment_id: string | null;
  last_used_at: Time | null;
  revoked_at: Time | null;
  created_at: Time;
  updated_at: Time;
}

/** Views: named lists of sessions, of one person or shared with all members. When a person leaves, only their shared views stay. */
export interface ViewRow {
  view_id: string;
  organization_id: string;
  created_by: string;
  name: string;
  /** JSON text: `ViewSearch` of `contract/view.ts`. */
  search: string;
  is_shared: number;
  created_at: Time;
  updated_at: Time;
}

/** Legal holds, which prevent deletions. Released holds are kept. */
export interface HoldRow {
  hold_id: string;
  organization_id: string;
  target_kind: HoldTarget['kind'];
  /** Null if it covers everything. */
  target_id: string | null;
  reason: string;
  placed_by: string;
  placed_at: Time;
  released_by: string | null;
  released_at: Time | null;
}

/** Machines that wait some minutes for a person to confirm their sign-in. Their codes are hashed like secrets. */
export interface DeviceSignInRow {
  device_hash: string;
  user_hash: string;
  hostname: string;
  platform: Platform;
  cli_version: string;
  address: string;
  purpose: DevicePurpose;
  status: 'pending' | 'approved' | 'denied' | 'issued';
  /** The organization of the person who decided; null before the decision. */
  organization_id: string | null;
  decided_by: string | null;
  plane: Plane | null;
  polled_at: Time | null;
  created_at: Time;
  expires_at: Time;
}

/** The audit log. Each entry contains the hash of the previous entry. The head is the last entry. */
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

export interface EnvironmentRow {
  environment_id: string;
  organization_id: string;
  display_name: string | null;
  hostname: string;
  platform: Platform;
  cli_version: string;
  status: 'active' | 'revoked';
  repo_root: string | null;
  repo_remote: string | null;
  git_branch: string | null;
  /** The last report of its command line. The texts are JSON. */
  waiting_events: number | null;
  states: string | null;
  coverage: string | null;
  gaps: string | null;
  comparison: string | null;
  reported_at: Time | null;
  /** The owner of the machine; null if it has none. */
  user_id: string | null;
  /** The person who claims a machine without an owner. */
  claimed_by: string | null;
  last_seen_at: Time;
  created_at: Time;
  updated_at: Time;
}

export interface InstallationRow {
  installation_id: string;
  organization_id: string;
  agent_id: AgentId;
  environment_id: string | null;
  version: string | null;
  /** JSON text. */
  config: string | null;
  status: 'active' | 'disabled';
  created_at: Time;
  updated_at: Time;
}

/**
 * Removing a machine or an agent first checks that no session refers to it, so no foreign key is needed. A foreign key would
 * scan all sessions for each machine and agent, or need two more indexes.
 */
export interface SessionRow {
  session_id: string;
  organization_id: string;
  environment_id: string;
  installation_id: string;
  agent_id: AgentId;
  plane: Plane;
  status: 'active' | 'completed' | 'failed';
  title: string | null;
  repo_root: string | null;
  /** The normal form of the remote at the opening: host/owner/name. */
  repository: string | null;
  git_branch: string | null;
  started_at: Time;
  ended_at: Time | null;
  event_count: number;
  created_at: Time;
  updated_at: Time;
  /** The name of the session that its client chose. */
  client_key: string | null;
  /** Client keys of the sessions that this one continues and was forked from. Those sessions may arrive later. */
  continues_key: string | null;
  forked_from_key: string | null;
  /** When the agent ended it, if the client reported that at the opening. It is the default for closing. */
  client_ended_at: Time | null;
  /** Set from the deletion until the rows of the session are removed. */
  deleted_at: Time | null;
  /** The secret that opened it; null in old sessions. */
  secret_id: string | null;
  /** The person of the session; null: it has none. */
  user_id: string | null;
  visibility: Visibility;
  /** When the retention policy removed its content. */
  content_expired_at: Time | null;
  /** How often a mask has changed it. */
  masks: number;
}

/**
 * The removal of a session, or of its content alone, and its receipt. The row of a deleted session prevents that it is captured
 * again. If a session is deleted whose content is removed, its row continues as that of the deletion.
 */
export interface RemovalRow {
  session_id: string;
  organization_id: string;
  /** session or content */
  what: 'session' | 'content';
  plane: Plane;
  /** The machine that captured it. */
  environment_id: string;
  /** Only of a deleted session. */
  client_key: string | null;
  /** From then on nobody sees it. */
  requested_at: Time;
  /** When the last of it was removed. */
  finished_at: Time | null;
  event_count: number;
  /** When the last event of the session arrived, if it or its content expired; otherwise null. */
  last_event_at: Time | null;
  /** Who deleted it; null if it expired or was deleted together with its organization. */
  by_kind: AuditParty['kind'] | null;
  by_id: string | null;
  /**
   * Only of content: the retention period of the rule, and the target of the rule: organization, plane or repository; null for
   * the rule of the operator.
   */
  days: number | null;
  target_kind: RetentionTarget['kind'] | null;
  target_id: string | null;
  /** Only of content: the derived rows of the session, which can no longer be derived: compressed JSON in base64. */
  kept: string | null;
  /** How much is removed so far, and the digest of that. */
  removed_events: number;
  removed_appends: number;
  removed_bytes: number;
  /** The digest of the removed appends: see `nextDigest`. */
  digest: string | null;
}

/** How many uncompressed bytes of events a session has. Written every few seconds. */
export interface StoredBytesRow {
  session_id: string;
  organization_id: string;
  bytes: number;
}

/** How many bytes of events an organization sent on a day. */
export interface StoredDayRow {
  organization_id: string;
  /** YYYY-MM-DD, UTC. */
  day: string;
  bytes: number;
}

/** One row for each batch of events: the events as they were sent, compressed. */
export interface AppendRow {
  session_id: string;
  first_sequence: number;
  last_sequence: number;
  organization_id: string;
  /** The UUID in the ids of its events. */
  append_id: string;
  created_at: Time;
  idempotency_key: string | null;
  /** SHA-256 of the request body, in hexadecimal; null without an idempotency key. */
  fingerprint: string | null;
  /** The secret that sent it; null for the secret that opened the session. */
  other_secret_id: string | null;
  /** How `body` is encoded: see `log/frame.ts`. */
  codec: number;
  body: Uint8Array;
}

/** Looks at sessions: one row for each person, kind of look and hour. */
export interface SessionViewRow {
  session_id: string;
  organization_id: string;
  user_id: string;
  /** opened, found or exported */
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

/** Requests to mask or count a text, which serve as receipts. A row contains the encrypted text only while the mask runs. */
export interface MaskRow {
  mask_id: string;
  organization_id: string;
  /** Null: all sessions that the requester may read. */
  session_id: string | null;
  /** The mark that replaces the text; null for all sessions, because each session has a mark of its own. */
  mark: string | null;
  /** The encrypted text, or `TODAYS_RULES`; null once the mask has ended. */
  sealed: string | null;
  /** 1: it only counts, and changes nothing. */
  is_dry: number;
  requested_by: string;
  requested_at: Time;
  /** How many acknowledged events the session had at the request, including those that were not in the store yet. */
  accepted_events: number;
  finished_at: Time | null;
  /** Null while the mask runs; then done, cancelled or failed; of a session also held; of all sessions also stopped. */
  outcome: MaskOutcome | RunOutcome | null;
  /** In how many events the text was found. */
  events: number;
  /** In how many places of these events. */
  places: number;
  /** In how many places of the sessions' own fields, such as a title. */
  fields: number;
  /** Of all sessions: how many were read. */
  sessions: number;
  /** How many of these contained the text. */
  found: number;
  /** How many sessions a hold protects. */
  held: number;
  /** How many sessions were left out because their events are damaged. */
  damaged: number;
}

/** Long jobs. If a process stops, another one continues its jobs. A job's row is deleted when the job ends. */
export interface JobRow {
  /** The id of the object that it works on, such as a mask. */
  job_id: string;
  organization_id: string;
  kind: string;
  /** Where it continues. */
  progress: string;
  /** No process may take the job before this time: a process is working on it, or it waits after an error. */
  not_before: Time;
  /** The lease of the process that took the job last. Only that process may continue. */
  lease: string | null;
  /** How often it was taken since it last made progress, without the attempts of processes that closed. */
  attempts: number;
}

/** The keys of the salts of a session's events, as JSON. The keys of masked events were removed with their texts. */
export interface SessionSaltsRow {
  session_id: string;
  organization_id: string;
  /** JSON of `SaltKeys`. */
  salt_keys: string;
}

/** Events that were masked after they were stored, with the digest of the original event. Its salt was removed. */
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

/** The last signed head of a session's chain. It is computed from the events, and may lag behind them for a moment. */
export interface SessionChainRow {
  session_id: string;
  organization_id: string;
  sequence: number;
  hash: string;
  /** The first key that the machine has sent. */
  machine_key: string | null;
  /** JSON of the signed statement. */
  envelope: string;
  signed_at: Time;
}

/** Sessions that others can read with a token. */
export interface ShareRow {
  share_id: string;
  organization_id: string;
  session_id: string;
  /** The hash of the token. The service does not keep the token itself. */
  token_hash: string;
  shared_by: string;
  /** person, organization or link */
  audience: ShareAudience;
  /** The member who may read it; null unless the audience is a person. */
  recipient_id: string | null;
  /** full, outline or figures */
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

/**
 * The facts of a session, and the figures by which lists are sorted. The defaults are the row of a session of which nothing is
 * derived yet.
 */
export interface SessionFactsRow {
  session_id: string;
  organization_id: string;
  plane: Plane;
  started_at: Time;
  /** The version of the rules that derived it. Data of another version is derived again. */
  version: number;
  /** The last event that this row and the other derived tables contain. */
  derived_through: number;
  /** The first event of the next chunk. The last chunk is derived again as long as it has room. */
  next_chunk: number;
  /** Until when one process has the exclusive right to derive it. */
  claimed_until: Time;
  /** How often a mask had changed the session when its events were read for this row. */
  masks: number;
  /** Whether its agent revises records. Then its facts are made from all entries. */
  is_rewritten: number;
  /** Whether the session is closed and derived up to its last event. */
  is_final: number;
  event_count: number;
  prompts: number;
  tool_calls: number;
  failures: number;
  redactions: number;
  files_changed: number;
  lines_added: number;
  lines_removed: number;
  input_tokens: number;
  cached_tokens: number;
  output_tokens: number;
  /** The time from its first event to its last. */
  duration_ms: number;
  lines_changed: number;
  tokens: number;
  /** Whole nanodollars, by the prices of the version; null if no price is known. */
  cost: number | null;
  first_event_at: Time | null;
  last_event_at: Time | null;
  /** The delay between the last event and its storage. */
  lag_ms: number | null;
  interrupted: number;
  /** JSON text with the content of lists, at most 4 KiB. */
  summary: string;
  /** Compressed JSON; null if this version has derived nothing yet. */
  facts: Uint8Array | null;
}

/**
 * The figures of one session on one day: one row for the day itself, and one for each model, tool, hour and add-on. An add-on is
 * an MCP server, a skill, a plugin or a type of sub-agents, which the session used or listed. The rows of a session are replaced
 * together.
 */
export interface SessionDayRow {
  session_id: string;
  organization_id: string;
  plane: Plane;
  /** YYYY-MM-DD, UTC. */
  day: string;
  /** The day itself or a part of it. */
  kind: 'session' | 'model' | 'tool' | 'hour' | AddOnKind;
  /** The name of the model, tool or add-on, or the hour of the week; empty for the day itself. */
  name: string;
  /** Set in the rows of the day itself and of add-ons. */
  agent_id: string | null;
  /** Set in the row of the day itself, like the repository. */
  environment_id: string | null;
  repository: string | null;
  /** 1 on the day a session began, else 0. */
  sessions: number;
  prompts: number;
  tool_calls: number;
  failures: number;
  /** Includes cached tokens. */
  input_tokens: number;
  cached_tokens: number;
  cache_write_tokens: number;
  output_tokens: number;
  /** Input and output of models without a known price. */
  unpriced_tokens: number;
  /** Whole nanodollars for all other tokens. Sums of them are exact, in any order. */
  cost: number;
  /** The time of the last call of an add-on, 0 if it was not called; null in the other rows. */
  last_used_at: Time | null;
  /** Whether the session listed the add-on. */
  is_listed: number;
}

/** How often the rows of a day changed, and which of these changes its sums include. */
export interface SummedDayRow {
  organization_id: string;
  plane: Plane;
  day: string;
  changes: number;
  /** The value of `changes` when the sums were last computed. */
  summed: number;
}

/**
 * The sums of a day over all sessions, for each value of each dimension. An overview reads these, so its cost does not
 * depend on the number of sessions. The sums of a day are replaced together. The key keeps the days of a value next to each
 * other, so that SQLite sums the values of a year without sorting: 255,000 rows in 30 instead of 75 ms.
 */
export interface UsageDayRow {
  organization_id: string;
  plane: Plane;
  dimension: 'total' | 'agent' | 'environment' | 'repository' | 'person' | 'model' | 'tool' | 'hour';
  day: string;
  /** Empty for the total. */
  value: string;
  /** The Monday on or before the day. */
  week: string;
  /** 1 on the day a session began, else 0. */
  sessions: number;
  prompts: number;
  tool_calls: number;
  failures: number;
  /** Includes cached tokens. */
  input_tokens: number;
  cached_tokens: number;
  output_tokens: number;
  /** Input and output of models without a known price. */
  unpriced_tokens: number;
  /** Whole nanodollars for all other tokens. Sums of them are exact, in any order. */
  cost: number;
}

/**
 * Values that sessions are found by, such as `file:` and `tool:`. Prefixes are looked up, and only in byte order is a prefix
 * a range of the index.
 */
export interface SessionValueRow {
  session_id: string;
  organization_id: string;
  field: ValueField;
  /** The text for the search, in lower case; for a path or an address, its last name. */
  name: string;
  /** The whole path or address; empty for other values, so that no text is stored twice. */
  path: string;
}

/**
 * Consecutive events of a session: the entries the timeline shows, and which words they may have. Chunks share a row of the index:
 * `index_row` is the id of the row's first chunk, and null for this chunk itself.
 */
export interface SessionChunkRow {
  chunk_id: number;
  session_id: string;
  organization_id: string;
  first_sequence: number;
  last_sequence: number;
  index_row: number | null;
  /** Which words it may have: `store/signature.ts`. */
  signature: Uint8Array;
  /** Compressed JSON: `transcript/entry/entry.ts`. */
  entries: Uint8Array;
  /**
   * On PostgreSQL the words of the whole row, at its first chunk, which are indexed here. On SQLite, which indexes them elsewhere, the words that
   * the chunk brought to its row, separated by spaces and compressed.
   */
  words: Uint8Array | string | null;
}

/** An account of the embedded identity provider. */
export interface AccountRow {
  account_id: string;
  email: string;
  /** Lower-case e-mail, unique. */
  email_key: string;
  email_verified: number;
  /** Encoded scrypt hash with its parameters and salt. */
  password: string;
  /** Each new password increments it, which invalidates the tokens of earlier passwords. */
  password_version: number;
  created_at: Time;
  updated_at: Time;
}

/** A single-use link that lets its holder create an account or set a password. */
export interface LinkRow {
  /** SHA-256 of the token, in hexadecimal. */
  token_hash: string;
  purpose: 'first_account' | 'invitation' | 'password_reset';
  /** The address to which the link was mailed, if any. Using the link verifies this address. */
  email: string | null;
  created_at: Time;
  expires_at: Time;
  used_at: Time | null;
}

/** A record of the embedded OpenID provider: session, grant, code, token … */
export interface ProviderRecordRow {
  /** `Model:id`. */
  record_id: string;
  model: string;
  grant_id: string | null;
  uid: string | null;
  /** JSON text; empty after the record ended. */
  payload: string;
  expires_at: Time | null;
  consumed_at: Time | null;
}

/** The rows of all tables. */
export interface Database {
  settings: SettingRow;
  users: UserRow;
  organizations: OrganizationRow;
  members: MemberRow;
  directory_tokens: DirectoryTokenRow;
  directory_users: DirectoryUserRow;
  policies: PolicyRow;
  person_deletions: PersonDeletionRow;
  secrets: SecretRow;
  views: ViewRow;
  holds: HoldRow;
  device_sign_ins: DeviceSignInRow;
  audit_heads: AuditHeadRow;
  audit_entries: AuditEntryRow;
  environments: EnvironmentRow;
  installations: InstallationRow;
  sessions: SessionRow;
  removals: RemovalRow;
  stored_bytes: StoredBytesRow;
  stored_days: StoredDayRow;
  appends: AppendRow;
  session_views: SessionViewRow;
  masks: MaskRow;
  jobs: JobRow;
  session_salts: SessionSaltsRow;
  event_masks: EventMaskRow;
  session_chains: SessionChainRow;
  shares: ShareRow;
  session_facts: SessionFactsRow;
  session_days: SessionDayRow;
  summed_days: SummedDayRow;
  usage_days: UsageDayRow;
  session_values: SessionValueRow;
  session_chunks: SessionChunkRow;
  accounts: AccountRow;
  links: LinkRow;
  provider_records: ProviderRecordRow;
}

/** The columns with a default, which an insertion may leave out. */
export interface Defaults {
  secrets: 'is_machine';
  sessions: 'visibility' | 'masks';
  removals: 'removed_events' | 'removed_appends' | 'removed_bytes';
  masks: 'events' | 'places' | 'fields' | 'sessions' | 'found' | 'held' | 'damaged';
  jobs: 'progress' | 'not_before' | 'attempts';
  shares: 'views';
  session_facts: 'version' | 'derived_through' | 'next_chunk' | 'claimed_until' | 'is_rewritten' | 'is_final' | 'event_count' | 'prompts' | 'tool_calls' | 'failures' | 'redactions' | 'files_changed' | 'lines_added' | 'lines_removed' | 'input_tokens' | 'cached_tokens' | 'output_tokens' | 'duration_ms' | 'lines_changed' | 'tokens' | 'interrupted' | 'summary';
  session_chunks: 'chunk_id';
  accounts: 'password_version';
}

/** The columns of the primary keys. */
export const PRIMARY_KEYS = {
  settings: ['name'],
  users: ['user_id'],
  organizations: ['organization_id'],
  members: ['user_id'],
  directory_tokens: ['organization_id'],
  directory_users: ['directory_user_id'],
  policies: ['organization_id'],
  person_deletions: ['organization_id', 'user_id'],
  secrets: ['secret_id'],
  views: ['view_id'],
  holds: ['hold_id'],
  device_sign_ins: ['device_hash'],
  audit_heads: ['organization_id'],
  audit_entries: ['organization_id', 'sequence'],
  environments: ['environment_id'],
  installations: ['installation_id'],
  sessions: ['session_id'],
  removals: ['session_id'],
  stored_bytes: ['session_id'],
  stored_days: ['organization_id', 'day'],
  appends: ['session_id', 'first_sequence'],
  session_views: ['session_id', 'kind', 'hour', 'user_id'],
  masks: ['mask_id'],
  jobs: ['job_id'],
  session_salts: ['session_id'],
  event_masks: ['session_id', 'sequence'],
  session_chains: ['session_id'],
  shares: ['share_id'],
  session_facts: ['session_id'],
  session_days: ['session_id', 'day', 'kind', 'name'],
  summed_days: ['organization_id', 'plane', 'day'],
  usage_days: ['organization_id', 'plane', 'dimension', 'value', 'day'],
  session_values: ['session_id', 'field', 'name', 'path'],
  session_chunks: ['chunk_id'],
  accounts: ['account_id'],
  links: ['token_hash'],
  provider_records: ['record_id'],
} as const satisfies { [Name in keyof Database]: readonly (keyof Database[Name])[] };
