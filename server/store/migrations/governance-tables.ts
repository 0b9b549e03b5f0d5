import { forEngines } from './engines.ts';

/** Looks at sessions, masks, jobs, signed chains and shares. */
export const GOVERNANCE = forEngines(
  () => `
-- Looks at sessions: one row for each person, kind of look and hour.
create table session_views (
  session_id text not null,
  organization_id text not null,
  user_id text not null,
  -- opened, found or exported
  kind text not null, --: Look
  -- The start of the hour.
  hour bigint not null, --: Time
  first_at bigint not null,
  last_at bigint not null,
  count integer not null,
  -- The surface of the last look.
  surface text not null, --: Surface
  network text not null,
  constraint session_views_pkey primary key (session_id, kind, hour, user_id)
);
create index session_views_by_organization on session_views (organization_id, session_id);

-- Requests to mask or count a text, which serve as receipts. A row contains the encrypted text only while the mask runs.
create table masks (
  mask_id text primary key,
  organization_id text not null,
  -- Null: all sessions that the requester may read.
  session_id text,
  -- The mark that replaces the text; null for all sessions, because each session has a mark of its own.
  mark text,
  -- The encrypted text, or \`TODAYS_RULES\`; null once the mask has ended.
  sealed text,
  -- 1: it only counts, and changes nothing.
  is_dry integer not null,
  requested_by text not null,
  requested_at bigint not null,
  -- How many acknowledged events the session had at the request, including those that were not in the store yet.
  accepted_events integer not null,
  finished_at bigint,
  -- Null while the mask runs; then done, cancelled or failed; of a session also held; of all sessions also stopped.
  outcome text, --: MaskOutcome | RunOutcome
  -- In how many events the text was found.
  events integer default 0 not null,
  -- In how many places of these events.
  places integer default 0 not null,
  -- In how many places of the sessions' own fields, such as a title.
  fields integer default 0 not null,
  -- Of all sessions: how many were read.
  sessions integer default 0 not null,
  -- How many of these contained the text.
  found integer default 0 not null,
  -- How many sessions a hold protects.
  held integer default 0 not null,
  -- How many sessions were left out because their events are damaged.
  damaged integer default 0 not null
);
create index masks_of_session on masks (session_id, mask_id);
create index masks_by_organization on masks (organization_id, mask_id);
create index masks_of_all_sessions on masks (organization_id, mask_id) where session_id is null;
-- A session waits for at most one mask by the rules: the value stands for them instead of an encrypted text.
create unique index masks_by_rules on masks (session_id) where sealed = 'rules';

-- Long jobs. If a process stops, another one continues its jobs. A job's row is deleted when the job ends.
create table jobs (
  -- The id of the object that it works on, such as a mask.
  job_id text primary key,
  organization_id text not null,
  kind text not null,
  -- Where it continues.
  progress text default '' not null,
  -- No process may take the job before this time: a process is working on it, or it waits after an error.
  not_before bigint default 0 not null, --: Time
  -- The lease of the process that took the job last. Only that process may continue.
  lease text,
  -- How often it was taken since it last made progress, without the attempts of processes that closed.
  attempts integer default 0 not null
);
create index jobs_by_organization on jobs (organization_id, job_id);
create index jobs_waiting on jobs (not_before, job_id);

-- The keys of the salts of a session's events, as JSON. The keys of masked events were removed with their texts.
create table session_salts (
  session_id text primary key,
  organization_id text not null,
  -- JSON of \`SaltKeys\`.
  salt_keys text not null
);
create index session_salts_by_organization on session_salts (organization_id, session_id);

-- Events that were masked after they were stored, with the digest of the original event. Its salt was removed.
create table event_masks (
  session_id text not null,
  sequence integer not null,
  organization_id text not null,
  -- The digest of the original event: \`eventDigest\`. Its salt was removed.
  digest text not null,
  places integer not null,
  masked_by text not null,
  masked_at bigint not null,
  constraint event_masks_pkey primary key (session_id, sequence)
);
create index event_masks_by_organization on event_masks (organization_id, session_id);

-- The last signed head of a session's chain. It is computed from the events, and may lag behind them for a moment.
create table session_chains (
  session_id text primary key,
  organization_id text not null,
  sequence integer not null,
  hash text not null,
  -- The first key that the machine has sent.
  machine_key text,
  -- JSON of the signed statement.
  envelope text not null,
  signed_at bigint not null
);
create index session_chains_by_organization on session_chains (organization_id, session_id);

-- Sessions that others can read with a token.
create table shares (
  share_id text primary key,
  organization_id text not null,
  session_id text not null,
  -- The hash of the token. The service does not keep the token itself.
  token_hash text not null,
  shared_by text not null,
  -- person, organization or link
  audience text not null, --: ShareAudience
  -- The member who may read it; null unless the audience is a person.
  recipient_id text,
  -- full, outline or figures
  level text not null, --: ShareLevel
  -- Null: from the start. \`to_sequence\` null: to the end.
  from_sequence integer,
  to_sequence integer,
  created_at bigint not null,
  expires_at bigint not null,
  revoked_at bigint,
  views integer default 0 not null,
  last_viewed_at bigint
);
create unique index shares_by_token on shares (token_hash);
create index shares_by_session on shares (organization_id, session_id, share_id);
`,
);
