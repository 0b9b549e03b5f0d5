import { forEngines } from './engines.ts';

/** Sessions that are shown to others by a token. */
export const SHARES = forEngines(
  () => `
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
