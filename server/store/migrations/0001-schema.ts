import type { Engine } from '../dialect.ts';
import { TENANT_TABLES } from '../tables.ts';
import { DERIVED } from './derived-tables.ts';
import { forEngines, statementsOf } from './engines.ts';
import { GOVERNANCE } from './governance-tables.ts';
import { IDENTITY } from './identity-tables.ts';
import { viewerSecurity } from './viewer-security.ts';

/**
 * The whole schema of the first release. Times are milliseconds since the epoch; booleans are 0 or 1. `npm run generate` makes the
 * types of the rows from it. A comment `--:` behind a column names the type of its values if SQL has none.
 */
export const statementsOfSchema = (engine: Engine): string[] =>
  [PEOPLE, CAPTURE, GOVERNANCE, DERIVED, ROW_SECURITY, IDENTITY].flatMap((part) => statementsOf(part[engine]));

/** Organizations, their members and secrets, and the service's own settings. */
const PEOPLE = forEngines(
  () => `
-- A value that the service generated and stores, such as the pepper or a signing key.
create table settings (
  name text primary key,
  value text not null
);

create table users (
  user_id text primary key,
  issuer text not null,
  subject text not null,
  email text,
  email_verified integer not null,
  -- The person's id in the directory behind the issuer; null if the issuer names none.
  directory_id text,
  -- When the audit log last recorded a sign-in at an external identity provider.
  signed_in_at bigint,
  created_at bigint not null,
  updated_at bigint not null,
  constraint users_identity unique (issuer, subject)
);
create index users_by_directory_id on users (directory_id);

create table organizations (
  organization_id text primary key,
  name text not null,
  slug text not null unique,
  -- \`deleted\` while its data is being removed.
  status text not null, --: 'active' | 'deleted'
  owner_user_id text not null,
  -- 1 once the identity provider knows the owner's organization.
  tenant_assigned integer not null,
  created_at bigint not null,
  updated_at bigint not null
);

create table members (
  organization_id text not null references organizations (organization_id),
  user_id text primary key,
  email text not null,
  -- Lower-case e-mail, unique within an organization. Null for a founder whose address is not verified.
  email_key text,
  -- 1 if an active member has proven the address, which is then unique over all organizations. 0 for invitations, and
  -- for members whom the directory's id identified: an organization's owner chooses their address.
  email_proven integer not null,
  role text not null, --: Role
  status text not null, --: 'active' | 'invited'
  -- When the invitation was last handed over for mailing; null if that never succeeded.
  mailed_at bigint,
  -- When the mailed link expires; null if it does not.
  link_expires_at bigint,
  joined_at bigint,
  created_at bigint not null,
  updated_at bigint not null
);
create unique index members_of_organization on members (organization_id, email_key);
create index members_by_email on members (email_key);
create unique index members_active_email on members (email_key) where status = 'active' and email_proven = 1;

-- The token with which an organization's directory provisions members, hashed like a secret.
create table directory_tokens (
  organization_id text primary key references organizations (organization_id),
  token_id text not null,
  -- HMAC-SHA-256 of the value under the server's pepper, in hexadecimal.
  hash text not null unique,
  last_four text not null,
  created_by text not null,
  created_at bigint not null,
  last_used_at bigint
);

-- Users of directories. member_key is the e-mail of the membership, and the membership says whether the person is active.
create table directory_users (
  directory_user_id text primary key,
  organization_id text not null references organizations (organization_id),
  -- Lower-case \`userName\`.
  user_key text not null,
  -- Lower-case e-mail of the membership or of the invitation.
  member_key text not null,
  external_id text,
  -- JSON of the attributes that the directory sent.
  attributes text not null,
  created_at bigint not null,
  updated_at bigint not null,
  constraint directory_users_name unique (organization_id, user_key),
  constraint directory_users_member unique (organization_id, member_key)
);
create index directory_users_by_external_id on directory_users (external_id, organization_id);

-- The policies that owners set for all members, as JSON.
create table policies (
  organization_id text primary key references organizations (organization_id),
  -- JSON text: \`PolicyBody\` of \`contract/policy.ts\`.
  policy text not null,
  updated_at bigint not null
);

-- People who were removed together with their sessions. A row exists until all these sessions are deleted.
create table person_deletions (
  organization_id text not null references organizations (organization_id),
  user_id text not null,
  -- The admin who removed them.
  actor_id text not null,
  -- Sessions that were opened later are kept.
  requested_at bigint not null,
  constraint person_deletions_pkey primary key (organization_id, user_id)
);

create table secrets (
  secret_id text primary key,
  organization_id text not null references organizations (organization_id),
  name text,
  plane text not null, --: Plane
  -- HMAC-SHA-256 of the value under the server's pepper, in hexadecimal.
  hash text not null unique,
  prefix text not null,
  last_four text not null,
  status text not null, --: 'active' | 'revoked'
  created_by text not null,
  -- Whether a machine got it by a confirmed sign-in.
  is_machine integer default 0 not null,
  -- The person who confirmed the sign-in that issued it; null for a plain secret, or if the machine belongs to nobody.
  user_id text,
  -- The machine of the secret: the one that a member signed in with it, or the first that registered with it.
  environment_id text,
  last_used_at bigint,
  revoked_at bigint,
  created_at bigint not null,
  updated_at bigint not null
);
create index secrets_by_status on secrets (organization_id, status, secret_id);

-- Views: named lists of sessions, of one person or shared with all members. When a person leaves, only their shared views stay.
create table views (
  view_id text primary key,
  organization_id text not null references organizations (organization_id),
  created_by text not null,
  name text not null,
  -- JSON text: \`ViewSearch\` of \`contract/view.ts\`.
  search text not null,
  is_shared integer not null,
  created_at bigint not null,
  updated_at bigint not null
);
create index views_of_person on views (organization_id, created_by);
create index views_shared on views (organization_id) where is_shared = 1;

-- Legal holds, which prevent deletions. Released holds are kept.
create table holds (
  hold_id text primary key,
  organization_id text not null references organizations (organization_id),
  target_kind text not null, --: HoldTarget['kind']
  -- Null if it covers everything.
  target_id text,
  reason text not null,
  placed_by text not null,
  placed_at bigint not null,
  released_by text,
  released_at bigint
);
create index holds_in_force on holds (organization_id, hold_id) where released_at is null;
create index holds_of_organization on holds (organization_id, hold_id);

-- Machines that wait some minutes for a person to confirm their sign-in. Their codes are hashed like secrets.
create table device_sign_ins (
  device_hash text primary key,
  user_hash text not null unique,
  hostname text not null,
  platform text not null, --: Platform
  cli_version text not null,
  address text not null,
  purpose text not null, --: DevicePurpose
  status text not null, --: 'pending' | 'approved' | 'denied' | 'issued'
  -- The organization of the person who decided; null before the decision.
  organization_id text references organizations (organization_id),
  decided_by text,
  plane text, --: Plane
  polled_at bigint,
  created_at bigint not null,
  expires_at bigint not null
);
create index device_sign_ins_by_end on device_sign_ins (expires_at);

-- The audit log. Each entry contains the hash of the previous entry. The head is the last entry.
create table audit_heads (
  organization_id text primary key references organizations (organization_id),
  sequence bigint not null,
  hash text not null,
  changed_at bigint not null
);
create index audit_heads_by_change on audit_heads (changed_at);

create table audit_entries (
  organization_id text not null references organizations (organization_id),
  sequence bigint not null,
  at bigint not null,
  actor_kind text not null,
  actor_id text not null,
  action text not null,
  target_kind text not null,
  target_id text not null,
  -- JSON.
  details text,
  previous text not null,
  hash text not null,
  constraint audit_entries_pkey primary key (organization_id, sequence)
);
create index audit_entries_by_action on audit_entries (organization_id, action, sequence);
create index audit_entries_by_actor on audit_entries (organization_id, actor_id, sequence);

-- The limits that replicas share, with the columns that rate-limiter-flexible expects.
create table rate_limits (
  key varchar(255) primary key,
  points integer default 0 not null,
  expire bigint
);
`,
  {
    // A crash of PostgreSQL empties the table. The counts of the current windows are lost, which cover an hour at most.
    postgres: 'alter table rate_limits set unlogged;\n',
  },
);

