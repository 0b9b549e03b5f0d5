import { CHAINS } from './chains.ts';
import { FORMS } from './forms.ts';

/** Increases when the tables change. */
export const SPOOL_VERSION = 1;

/** Sessions of this spool that stay on this machine by a decision. */
export const KEPT_BACK = `
  CREATE TEMP VIEW kept_back AS SELECT sessions.id AS session, verdicts.verdict
    FROM decided.verdicts JOIN spool.sessions ON sessions.agent = verdicts.agent AND agent_session = verdicts.session
    WHERE verdicts.verdict <> 'wanted'`;

/**
 * Sessions that a person has kept back, with the forks that this covered, of which something is left that had to be thrown away.
 * A fork that was found later has another time, and keeps its waiting events.
 */
export const REST_OF_KEPT_BACK = `
  SELECT sessions.id AS session, kept.verdict FROM decided.verdicts AS kept
    JOIN spool.sessions ON sessions.agent = kept.agent AND agent_session = kept.session
  WHERE kept.verdict IN ('skipped', 'deleted')
    AND ((sent = 0 AND coalesce(title, prompt) IS NOT NULL)
      OR EXISTS (SELECT 1 FROM spool.batches WHERE batches.session = sessions.id)
      OR (kept.verdict = 'deleted' AND (state <> 'closed' OR service_id IS NOT NULL
        OR EXISTS (SELECT 1 FROM spool.refused WHERE refused.session = sessions.id))))
    AND (kept.by_person OR EXISTS (SELECT 1 FROM decided.verdicts AS said
      WHERE said.agent = kept.agent AND said.verdict IN ('skipped', 'deleted') AND said.by_person
        AND said.decided_at = kept.decided_at))`;

/**
 * Gives a verdict to every session of the spool without one, so that rules and `skip` find it although its transcript is at
 * rest. Without a known beginning, a session counts as earlier until its transcript is read again.
 */
export const MEET_AGAIN = `
  INSERT INTO decided.verdicts (agent, session, verdict, decided_at, by_person, folder, facts)
  SELECT agent, agent_session, 'wanted', ?, 0, coalesce((SELECT origin ->> 'cwd' FROM files
    WHERE session = sessions.id AND origin ->> 'subagent' IS NULL ORDER BY id LIMIT 1), cwd), '[]'
  FROM spool.sessions WHERE true ON CONFLICT DO NOTHING`;

/** Adds the forks among those sessions. */
export const MEET_FORKS_AGAIN = `
  INSERT INTO decided.forks (agent, parent, session)
  SELECT agent, forked_from, agent_session FROM spool.sessions WHERE forked_from IS NOT NULL
  UNION SELECT sessions.agent, origin ->> 'forkedFrom', agent_session
    FROM spool.files JOIN spool.sessions ON sessions.id = files.session
    WHERE origin ->> 'forkedFrom' IS NOT NULL AND origin ->> 'subagent' IS NULL
  ON CONFLICT DO NOTHING`;

