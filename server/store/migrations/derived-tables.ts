import { forEngines } from './engines.ts';

/** Tables with rows that are derived from events. They may be emptied at any time; the service then derives the rows again. */
export const DERIVED = forEngines(
  ({ clustered }) => `
create table session_facts (
  session_id text primary key,
  organization_id text not null,
  plane text not null,
  started_at bigint not null,
  version integer not null,
  derived_through integer not null,
  next_chunk integer not null,
  claimed_until bigint default 0 not null,
  -- How often a mask had changed the session when its events were read for this row.
  masks integer not null,
  is_rewritten integer not null,
  is_final integer not null,
  event_count integer not null,
  prompts integer not null,
  tool_calls integer not null,
  failures integer not null,
  redactions integer not null,
  files_changed integer not null,
  lines_added integer not null,
  lines_removed integer not null,
  input_tokens bigint not null,
  cached_tokens bigint not null,
  output_tokens bigint not null,
  duration_ms bigint not null,
  lines_changed integer not null,
  tokens bigint not null,
  cost double precision,
  first_event_at bigint,
  last_event_at bigint,
  lag_ms bigint,
  interrupted integer not null,
  summary text not null,
  facts text not null
);
-- One index for each order of the list.
create index session_facts_by_started_at on session_facts (organization_id, plane, started_at desc, session_id desc);
create index session_facts_by_duration_ms on session_facts (organization_id, plane, duration_ms desc, session_id desc);
create index session_facts_by_event_count on session_facts (organization_id, plane, event_count desc, session_id desc);
create index session_facts_by_failures on session_facts (organization_id, plane, failures desc, session_id desc);
create index session_facts_by_lines_changed on session_facts (organization_id, plane, lines_changed desc, session_id desc);
create index session_facts_by_tokens on session_facts (organization_id, plane, tokens desc, session_id desc);
create index session_facts_by_redactions on session_facts (organization_id, plane, redactions desc, session_id desc);
-- A session without a known price sorts as if it cost nothing, because the order needs a value.
create index session_facts_by_cost on session_facts (organization_id, plane, coalesce(cost, 0) desc, session_id desc);
create index session_facts_by_last_event on session_facts (organization_id, plane, last_event_at desc);
-- Sessions that may still receive events. The service scans these for events that are not derived yet.
create index session_facts_open on session_facts (session_id) where is_final = 0;
create index session_facts_interrupted on session_facts (organization_id, plane, started_at desc) where interrupted = 1;

-- The figures of one session on one day: one row for the day itself, and one for each model, tool and hour. The rows of a
-- session are replaced together.
create table session_days (
  session_id text not null,
  organization_id text not null,
  plane text not null,
  day text not null,
  kind text not null,
  name text not null,
  agent_id text,
  environment_id text,
  repository text,
  sessions integer not null,
  prompts integer not null,
  tool_calls integer not null,
  failures integer not null,
  input_tokens bigint not null,
  cached_tokens bigint not null,
  cache_write_tokens bigint not null,
  output_tokens bigint not null,
  unpriced_tokens bigint not null,
  cost double precision not null,
  constraint session_days_pkey primary key (session_id, day, kind, name)
);
create index session_days_by_day on session_days (organization_id, plane, day, kind);

-- How a session used an MCP server, a skill, a plugin or a type of sub-agents on a day. The tokens of sub-agents are in
-- separate rows for each model. The rows of a session are replaced together.
create table session_add_ons (
  session_id text not null,
  organization_id text not null,
  plane text not null,
  day text not null,
  kind text not null,
  name text not null,
  model text not null,
  agent_id text not null,
  calls integer not null,
  failures integer not null,
  last_used_at bigint not null,
  is_listed integer not null,
  input_tokens bigint not null,
  cached_tokens bigint not null,
  cache_write_tokens bigint not null,
  output_tokens bigint not null,
  unpriced_tokens bigint not null,
  cost double precision not null,
  constraint session_add_ons_pkey primary key (session_id, day, kind, name, model)
);
create index session_add_ons_by_day on session_add_ons (organization_id, plane, day, kind);

-- How often the rows of a day changed, and which of these changes its sums include.
create table summed_days (
  organization_id text not null,
  plane text not null,
  day text not null,
  changes bigint not null,
  summed bigint not null,
  constraint summed_days_pkey primary key (organization_id, plane, day)
);
create index summed_days_behind on summed_days (organization_id, plane, day) where summed < changes;

-- The sums of a day over all sessions, for each value of each dimension. An overview reads these, so its cost does not
-- depend on the number of sessions. The sums of a day are replaced together. The key keeps the days of a value next to each
-- other, so that SQLite sums the values of a year without sorting: 255,000 rows in 30 instead of 75 ms.
create table usage_days (
  organization_id text not null,
  plane text not null,
  dimension text not null,
  day text not null,
  value text not null,
  week text not null,
  sessions integer not null,
  prompts integer not null,
  tool_calls integer not null,
  failures integer not null,
  input_tokens bigint not null,
  cached_tokens bigint not null,
  output_tokens bigint not null,
  unpriced_tokens bigint not null,
  cost double precision not null,
  constraint usage_days_pkey primary key (organization_id, plane, dimension, value, day)
)${clustered};
create index usage_days_by_day on usage_days (organization_id, plane, day);
`,
  {
    sqlite: `
-- Values that sessions are found by, such as \`file:\` and \`tool:\`; \`name\` is the value in lower case.
create table session_values (
  session_id text not null,
  organization_id text not null,
  field text not null,
  name text not null,
  value text not null,
  constraint session_values_pkey primary key (session_id, field, value)
);
create index session_values_by_name on session_values (organization_id, field, name, session_id);

-- Consecutive events of a session: the entries the timeline shows, and which words they may have. Chunks share a row of the index:
-- \`index_row\` is the id of the row's first chunk, and null for this chunk itself.
create table session_chunks (
  chunk_id integer primary key autoincrement,
  session_id text not null,
  organization_id text not null,
  first_sequence integer not null,
  last_sequence integer not null,
  index_row integer,
  signature blob not null,
  entries blob not null,
  words blob,
  constraint session_chunks_by_session unique (session_id, first_sequence)
);
-- Finds the session of a chunk without reading the row, which needs several pages: 20,000 chunks in 14 instead of 30 ms.
create index session_chunks_by_id on session_chunks (chunk_id, organization_id, session_id);

-- The index contains only which words are in which row. The words that a chunk brought to its row are stored compressed in
-- session_chunks, because removing them from the index needs them. A contentless index that deletes rows by itself would leave the words of a deleted
-- session in its file. The words arrive already split: the tokenizer splits at blanks and keeps all characters beyond ASCII.
create virtual table chunk_words using fts5(words, content='', columnsize=0, detail=none, tokenize='ascii');
insert into chunk_words (chunk_words, rank) values ('secure-delete', 1);
-- Segments are merged between writes (\`word-merger.ts\`). A write merges segments only if these merges have fallen behind.
insert into chunk_words (chunk_words, rank) values ('automerge', 0), ('usermerge', 8), ('crisismerge', 64);
`,
    postgres: `
-- Values that sessions are found by, such as \`file:\` and \`tool:\`; \`name\` is the value in lower case. Prefixes are
-- looked up, and only in byte order is a prefix a range of the index.
create table session_values (
  session_id text not null,
  organization_id text not null,
  field text not null,
  name text collate "C" not null,
  value text not null,
  constraint session_values_pkey primary key (session_id, field, value)
);
create index session_values_by_name on session_values (organization_id, field, name, session_id);

-- Consecutive events of a session: the entries the timeline shows, and which words they may have. Chunks share a row of the index:
-- \`index_row\` is the id of the row's first chunk, which has the words, and null for this chunk itself.
create table session_chunks (
  chunk_id bigint generated always as identity primary key,
  session_id text not null,
  organization_id text not null,
  first_sequence integer not null,
  last_sequence integer not null,
  index_row bigint,
  signature bytea not null,
  entries bytea not null,
  words tsvector,
  constraint session_chunks_by_session unique (session_id, first_sequence)
);
create index session_chunks_by_words on session_chunks using gin (words);
`,
  },
);