/** Machines, agents, sessions and their events. */
const CAPTURE = forEngines(
  ({ bytes, sessionOfAppend }) => `
create table environments (
  environment_id text primary key,
  organization_id text not null references organizations (organization_id),
  display_name text,
  hostname text not null,
  platform text not null, --: Platform
  cli_version text not null,
  status text not null, --: 'active' | 'revoked'
  repo_root text,
  repo_remote text,
  git_branch text,
  -- The last report of its command line. The texts are JSON.
  waiting_events bigint,
  states text,
  coverage text,
  gaps text,
  comparison text,
  reported_at bigint,
  -- The owner of the machine; null if it has none.
  user_id text,
  -- The person who claims a machine without an owner.
  claimed_by text,
  last_seen_at bigint not null,
  created_at bigint not null,
  updated_at bigint not null,
  constraint environments_identity unique (organization_id, hostname, platform)
);
create index environments_by_last_seen on environments (organization_id, last_seen_at);

create table installations (
  installation_id text primary key,
  organization_id text not null references organizations (organization_id),
  agent_id text not null, --: AgentId
  environment_id text references environments (environment_id),
  version text,
  -- JSON text.
  config text,
  status text not null, --: 'active' | 'disabled'
  created_at bigint not null,
  updated_at bigint not null,
  constraint installations_identity unique (environment_id, agent_id)
);
create index installations_by_organization on installations (organization_id, installation_id);

-- Removing a machine or an agent first checks that no session refers to it, so no foreign key is needed. A foreign key would
-- scan all sessions for each machine and agent, or need two more indexes.
create table sessions (
  session_id text primary key,
  organization_id text not null references organizations (organization_id),
  environment_id text not null,
  installation_id text not null,
  agent_id text not null, --: AgentId
  plane text not null, --: Plane
  status text not null, --: 'active' | 'completed' | 'failed'
  title text,
  repo_root text,
  -- The normal form of the remote at the opening: host/owner/name.
  repository text,
  git_branch text,
  started_at bigint not null,
  ended_at bigint,
  event_count integer not null,
  created_at bigint not null,
  updated_at bigint not null,
  -- The name of the session that its client chose.
  client_key text,
  -- Client keys of the sessions that this one continues and was forked from. Those sessions may arrive later.
  continues_key text,
  forked_from_key text,
  -- When the agent ended it, if the client reported that at the opening. It is the default for closing.
  client_ended_at bigint,
  -- Set from the deletion until the rows of the session are removed.
  deleted_at bigint,
  -- The secret that opened it; null in old sessions.
  secret_id text,
  -- The person of the session; null: it has none.
  user_id text,
  visibility text default 'team' not null, --: Visibility
  -- When the retention policy removed its content.
  content_expired_at bigint,
  -- How often a mask has changed it.
  masks integer default 0 not null
);
-- One index for each filter of the session list, so that the cost of a page does not depend on the number of sessions. A list
-- of both planes merges the index entries of each. The indexes end with the columns that decide who may know of a session, so
-- that a page reads no row of a hidden session.
create index sessions_by_plane on sessions
  (organization_id, plane, started_at desc, session_id desc, visibility, user_id);
create index sessions_by_environment on sessions
  (organization_id, environment_id, plane, started_at desc, session_id desc, visibility, user_id);
create index sessions_by_agent on sessions
  (organization_id, agent_id, plane, started_at desc, session_id desc, visibility, user_id);
create index sessions_by_environment_and_agent
  on sessions
  (organization_id, environment_id, agent_id, plane, started_at desc, session_id desc, visibility, user_id);
create index sessions_by_secret on sessions
  (organization_id, secret_id, plane, started_at desc, session_id desc, visibility, user_id)
  where secret_id is not null;
create index sessions_by_person_and_time on sessions
  (organization_id, user_id, plane, started_at desc, session_id desc, visibility);
-- The sessions that only their persons may know of.
create index sessions_private on sessions (organization_id, session_id, user_id) where visibility = 'private';
create index sessions_by_person on sessions (organization_id, user_id, session_id) where user_id is not null;
-- Most sessions end as completed. This index finds the others.
create index sessions_by_status on sessions (organization_id, plane, status) where status <> 'completed';
-- The open sessions of a machine, which are closed when it is revoked.
create index sessions_open on sessions (environment_id, session_id) where status = 'active';
create unique index sessions_by_client_key on sessions (organization_id, plane, client_key)
  where client_key is not null;
create index sessions_by_continues_key on sessions (organization_id, plane, continues_key)
  where continues_key is not null;
create index sessions_by_forked_from_key on sessions (organization_id, plane, forked_from_key)
  where forked_from_key is not null;

create index sessions_by_creation on sessions (created_at, session_id);
-- Sessions that may have expired, and sessions that still have their content.
create index sessions_by_age on sessions (organization_id, created_at, session_id);
create index sessions_with_content on sessions (organization_id, created_at, session_id)
  where content_expired_at is null and deleted_at is null;
-- Only the beginning of the folder is indexed, because PostgreSQL indexes at most 2,704 bytes of a row, and a folder may have
-- 16,384 bytes.
create index sessions_by_folder on sessions (environment_id, substr(repo_root, 1, 300), repository)
  where repository is not null;

-- The removal of a session, or of its content alone, and its receipt. The row of a deleted session prevents that it is captured
-- again. If a session is deleted whose content is removed, its row continues as that of the deletion.
create table removals (
  session_id text primary key,
  organization_id text not null references organizations (organization_id),
  -- session or content
  what text not null, --: 'session' | 'content'
  plane text not null, --: Plane
  -- The machine that captured it.
  environment_id text not null,
  -- Only of a deleted session.
  client_key text,
  -- From then on nobody sees it.
  requested_at bigint not null,
  -- When the last of it was removed.
  finished_at bigint,
  event_count integer not null,
  -- When the last event of the session arrived, if it or its content expired; otherwise null.
  last_event_at bigint,
  -- Who deleted it; null if it expired or was deleted together with its organization.
  by_kind text, --: AuditParty['kind']
  by_id text,
  -- Only of content: the retention period of the rule, and the target of the rule: organization, plane or repository; null for
  -- the rule of the operator.
  days integer,
  target_kind text, --: RetentionTarget['kind']
  target_id text,
  -- Only of content: the derived rows of the session, which can no longer be derived: compressed JSON in base64.
  kept text,
  -- How much is removed so far, and the digest of that.
  removed_events bigint default 0 not null,
  removed_appends bigint default 0 not null,
  removed_bytes bigint default 0 not null,
  -- The digest of the removed appends: see \`nextDigest\`.
  digest text
);
create index removals_by_organization on removals (organization_id);
create index removals_by_client_key on removals (organization_id, plane, client_key);
create index removals_unfinished on removals (session_id) where finished_at is null;

-- How many uncompressed bytes of events a session has. Written every few seconds.
create table stored_bytes (
  session_id text primary key,
  organization_id text not null,
  bytes bigint not null
);
create index stored_bytes_by_organization on stored_bytes (organization_id, bytes);

-- How many bytes of events an organization sent on a day.
create table stored_days (
  organization_id text not null,
  -- YYYY-MM-DD, UTC.
  day text not null,
  bytes bigint not null,
  constraint stored_days_pkey primary key (organization_id, day)
);

-- One row for each batch of events: the events as they were sent, compressed.
create table appends (
  session_id text not null ${sessionOfAppend},
  first_sequence integer not null,
  last_sequence integer not null,
  organization_id text not null,
  -- The UUID in the ids of its events.
  append_id text not null,
  created_at bigint not null,
  idempotency_key text,
  -- SHA-256 of the request body, in hexadecimal; null without an idempotency key.
  fingerprint text,
  -- The secret that sent it; null for the secret that opened the session.
  other_secret_id text,
  -- How \`body\` is encoded: see \`log/frame.ts\`.
  codec integer not null,
  body ${bytes} not null,
  constraint appends_sequence primary key (session_id, first_sequence)
);
create unique index appends_by_key on appends (session_id, idempotency_key) where idempotency_key is not null;
-- The appends of other secrets, which are rare.
create index appends_by_other_secret on appends (session_id, other_secret_id) where other_secret_id is not null;
`,
  {
    postgres: `
-- Bodies are compressed already. Compressing them again would cost time at each append and save nothing.
alter table appends alter column body set storage external;
-- Each append updates counters that no index contains. With free space on the page the row stays there (HOT update).
alter table sessions set (fillfactor = 70);
`,
  },
);

/** The rows of the tenant tables that a request can access. */
const ROW_SECURITY = forEngines(() => '', {
  postgres: TENANT_TABLES.map(rowSecurity).join('') + viewerSecurity(),
});

/**
 * A role that does not own the tables sees only the rows of the organization that it has set, and no rows if it has set none. A
 * machine that waits for its sign-in belongs to no organization until a member decides.
 */
function rowSecurity(table: (typeof TENANT_TABLES)[number]): string {
  const own = "organization_id = current_setting('app.organization', true)";
  const visible = table === 'device_sign_ins' ? `organization_id is null or ${own}` : own;
  return `
alter table ${table} enable row level security;
create policy own_organization on ${table} using (${visible}) with check (${own});
`;
}
