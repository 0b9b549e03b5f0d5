import { forEngines } from './engines.ts';

/** What was removed of sessions by policy, and who looked at them. */
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
`,
);
