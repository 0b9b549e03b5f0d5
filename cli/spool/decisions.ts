import { randomUUID } from 'node:crypto';
import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Visibility } from '../../contract/session.ts';
import type { Pause } from '../decide/pauses.ts';
import type { Consent } from '../decide/periods.ts';
import { REASONS, type Verdict, verdictOfFork } from '../decide/verdicts.ts';
import { EXIT, Failure } from '../failure.ts';
import { takeLock } from '../lock.ts';
import { damageOf } from './damage.ts';
import { makePrivate } from './private.ts';

/** The last known facts about a folder. The folder may be gone by the time a rule needs them. */
export interface FolderFacts {
  /** The path as the agent writes it, and the paths that its links lead to. */
  paths: string[];
  /** The root of its repository, and the addresses of the repository. */
  root?: string;
  remotes: string[];
  /** Distinguishes the folder from another one that later gets the same name. */
  id?: string;
  /** Why the folder's own file forbids capturing, if it does. */
  objection?: string;
  /** Who may see the folder's sessions, if its file says so. */
  visibility?: Visibility;
}

/** The decision about a session, and the facts behind it. */
export interface Decision {
  agent: string;
  session: string;
  verdict: Verdict;
  /** A text for people. Absent where the session is wanted. */
  reason?: string | undefined;
  /** Milliseconds since 1970. */
  decidedAt: number;
  /** Whether a person decided about this very session. */
  isByPerson: boolean;
  folder?: string | undefined;
  facts: FolderFacts[];
  /** When the session began, in milliseconds since 1970. */
  startedAt?: number | undefined;
  /** The agent's own ids of the sessions that it was forked from. */
  parents: string[];
  /** Who may see it, if a person decided so for this very session. */
  visibility?: Visibility | undefined;
}

/** Raised when the tables change, because decisions that are read wrongly could let something leave. */
const VERSION = 2;

const SCHEMA = `
  CREATE TABLE decided.meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

  -- Every session that was ever met, and whether it may leave this machine.
  CREATE TABLE decided.verdicts (
    agent TEXT NOT NULL,
    session TEXT NOT NULL,
    verdict TEXT NOT NULL CHECK (verdict IN ('wanted', 'excluded', 'skipped', 'deleted')),
    reason TEXT,
    decided_at INTEGER NOT NULL,
    -- Whether a person decided about this very session.
    by_person INTEGER NOT NULL,
    folder TEXT,
    -- JSON, a list of FolderFacts: all that its folder has been since the session was met.
    facts TEXT NOT NULL,
    started_at INTEGER,
    -- Who may see it, where a person decided so.
    visibility TEXT,
    PRIMARY KEY (agent, session)
  ) WITHOUT ROWID;
  CREATE INDEX decided.verdicts_kept ON verdicts (agent, session) WHERE verdict <> 'wanted';
  CREATE INDEX decided.verdicts_visibility ON verdicts (agent, session) WHERE visibility IS NOT NULL;

  -- Which sessions a session was forked from: a fork of a fork contains records of both.
  CREATE TABLE decided.forks (agent TEXT NOT NULL, parent TEXT NOT NULL, session TEXT NOT NULL,
    PRIMARY KEY (agent, parent, session)) WITHOUT ROWID;
  CREATE INDEX decided.forks_session ON forks (agent, session);

  -- Hashes of a session's first records. A session that begins with one of another's was forked from it.
  CREATE TABLE decided.first_records (key BLOB PRIMARY KEY, agent TEXT NOT NULL, session TEXT NOT NULL) WITHOUT ROWID;

  -- Hashes of the records of sessions that are kept back, by which copies of them are known, and how far those were read.
  -- A session and its forks contain the same records.
  CREATE TABLE decided.kept_records (key BLOB NOT NULL, agent TEXT NOT NULL, session TEXT NOT NULL,
    PRIMARY KEY (key, agent, session)) WITHOUT ROWID;
  CREATE TABLE decided.kept_files (path TEXT PRIMARY KEY, cursor TEXT NOT NULL) WITHOUT ROWID;

  -- What each folder was when it was last looked into, JSON.
  CREATE TABLE decided.folders (path TEXT PRIMARY KEY, facts TEXT NOT NULL) WITHOUT ROWID;

  -- Where the links of a rule have led. They may be removed before the folder is.
  CREATE TABLE decided.rule_paths (rule TEXT NOT NULL, path TEXT NOT NULL, PRIMARY KEY (rule, path)) WITHOUT ROWID;
`;

export const DECISIONS_FILE = 'decisions.db';

