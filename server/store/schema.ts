import type { Generated, Kysely } from 'kysely';
import type { AgentId } from '../../contract/agent.ts';
import type { DevicePurpose } from '../../contract/device.ts';
import type { AddOnKind } from '../../contract/entry/add-on.ts';
import type { Platform } from '../../contract/environment.ts';
import type { Role } from '../../contract/organization.ts';
import type { Plane } from '../../contract/secret.ts';
import type { Visibility } from '../../contract/session.ts';
import type {
  AuditEntryRow,
  AuditHeadRow,
  DirectoryTokenRow,
  DirectoryUserRow,
  EventMaskRow,
  HoldRow,
  JobRow,
  MaskRow,
  MaskRunRow,
  PersonDeletionRow,
  PolicyRow,
  SessionChainRow,
  SessionSaltsRow,
  SessionViewRow,
  ShareRow,
  Time,
} from './schema-governance.ts';
import type { AccountRow, Dated, LinkRow, ProviderRecordRow } from './schema-identity.ts';
import type { DeletedSessionRow, ExpiredContentRow } from './schema-removal.ts';

/* Times are epoch milliseconds. Ids are the opaque strings of the API. */

export interface OrganizationRow extends Dated {
  organization_id: string;
  name: string;
  slug: string;
  /** `deleted` while its data is being removed. */
  status: 'active' | 'deleted';
  owner_user_id: string;
  /** 1 once the identity provider knows the owner's organization. */
  tenant_assigned: number;
}

export interface UserRow extends Dated {
  user_id: string;
  issuer: string;
  subject: string;
  email: string | null;
  email_verified: number;
  /** The person's id in the directory behind the issuer; null if the issuer names none. */
  directory_id: string | null;
  /** When the audit log last recorded a sign-in at an external identity provider. */
  signed_in_at: Time | null;
}

export interface MemberRow extends Dated {
  organization_id: string;
  user_id: string;
  email: string;
  /** Lower-case e-mail, unique within an organization. Null for a founder whose address is not verified. */
  email_key: string | null;
  /**
   * 1 if an active member has proven the address, which is then unique over all organizations. 0 for invitations, and for
   * members whom the directory's id identified: an organization's owner chooses their address.
   */
  email_proven: number;
  role: Role;
  status: 'active' | 'invited';
  /** When the invitation was last handed over for mailing; null if that never succeeded. */
  mailed_at: Time | null;
  /** When the mailed link expires; null if it does not. */
  link_expires_at: Time | null;
  joined_at: Time | null;
}

export interface SecretRow extends Dated {
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
  is_machine: Generated<number>;
  /** The person who confirmed the sign-in that issued it; null for a plain secret, or if the machine belongs to nobody. */
  user_id: string | null;
  /** The machine of the secret: the one that a member signed in with it, or the first that registered with it. */
  environment_id: string | null;
  last_used_at: Time | null;
  revoked_at: Time | null;
}

/** A machine that waits some minutes for a person to confirm its sign-in. Its codes are hashed like secrets. */
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

export interface EnvironmentRow extends Dated {
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
  /** The owner of the machine; null: it has none. */
  user_id: string | null;
  /** The person who claims a machine without an owner. */
  claimed_by: string | null;
  last_seen_at: Time;
}

export interface InstallationRow extends Dated {
  installation_id: string;
  organization_id: string;
  agent_id: AgentId;
  environment_id: string | null;
  version: string | null;
  /** JSON text. */
  config: string | null;
  status: 'active' | 'disabled';
}

/** A view: a named list of sessions, of one person or shared with all members. */
export interface ViewRow extends Dated {
  view_id: string;
  organization_id: string;
  created_by: string;
  name: string;
  /** JSON text: `ViewSearch` of `contract/view.ts`. */
  search: string;
  is_shared: number;
}

export interface SessionRow extends Dated {
  session_id: string;
  organization_id: string;
  environment_id: string;
  installation_id: string;
  agent_id: AgentId;
  /** The secret that opened it; null in old sessions. */
  secret_id: string | null;
  plane: Plane;
  status: 'active' | 'completed' | 'failed';
  title: string | null;
  repo_root: string | null;
  /** The normal form of the remote at the opening. */
  repository: string | null;
  git_branch: string | null;
  started_at: Time;
  ended_at: Time | null;
  event_count: number;
  /** The name of the session that its client chose. */
  client_key: string | null;
  /** Client keys of the sessions that this one continues and was forked from. Those sessions may arrive later. */
  continues_key: string | null;
  forked_from_key: string | null;
  /** When the agent ended it, if the client reported that at the opening. It is the default for closing. */
  client_ended_at: Time | null;
  /** Set from the deletion until a sweep has removed the rows of the session. */
  deleted_at: Time | null;
  /** The person of the session; null: it has none. */
  user_id: string | null;
  visibility: Visibility;
  /** When the retention policy removed its content. */
  content_expired_at: Time | null;
  /** How often a mask has changed it. */
  masks: number;
}

/** How many uncompressed bytes of events a session has. */
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

/** One append: a whole batch of events in one row. */
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
  /** The secret that sent it, if another one opened the session. */
  other_secret_id: string | null;
  /** How `body` is encoded: see `log/frame.ts`. */
  codec: number;
  body: Uint8Array;
}

