import { forEngines } from './engines.ts';

/** What was removed of sessions by policy, who looked at them, what was masked in them, how far they are signed, and shares. */
export const GOVERNANCE = forEngines(
  () => `
-- What the retention policy removed of sessions that are there: their words. The columns of what was removed are those of
-- deleted_sessions.
create table expired_contents (
  session_id text primary key,
  organization_id text not null references organizations (organization_id),
  expired_at bigint not null,
  -- When the last of the words was gone.
  swept_at bigint,
  last_event_at bigint not null,
  event_count integer not null,
  days integer not null,
  -- Of the rule: organization, plane or repository; null where it is the operator's.
  target_kind text,
  target_id text,
  is_noted integer default 0 not null,
  removed_events bigint default 0 not null,
  removed_appends bigint default 0 not null,
  removed_bytes bigint default 0 not null,
  digest text,
  -- The derived rows of the session, which nobody can derive again: JSON, compressed, in base64.
  kept text not null
);
create index expired_contents_by_organization on expired_contents (organization_id);
create index expired_contents_unswept on expired_contents (session_id) where swept_at is null;
create index expired_contents_unnoted on expired_contents (organization_id) where is_noted = 0;

-- Who looked at a session: a row for each person, kind of look and hour.
create table session_views (
  session_id text not null,
  organization_id text not null,
  user_id text not null,
  -- opened, found or exported
  kind text not null,
  hour bigint not null,
  first_at bigint not null,
  last_at bigint not null,
  count integer not null,
  -- Of the last look.
  surface text not null,
  network text not null,
  constraint session_views_pkey primary key (session_id, kind, hour, user_id)
);
create index session_views_by_organization on session_views (organization_id, session_id);

-- Texts that somebody had masked in a session: receipts. The text itself is here while it is being masked, encrypted.
create table masks (
  mask_id text primary key,
  organization_id text not null,
  session_id text not null,
  mark text not null,
  sealed text,
  masked_by text not null,
  requested_at bigint not null,
  -- Events that the session had then, those included that were on their way into the store.
  accepted_events integer not null,
  finished_at bigint,
  -- Null while it runs; then done, held, cancelled or failed.
  outcome text,
  events integer default 0 not null,
  places integer default 0 not null,
  fields integer default 0 not null
);
create index masks_of_session on masks (session_id, mask_id);
create index masks_by_organization on masks (organization_id, mask_id);

-- Texts that an admin had masked, or counted, in all sessions. The text itself is here while that runs, encrypted.
create table mask_runs (
  run_id text primary key,
  organization_id text not null,
  sealed text,
  is_dry integer not null,
  requested_by text not null,
  requested_at bigint not null,
  finished_at bigint,
  -- Null while it runs; then done, stopped, cancelled or failed.
  outcome text,
  sessions integer default 0 not null,
  found integer default 0 not null,
  held integer default 0 not null,
  events integer default 0 not null,
  places integer default 0 not null,
  fields integer default 0 not null
);
create index mask_runs_by_organization on mask_runs (organization_id, run_id);

-- Long work that a process goes on with where another one was stopped. Its row goes when it ends.
create table jobs (
  -- Of what it works on, such as a mask.
  job_id text primary key,
  organization_id text not null,
  kind text not null,
  -- Where it goes on.
  progress text default '' not null,
  -- Nobody takes it before: a process has it, or it waits after an error.
  not_before bigint default 0 not null,
  -- Of the process that took it last; only that one goes on.
  lease text,
  -- How often it was taken since it got further.
  attempts integer default 0 not null
);
create index jobs_by_organization on jobs (organization_id, job_id);
create index jobs_waiting on jobs (not_before, job_id);

-- Events that were masked after they were stored, with the digest of what was accepted.
create table event_masks (
  session_id text not null,
  sequence integer not null,
  organization_id text not null,
  digest text not null,
  places integer not null,
  masked_by text not null,
  masked_at bigint not null,
  constraint event_masks_pkey primary key (session_id, sequence)
);
create index event_masks_by_organization on event_masks (organization_id, session_id);

-- The head of a session's chain as it was last signed. It may lag behind the events for a moment, and is made from them.
create table session_chains (
  session_id text primary key,
  organization_id text not null,
  sequence integer not null,
  hash text not null,
  -- The first one that the machine has named.
  machine_key text,
  -- JSON of the signed statement.
  envelope text not null,
  signed_at bigint not null
);
create index session_chains_by_organization on session_chains (organization_id, session_id);

-- Sessions that are shown to others by a token.
create table shares (
  share_id text primary key,
  organization_id text not null,
  session_id text not null,
  -- The token is kept by nobody but who was given it.
  token_hash text not null,
  shared_by text not null,
  -- person, organization or link
  audience text not null,
  recipient_id text,
  -- full, outline or figures
  level text not null,
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