/** The decisions on this machine. They apply to every account. */
export type Decisions = ReturnType<typeof createDecisions>;

/**
 * Attaches the decisions to a connection. They have a file of their own, because a damaged spool is made anew from the
 * transcripts, and a spool belongs to one account. A session that a person keeps back stays back, whatever happens to the
 * spool or the account.
 */
export function attachDecisions(db: DatabaseSync, folder: string | undefined): void {
  const path = folder === undefined ? ':memory:' : join(folder, DECISIONS_FILE);
  if (folder !== undefined) replaceDamaged(folder, path);
  db.prepare('ATTACH ? AS decided').run(path);
  db.exec(
    'PRAGMA decided.journal_mode = WAL; PRAGMA decided.synchronous = FULL; PRAGMA decided.journal_size_limit = 67108864',
  );
  const version = () => Number(db.prepare('PRAGMA decided.user_version').get()?.user_version);
  if (version() === 0) {
    db.exec('BEGIN IMMEDIATE');
    // Another process may have created the tables first.
    if (version() === 0) {
      db.exec(`${SCHEMA}; PRAGMA decided.user_version = ${VERSION}`);
      begin(db, folder);
    }
    db.exec('COMMIT');
  }
  if (version() > VERSION) {
    throw new Failure(EXIT.failure, `${path} was written by a newer version of capture.`, 'Update capture.');
  }
  if (version() < VERSION) {
    throw new Failure(
      EXIT.failure,
      `${path} was written by a version of capture from before the first release.`,
      'Move the file away and run `capture init`, which asks again what may leave this machine.',
    );
  }
}

/** Opens the decisions without a spool. Undefined where there are none yet. */
export function openDecisions(folder: string, { isMade = false } = {}): (Decisions & { close(): void }) | undefined {
  if (!isMade && !existsSync(join(folder, DECISIONS_FILE))) return undefined;
  const db = new DatabaseSync(':memory:', { timeout: 10_000 });
  attachDecisions(db, folder);
  return { ...createDecisions(db), close: () => db.close() };
}

/** Copies the decisions of another state folder into one that has none yet. */
export function copyDecisions(folder: string, to: string): void {
  const known = openDecisions(folder);
  known?.copyTo(join(to, DECISIONS_FILE));
  known?.close();
}

function begin(db: DatabaseSync, folder: string | undefined): void {
  const decisions = createDecisions(db);
  decisions.setMeta('id', randomUUID());
  // On a machine that was set up, a person had decided, so that decision is lost.
  if (folder !== undefined && existsSync(join(folder, 'setup.json'))) decisions.lose();
}

/** The decisions in the file are lost; see `lose`. If several processes find the damage, one of them replaces the file. */
function replaceDamaged(folder: string, path: string): void {
  makePrivate(path);
  if (!isDamaged(path)) return;
  const lock = takeLock(folder, DECISIONS_FILE);
  if (lock === undefined) {
    throw new Failure(EXIT.temporary, `Another process is replacing ${path}, which was damaged.`, 'Try again.');
  }
  try {
    if (!isDamaged(path)) return;
    const aside = `${path}.corrupt-${new Date().toISOString().replaceAll(':', '-')}`;
    for (const end of ['-wal', '']) if (existsSync(path + end)) renameSync(path + end, aside + end);
    rmSync(`${path}-shm`, { force: true });
    const decisions = openDecisions(folder, { isMade: true });
    decisions?.lose();
    decisions?.close();
  } finally {
    lock.release();
  }
}

function isDamaged(path: string): boolean {
  const db = new DatabaseSync(path, { timeout: 10_000 });
  try {
    return db.prepare('PRAGMA integrity_check(1)').get()?.integrity_check !== 'ok';
  } catch (error) {
    if (damageOf(error) !== 'damaged') throw error;
    return true;
  } finally {
    db.close();
  }
}

const SELECT = 'SELECT * FROM decided.verdicts';

