import { forEngines } from './engines.ts';

/** How far the service has sessions, under its signature. */
export const EVIDENCE = forEngines(
  () => `
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
`,
);