/** The facts of a session, and the figures by which lists are sorted; derived. */
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
  /** JSON text. */
  facts: string;
}

/** A value by which a session can be found, such as a file, tool or branch; derived. */
export interface SessionValueRow {
  session_id: string;
  organization_id: string;
  field:
    | 'repository'
    | 'branch'
    | 'file'
    | 'edited'
    | 'command'
    | 'tool'
    | 'model'
    | 'commit'
    | 'hour'
    | 'half_hour'
    | 'tests'
    | AddOnKind;
  /** The text for the search, in lower case; for a path, its last name. */
  name: string;
  value: string;
}

/** The timeline entries and words of consecutive events; derived. */
export interface SessionChunkRow {
  chunk_id: Generated<number>;
  session_id: string;
  organization_id: string;
  first_sequence: number;
  last_sequence: number;
  /** The `chunk_id` of the first chunk that shares its row of the word index; null for this chunk itself. */
  index_row: number | null;
  /** Which words it may have: `store/signature.ts`. */
  signature: Uint8Array;
  /** Compressed JSON: `contract/entry/entry.ts`. */
  entries: Uint8Array;
  /**
   * On PostgreSQL the words of the whole row, at its first chunk, which are indexed here. On SQLite, which indexes them elsewhere, the words that the
   * chunk brought to its row, separated by spaces and compressed.
   */
  words: Uint8Array | string | null;
}

/** The figures that both the rows of a session and the sums over sessions have. */
interface FigureColumns {
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

/** The figures of one session on one day; derived. */
export interface SessionDayRow extends FigureColumns {
  session_id: string;
  organization_id: string;
  plane: Plane;
  /** YYYY-MM-DD, UTC. */
  day: string;
  /** The day itself or a part of it. */
  kind: 'session' | 'model' | 'tool' | 'hour';
  /** The name of the model or tool, or the hour of the week; empty for the day itself. */
  name: string;
  /** Set in the row of the day itself; null in the others. */
  agent_id: string | null;
  environment_id: string | null;
  repository: string | null;
  cache_write_tokens: number;
}

/** What a session did with an add-on on a day; derived. */
export interface SessionAddOnRow {
  session_id: string;
  organization_id: string;
  plane: Plane;
  /** YYYY-MM-DD, UTC. */
  day: string;
  kind: AddOnKind;
  name: string;
  /** The model of the sub-agents' tokens; empty in the row with the calls. */
  model: string;
  agent_id: string;
  calls: number;
  failures: number;
  /** 0 if it was not used. */
  last_used_at: number;
  is_listed: number;
  input_tokens: number;
  cached_tokens: number;
  cache_write_tokens: number;
  output_tokens: number;
  unpriced_tokens: number;
  /** Whole nanodollars. */
  cost: number;
}

/** Whether the sums of a day include all changes of its sessions; derived. */
export interface SummedDayRow {
  organization_id: string;
  plane: Plane;
  day: string;
  changes: number;
  /** The value of `changes` when the sums were last computed. */
  summed: number;
}

/** The sums of a day over all sessions for one value of a dimension; derived. */
export interface UsageDayRow extends FigureColumns {
  organization_id: string;
  plane: Plane;
  dimension: 'total' | 'agent' | 'environment' | 'repository' | 'person' | 'model' | 'tool' | 'hour';
  day: string;
  /** Empty for the total. */
  value: string;
  /** The Monday on or before the day. */
  week: string;
}

/** A value that the service generated and stores, such as the pepper or a signing key. */
export interface SettingRow {
  name: string;
  value: string;
}

export interface Database {
  settings: SettingRow;
  users: UserRow;
  organizations: OrganizationRow;
  members: MemberRow;
  policies: PolicyRow;
  person_deletions: PersonDeletionRow;
  directory_tokens: DirectoryTokenRow;
  directory_users: DirectoryUserRow;
  audit_heads: AuditHeadRow;
  audit_entries: AuditEntryRow;
  secrets: SecretRow;
  device_sign_ins: DeviceSignInRow;
  environments: EnvironmentRow;
  installations: InstallationRow;
  views: ViewRow;
  holds: HoldRow;
  sessions: SessionRow;
  deleted_sessions: DeletedSessionRow;
  expired_contents: ExpiredContentRow;
  appends: AppendRow;
  session_views: SessionViewRow;
  masks: MaskRow;
  session_salts: SessionSaltsRow;
  event_masks: EventMaskRow;
  mask_runs: MaskRunRow;
  jobs: JobRow;
  session_chains: SessionChainRow;
  shares: ShareRow;
  stored_bytes: StoredBytesRow;
  stored_days: StoredDayRow;
  session_facts: SessionFactsRow;
  session_values: SessionValueRow;
  session_chunks: SessionChunkRow;
  session_days: SessionDayRow;
  session_add_ons: SessionAddOnRow;
  summed_days: SummedDayRow;
  usage_days: UsageDayRow;
  accounts: AccountRow;
  links: LinkRow;
  provider_records: ProviderRecordRow;
}

/** A person in an organization. */
export interface MemberKey {
  organizationId: string;
  userId: string;
}

/** A secret of an organization. */
export interface SecretKey {
  organizationId: string;
  secretId: string;
}

/** The store, on either engine. */
export type Db = Kysely<Database>;