export function createDecisions(db: DatabaseSync) {
  const getMeta = db.prepare('SELECT value FROM decided.meta WHERE name = ?');
  const setMeta = db.prepare('INSERT OR REPLACE INTO decided.meta (name, value) VALUES (?, ?)');
  const find = db.prepare(`${SELECT} WHERE agent = ? AND session = ?`);
  const forks = db.prepare('SELECT session FROM decided.forks WHERE agent = ? AND parent = ?');
  const parents = db.prepare('SELECT parent FROM decided.forks WHERE agent = ? AND session = ?');
  const addFork = db.prepare(
    'INSERT INTO decided.forks (agent, parent, session) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
  );
  const addKeptBack = db.prepare(
    'INSERT INTO decided.kept_records (key, agent, session) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
  );
  const keptBackOwners = db.prepare('SELECT session FROM decided.kept_records WHERE key = ? AND agent = ?');
  const hasKeptBack = db.prepare('SELECT 1 FROM decided.kept_records LIMIT 1');
  const setKeptBackFile = db.prepare('INSERT OR REPLACE INTO decided.kept_files (path, cursor) VALUES (?, ?)');
  const keptBackFile = db.prepare('SELECT cursor FROM decided.kept_files WHERE path = ?');
  const all = db.prepare(SELECT);
  const insert = db.prepare(`
    INSERT INTO decided.verdicts
      (agent, session, verdict, reason, decided_at, by_person, folder, facts, started_at, visibility)
    VALUES (:agent, :session, :verdict, :reason, :decidedAt, :byPerson, :folder, :facts, :startedAt, :visibility)
    ON CONFLICT DO UPDATE SET verdict = excluded.verdict, reason = excluded.reason, decided_at = excluded.decided_at,
      by_person = excluded.by_person, folder = excluded.folder, facts = excluded.facts, started_at = excluded.started_at,
      visibility = excluded.visibility`);
  const addFirstRecord = db.prepare(
    'INSERT INTO decided.first_records (key, agent, session) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
  );
  const findByFirstRecord = db.prepare('SELECT session FROM decided.first_records WHERE key = ? AND agent = ?');
  const setFolder = db.prepare('INSERT OR REPLACE INTO decided.folders (path, facts) VALUES (?, ?)');
  const findFolder = db.prepare('SELECT facts FROM decided.folders WHERE path = ?');
  const addRulePath = db.prepare('INSERT INTO decided.rule_paths (rule, path) VALUES (?, ?) ON CONFLICT DO NOTHING');
  const rulePaths = db.prepare('SELECT path FROM decided.rule_paths WHERE rule = ?');
  const keptBack = db.prepare("SELECT 1 FROM decided.verdicts WHERE agent = ? AND session = ? AND verdict <> 'wanted'");

  const meta = (name: string) => getMeta.get(name)?.value as string | undefined;
  const revision = () => Number(meta('revision') ?? 0);
  const revise = () => setMeta.run('revision', String(revision() + 1));

  const consent = (): Consent | undefined => {
    const value = meta('consent');
    return value === undefined ? undefined : (JSON.parse(value) as Consent);
  };

  const store = ({ agent, session, verdict, decidedAt, isByPerson, facts, parents: all, ...more }: Decision): void => {
    const { reason = null, folder = null, startedAt = null, visibility = null } = more;
    const row = { agent, session, verdict, decidedAt, byPerson: isByPerson ? 1 : 0, facts: JSON.stringify(facts) };
    insert.run({ ...row, reason, folder, startedAt, visibility });
    for (const parent of all) addFork.run(agent, parent, session);
  };

  function read(agent: string, session: string): Decision | undefined {
    const row = find.get(agent, session);
    return row && toDecision(row, parents.all(agent, session));
  }

  /** The forks of a session and their forks, except those that a person has decided about. */
  function forksOf(agent: string, session: string, known = new Set([session])): Decision[] {
    return forks.all(agent, session).flatMap(({ session: name }) => {
      const fork = read(agent, String(name));
      if (fork === undefined || fork.isByPerson || known.has(fork.session)) return [];
      known.add(fork.session);
      return [fork, ...forksOf(agent, fork.session, known)];
    });
  }

  return {
    /** Writes all decisions to a file that does not exist yet. */
    copyTo: (path: string) => void db.prepare('VACUUM decided INTO ?').run(path),
    /** Identifies these decisions. A file that replaces a lost one has another id. */
    id: () => meta('id') ?? '',
    setMeta: (name: string, value: string) => void setMeta.run(name, value),
    /** Increases whenever a person decides something. */
    revision,
    consent,
    setConsent(value: Consent): void {
      setMeta.run('consent', JSON.stringify(value));
      revise();
    },
    /** Marks the decisions as lost. No session that began before this time is captured until a person decides again. */
    lose(now = Date.now()): void {
      setMeta.run('consent', JSON.stringify({ since: now, history: 'none', isLost: true } satisfies Consent));
      revise();
    },
    /** The pauses. Nothing that agents wrote in them is captured, now or later. */
    pauses: (): Pause[] => JSON.parse(meta('pauses') ?? '[]') as Pause[],
    setPauses(pauses: readonly Pause[]): void {
      setMeta.run('pauses', JSON.stringify(pauses));
      revise();
    },
    /** The latest time noted that this machine's clock has shown during a pause. */
    clock: () => Number(meta('clock') ?? 0),
    noteClock: (now: number) => void setMeta.run('clock', String(now)),
    find: read,
    /** Every session that capture ever met. */
    *all(): Generator<Decision> {
      for (const row of all.iterate()) yield toDecision(row, parents.all(String(row.agent), String(row.session)));
    },
    store,
    /** Stores a person's decision about a session. Returns it and the forks that it covers. */
    decide(agent: string, session: string, verdict: Verdict, decidedAt: number): Decision[] {
      const known = read(agent, session) ?? { agent, session, facts: [], parents: [] };
      const forks = forksOf(agent, session);
      const decided = [
        { ...known, verdict, reason: REASONS[verdict], decidedAt, isByPerson: true },
        ...forks.map((fork): Decision => ({ ...fork, ...verdictOfFork({ session, verdict }), decidedAt })),
      ];
      for (const decision of decided) store(decision);
      revise();
      return decided;
    },
    /** Stores who may see a session, as a person decided. Its forks follow. */
    setVisibility(agent: string, session: string, visibility: Visibility, decidedAt: number): void {
      const fresh: Decision = {
        agent,
        session,
        verdict: 'wanted',
        decidedAt,
        isByPerson: false,
        facts: [],
        parents: [],
      };
      store({ ...(read(agent, session) ?? fresh), visibility });
      revise();
    },
    isKeptBack: (agent: string, session: string): boolean => keptBack.get(agent, session) !== undefined,
    /** The session that a first record belongs to, by the hash of the record's key. */
    findByFirstRecord: (agent: string, key: Uint8Array): string | undefined =>
      findByFirstRecord.get(key, agent)?.session as string | undefined,
    addFirstRecord: (agent: string, session: string, key: Uint8Array) => void addFirstRecord.run(key, agent, session),
    /**
     * Notes that a session contains records of another session. If the other session is kept back, this one and its forks are
     * kept back from now on. Nobody decided anything new, so no session is judged again.
     */
    inherit(agent: string, session: string, parent: string, decidedAt: number): void {
      addFork.run(agent, parent, session);
      const known = read(agent, session);
      const from = read(agent, parent);
      if (!known || known.isByPerson || from === undefined || from.verdict === 'wanted') return;
      const inherited: Decision = { ...known, ...verdictOfFork(from), decidedAt };
      store(inherited);
      for (const fork of forksOf(agent, session)) {
        store({ ...fork, ...verdictOfFork(inherited), decidedAt });
      }
    },
    addFork: (agent: string, parent: string, session: string) => void addFork.run(agent, parent, session),
    addKeptBack: (agent: string, session: string, key: Uint8Array) => void addKeptBack.run(key, agent, session),
    /** Whether any records of kept-back sessions are known. */
    hasKeptBack: () => hasKeptBack.get() !== undefined,
    /** The kept-back sessions that contain a record, by the hash of the record's key. */
    keptBackOwners: (agent: string, key: Uint8Array) =>
      keptBackOwners.all(key, agent).map(({ session }) => String(session)),
    /** How far a kept-back session's file was noted, as `setKeptBackFile` stored it. */
    keptBackFile: (path: string) => keptBackFile.get(path)?.cursor as string | undefined,
    setKeptBackFile: (path: string, cursor: string) => void setKeptBackFile.run(path, cursor),
    folder(path: string): FolderFacts | undefined {
      const facts = findFolder.get(path)?.facts;
      return facts === undefined ? undefined : (JSON.parse(String(facts)) as FolderFacts);
    },
    setFolder: (path: string, facts: FolderFacts) => void setFolder.run(path, JSON.stringify(facts)),
    rulePaths: (rule: string): string[] => rulePaths.all(rule).map(({ path }) => String(path)),
    addRulePath: (rule: string, path: string) => void addRulePath.run(rule, path),
  };
}

function toDecision(row: Record<string, unknown>, parents: Record<string, unknown>[]): Decision {
  const text = (value: unknown) => (value === null ? undefined : String(value));
  return {
    agent: String(row.agent),
    session: String(row.session),
    verdict: row.verdict as Verdict,
    reason: text(row.reason),
    decidedAt: Number(row.decided_at),
    isByPerson: row.by_person === 1,
    folder: text(row.folder),
    facts: JSON.parse(String(row.facts)) as FolderFacts[],
    startedAt: row.started_at === null ? undefined : Number(row.started_at),
    parents: parents.map(({ parent }) => String(parent)),
    visibility: text(row.visibility) as Visibility | undefined,
  };
}