/** The tables of an empty spool. */
export const SCHEMA = `
  CREATE TABLE spool.meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

  -- A run of an agent. service_id is the service's session that its next events go to.
  CREATE TABLE spool.sessions (
    id INTEGER PRIMARY KEY,
    agent TEXT NOT NULL,
    agent_session TEXT NOT NULL,
    agent_version TEXT,
    state TEXT NOT NULL DEFAULT 'new' CHECK (state IN ('new', 'open', 'closed')),
    service_id TEXT,
    title TEXT,
    prompt TEXT,
    cwd TEXT,
    branch TEXT,
    first_at INTEGER,
    last_at INTEGER,
    -- Whether every file of it was read to its end. Only then may the session be completed.
    settled INTEGER NOT NULL DEFAULT 0,
    sent INTEGER NOT NULL DEFAULT 0,
    -- How many of the service's sessions were completed before the one that its next events go to.
    generation INTEGER NOT NULL DEFAULT 0,
    -- The agent's own id of the session that it was forked from.
    forked_from TEXT,
    -- Its last sign of life on this machine: when a file of it was written to.
    changed_at INTEGER,
    -- Whether its agent has said that it is over.
    ended INTEGER NOT NULL DEFAULT 0,
    -- Whether the service had some of it before this spool sent anything: then each event is looked for there first.
    sent_elsewhere INTEGER NOT NULL DEFAULT 0,
    -- How many events the service's session had, by its last answer. More later are of another machine.
    service_events INTEGER,
    -- From which generation on the session has keys of this machine, because somebody else captures it, too.
    own_from INTEGER,
    -- Whether the session is deferred, why, and until when.
    sending TEXT NOT NULL DEFAULT 'waiting' CHECK (sending IN ('waiting', 'deferred', 'refused')),
    deferred_why TEXT,
    deferred_until INTEGER,
    -- How often opening it failed.
    reopenings INTEGER NOT NULL DEFAULT 0,
    -- The time, in milliseconds since 1970, up to which its records have expired at the service and are not sent again.
    expired_until INTEGER,
    UNIQUE (agent, agent_session)
  );
  CREATE INDEX spool.sessions_open ON sessions (last_at) WHERE state = 'open';

  -- Every session of the service that events of a session went to, in the order in which they were opened.
  CREATE TABLE spool.opened (
    id INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES sessions (id),
    service_id TEXT NOT NULL UNIQUE,
    -- Who may see it according to the service's last answer, and who was to see it when it was opened.
    visibility TEXT,
    wanted TEXT
  );
  CREATE INDEX spool.opened_session ON opened (session);

  -- A transcript file and how far it was read. head and tail are hashes of its first and last bytes before the offset.
  CREATE TABLE spool.files (
    id INTEGER PRIMARY KEY,
    agent TEXT NOT NULL,
    root TEXT NOT NULL,
    path TEXT NOT NULL,
    session INTEGER NOT NULL REFERENCES sessions (id),
    origin TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    last_time INTEGER NOT NULL,
    offset INTEGER NOT NULL,
    head_length INTEGER NOT NULL,
    head BLOB NOT NULL,
    tail BLOB NOT NULL,
    -- Counted up whenever the file is read again from its start.
    pass INTEGER NOT NULL DEFAULT 0,
    -- Records from before this time, in milliseconds since 1970, were left out when the file was read.
    left_before INTEGER,
    -- Whether any of its records were captured.
    captured INTEGER NOT NULL,
    UNIQUE (agent, root, path)
  );
  CREATE INDEX spool.files_session ON files (session);

  -- Records that have a key of their own, by its hash.
  CREATE TABLE spool.records (key BLOB PRIMARY KEY, session INTEGER NOT NULL) WITHOUT ROWID;

  -- Records without one, by the hash of their text: how often the file's captured events contain it, and how often it was
  -- met in the given pass.
  CREATE TABLE spool.lines (
    file INTEGER NOT NULL,
    hash BLOB NOT NULL,
    captured INTEGER NOT NULL,
    pass INTEGER NOT NULL,
    met INTEGER NOT NULL,
    PRIMARY KEY (file, hash)
  ) WITHOUT ROWID;

  -- Sealed: neither the key nor the bytes change from here on.
  CREATE TABLE spool.batches (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session INTEGER NOT NULL REFERENCES sessions (id),
    key TEXT NOT NULL,
    events INTEGER NOT NULL,
    made_at INTEGER NOT NULL,
    size INTEGER NOT NULL,
    body BLOB NOT NULL,
    -- For receipts: see event-digests.ts.
    digests BLOB NOT NULL,
    marks TEXT NOT NULL,
    checksum INTEGER NOT NULL
  );
  CREATE INDEX spool.batches_session ON batches (session, id, size);

  -- Events the service refused. Kept, so that nothing is lost without a trace.
  CREATE TABLE spool.refused (
    id INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    event TEXT NOT NULL,
    problem TEXT NOT NULL,
    refused_at INTEGER NOT NULL
  );
  CREATE INDEX spool.refused_session ON refused (session);

  CREATE TABLE spool.counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
${CHAINS}
${FORMS}
`;
