import { forEngines } from './engines.ts';

/** Tables with rows that are derived from events. They may be emptied at any time; the service then derives the rows again. */
export const DERIVED = forEngines(
  ({ bytes, clustered, counted, inByteOrder, words }) => `
-- The facts of a session, and the figures by which lists are sorted. The defaults are the row of a session of which nothing is
-- derived yet.
create table session_facts (
  session_id text primary key,
  organization_id text not null,
  plane text not null, --: Plane
  started_at bigint not null,
  -- The version of the rules that derived it. Data of another version is derived again.
  version integer default 0 not null,
  -- The last event that this row and the other derived tables contain.
  derived_through integer default 0 not null,
  -- The first event of the next chunk. The last chunk is derived again as long as it has room.
  next_chunk integer default 1 not null,
  -- Until when one process has the exclusive right to derive it.
  claimed_until bigint default 0 not null, --: Time
  -- How often a mask had changed the session when its events were read for this row.
  masks integer not null,
  -- Whether its agent revises records. Then its facts are made from all entries.
  is_rewritten integer default 0 not null,
  -- Whether the session is closed and derived up to its last event.
  is_final integer default 0 not null,
  event_count integer default 0 not null,
  prompts integer default 0 not null,
  tool_calls integer default 0 not null,
  failures integer default 0 not null,
  redactions integer default 0 not null,
  files_changed integer default 0 not null,
  lines_added integer default 0 not null,
  lines_removed integer default 0 not null,
  input_tokens bigint default 0 not null,
  cached_tokens bigint default 0 not null,
  output_tokens bigint default 0 not null,
  -- The time from its first event to its last.
  duration_ms bigint default 0 not null,
  lines_changed integer default 0 not null,
  tokens bigint default 0 not null,
  -- Whole nanodollars, by the prices of the version; null if no price is known.
  cost double precision,
  first_event_at bigint,
  last_event_at bigint,
  -- The delay between the last event and its storage.
  lag_ms bigint,
  interrupted integer default 0 not null,
  -- JSON text with the content of lists, at most 4 KiB.
  summary text default '{}' not null,
  -- Compressed JSON; null if this version has derived nothing yet.
  facts ${bytes}
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

-- The figures of one session on one day: one row for the day itself, and one for each model, tool, hour and add-on. An add-on is
-- an MCP server, a skill, a plugin or a type of sub-agents, which the session used or listed. The rows of a session are replaced
-- together.
create table session_days (
  session_id text not null,
  organization_id text not null,
  plane text not null, --: Plane
  -- YYYY-MM-DD, UTC.
  day text not null,
  -- The day itself or a part of it.
  kind text not null, --: 'session' | 'model' | 'tool' | 'hour' | AddOnKind
  -- The name of the model, tool or add-on, or the hour of the week; empty for the day itself.
  name text not null,
  -- Set in the rows of the day itself and of add-ons.
  agent_id text,
  -- Set in the row of the day itself, like the repository.
  environment_id text,
  repository text,
  -- 1 on the day a session began, else 0.
  sessions integer not null,
  prompts integer not null,
  tool_calls integer not null,
  failures integer not null,
  -- Includes cached tokens.
  input_tokens bigint not null,
  cached_tokens bigint not null,
  cache_write_tokens bigint not null,
  output_tokens bigint not null,
  -- Input and output of models without a known price.
  unpriced_tokens bigint not null,
  -- Whole nanodollars for all other tokens. Sums of them are exact, in any order.
  cost double precision not null,
  -- The time of the last call of an add-on, 0 if it was not called; null in the other rows.
  last_used_at bigint,
  -- Whether the session listed the add-on.
  is_listed integer not null,
  constraint session_days_pkey primary key (session_id, day, kind, name)
);
create index session_days_by_day on session_days (organization_id, plane, day, kind);
create index session_days_of_add_ons on session_days (organization_id, plane, day, kind) where last_used_at is not null;

-- How often the rows of a day changed, and which of these changes its sums include.
create table summed_days (
  organization_id text not null,
  plane text not null, --: Plane
  day text not null,
  changes bigint not null,
  -- The value of \`changes\` when the sums were last computed.
  summed bigint not null,
  constraint summed_days_pkey primary key (organization_id, plane, day)
);
create index summed_days_behind on summed_days (organization_id, plane, day) where summed < changes;

-- The sums of a day over all sessions, for each value of each dimension. An overview reads these, so its cost does not
-- depend on the number of sessions. The sums of a day are replaced together. The key keeps the days of a value next to each
-- other, so that SQLite sums the values of a year without sorting: 255,000 rows in 30 instead of 75 ms.
create table usage_days (
  organization_id text not null,
  plane text not null, --: Plane
  dimension text not null, --: 'total' | 'agent' | 'environment' | 'repository' | 'person' | 'model' | 'tool' | 'hour'
  day text not null,
  -- Empty for the total.
  value text not null,
  -- The Monday on or before the day.
  week text not null,
  -- 1 on the day a session began, else 0.
  sessions integer not null,
  prompts integer not null,
  tool_calls integer not null,
  failures integer not null,
  -- Includes cached tokens.
  input_tokens bigint not null,
  cached_tokens bigint not null,
  output_tokens bigint not null,
  -- Input and output of models without a known price.
  unpriced_tokens bigint not null,
  -- Whole nanodollars for all other tokens. Sums of them are exact, in any order.
  cost double precision not null,
  constraint usage_days_pkey primary key (organization_id, plane, dimension, value, day)
)${clustered};
-- The overview of a few days reads only these rows of it.
create index usage_days_by_day on usage_days
  (organization_id, plane, dimension, day, value, sessions, tool_calls, failures, input_tokens, output_tokens);

-- Values that sessions are found by, such as \`file:\` and \`tool:\`. Prefixes are looked up, and only in byte order is a prefix
-- a range of the index.
create table session_values (
  session_id text not null,
  organization_id text not null,
  field text not null, --: ValueField
  -- The text for the search, in lower case; for a path or an address, its last name.
  name text${inByteOrder} not null,
  -- The whole path or address; empty for other values, so that no text is stored twice.
  path text not null,
  constraint session_values_pkey primary key (session_id, field, name, path)
)${clustered};
create index session_values_by_name on session_values (organization_id, field, name, session_id);

-- Consecutive events of a session: the entries the timeline shows, and which words they may have. Chunks share a row of the index:
-- \`index_row\` is the id of the row's first chunk, and null for this chunk itself.
create table session_chunks (
  chunk_id ${counted},
  session_id text not null,
  organization_id text not null,
  first_sequence integer not null,
  last_sequence integer not null,
  index_row bigint,
  -- Which words it may have: \`store/signature.ts\`.
  signature ${bytes} not null,
  -- Compressed JSON: \`transcript/entry/entry.ts\`.
  entries ${bytes} not null,
  -- On PostgreSQL the words of the whole row, at its first chunk, which are indexed here. On SQLite, which indexes them elsewhere, the words that
  -- the chunk brought to its row, separated by spaces and compressed.
  words ${words}, --: Uint8Array | string
  constraint session_chunks_by_session unique (session_id, first_sequence)
);
`,
  {
    sqlite: `
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
create index session_chunks_by_words on session_chunks using gin (words);
-- Keeps the signature in the row. A search would have to fetch it elsewhere for each chunk.
alter table session_chunks set (toast_tuple_target = 4080);
`,
  },
);
