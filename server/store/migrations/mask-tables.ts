import { forEngines } from './engines.ts';

/** What was masked in sessions after it was stored. */
export const MASKS = forEngines(
  () => `
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
  -- Null while it runs; then done, or held.
  outcome text,
  events integer default 0 not null,
  places integer default 0 not null,
  fields integer default 0 not null,
  claimed_until bigint default 0 not null
);
create index masks_of_session on masks (session_id, mask_id);
create index masks_by_organization on masks (organization_id, mask_id);
create index masks_running on masks (mask_id) where finished_at is null;

-- Texts that an admin had masked, or counted, in all sessions. The text itself is here while that runs, encrypted.
create table mask_runs (
  run_id text primary key,
  organization_id text not null,
  sealed text,
  is_dry integer not null,
  requested_by text not null,
  requested_at bigint not null,
  finished_at bigint,
  -- Null while it runs; then done, or stopped.
  outcome text,
  -- The last session that was read.
  last_session text default '' not null,
  sessions integer default 0 not null,
  found integer default 0 not null,
  held integer default 0 not null,
  events integer default 0 not null,
  places integer default 0 not null,
  fields integer default 0 not null,
  claimed_until bigint default 0 not null
);
create index mask_runs_by_organization on mask_runs (organization_id, run_id);
create index mask_runs_running on mask_runs (run_id) where finished_at is null;

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
`,
);
