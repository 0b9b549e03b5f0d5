import { existsSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { joinPauses, MAX_SET_BACK_MS, type Pause } from '../decide/pauses.ts';
import type { Consent } from '../decide/periods.ts';
import { EXIT, Failure } from '../failure.ts';
import { type Lock, takeLock, takeShare } from '../lock.ts';
import { createBatches } from './batches.ts';
import { createChains } from './chains.ts';
import { damageOf, SpoolDamaged } from './damage.ts';
import { attachDecisions, createDecisions, DECISIONS_FILE, type Decisions, openDecisions } from './decisions.ts';
import { createDeferrals } from './deferrals.ts';
import { createFiles } from './files.ts';
import { createForms } from './forms.ts';
import { createMeta } from './meta.ts';
import { makePrivate } from './private.ts';
import { createRefused } from './refused.ts';
import { KEPT_BACK, MEET_AGAIN, MEET_FORKS_AGAIN, REST_OF_KEPT_BACK, SCHEMA, SPOOL_VERSION } from './schema.ts';
import { createSeen } from './seen.ts';
import { createSessions } from './sessions.ts';

/** The reader and the sender share only this. */
export type Spool = ReturnType<typeof openFile>;

/**
 * Opens the spool at a path, together with the decisions in its folder. `:memory:` opens a temporary spool, together with the
 * decisions in the given folder, if any. Throws `SpoolDamaged` if the spool must be made anew (see `openOrReplace`), and a
 * `Failure` while another process does that.
 */
export function openSpool(path: string, decided?: string): Spool {
  if (path === ':memory:') return openFile(path, decided);
  makePrivate(path);
  const share = takeShare(dirname(path), basename(path));
  if (share === undefined) {
    throw new Failure(EXIT.temporary, `Another process is rebuilding ${path}, which was damaged.`, 'Try again later.');
  }
  try {
    return openFile(path, dirname(path), share);
  } catch (error) {
    share.release();
    throw isDamage(error) ? new SpoolDamaged(path, error.message) : error;
  }
}

/** The statements are correct. If the schema lacks one of their columns, the schema's text has changed. 1: SQLITE_ERROR */
const isDamage = (error: unknown): error is Error =>
  damageOf(error) === 'damaged' || (error instanceof Error && (error as { errcode?: unknown }).errcode === 1);

/** How many pages one step gives back. This limits how long other processes wait for it. */
const SHRINK_PAGES = 2000;
/** Fewer spare pages are not given back, because they will be needed again. */
const SPARE_PAGES = 1000;

/** Opens the file itself, whether or not other processes use it. */
function openFile(path: string, decided: string | undefined, share?: Lock) {
  const db = new DatabaseSync(':memory:', { timeout: 10_000 });
  // SQLite writes a commit to the files in the order in which they were attached. The decisions come first: after a crash
  // between the files, a kept-back session still has its waiting events, which are not sent.
  attachDecisions(db, decided);
  const decisions = createDecisions(db);
  attachSpool(db, path);
  createTables(db, path);
  db.exec(KEPT_BACK);
  const batches = createBatches(db, path);
  const meta = createMeta(db);
  noticeLoss(db, decisions, meta);
  copyPauses(decisions, meta);

  /** Runs a unit of work in one commit. */
  function transact<Result>(work: () => Result): Result {
    db.exec('BEGIN IMMEDIATE');
    try {
      const result = work();
      db.exec('COMMIT');
      return result;
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK');
      throw error;
    }
  }

  /** Throws `SpoolDamaged` if the structure of the file is invalid, or if a batch has changed since it was written. */
  function examine(): void {
    const found = db.prepare('PRAGMA spool.integrity_check(1)').get()?.integrity_check;
    if (found !== 'ok') throw new SpoolDamaged(path, String(found));
    batches.examine();
  }

  /** Gives unused space back, one step per call. Returns false when there is no more. */
  function shrink(): boolean {
    const spare = Number(db.prepare('PRAGMA spool.freelist_count').get()?.freelist_count);
    if (spare <= SPARE_PAGES) return false;
    db.exec(`PRAGMA spool.incremental_vacuum(${SHRINK_PAGES}); PRAGMA spool.wal_checkpoint(TRUNCATE)`);
    return spare > SPARE_PAGES + SHRINK_PAGES;
  }

  const sessions = createSessions(db);
  const refused = createRefused(db);
  const restOfKeptBack = db.prepare(REST_OF_KEPT_BACK);

  /**
   * Keeps a session and its forks on this machine from now on, and throws their waiting events away. Returns the forks and
   * the number of those events. Must run inside a unit of work.
   */
  function keepBack(id: number, verdict: 'skipped' | 'deleted', at: number): { dropped: number; forks: string[] } {
    const { agent, agentSession } = sessions.get(id);
    const [, ...forks] = decisions.decide(agent, agentSession, verdict, at);
    const ids = forks.flatMap((fork) => sessions.find(agent, fork.session)?.id ?? []);
    const dropped = ids.reduce((sum, fork) => sum + throwAway(fork, 'skipped'), throwAway(id, verdict));
    return { dropped, forks: forks.map(({ session }) => session) };
  }

  /** Throws away what this machine still has of a session that a person keeps back. Returns the number of waiting events. */
  function throwAway(id: number, verdict: string): number {
    if (verdict === 'deleted') {
      sessions.setDeleted(id);
      refused.removeSession(id);
    }
    sessions.forgetText(id);
    return batches.removeSession(id);
  }

  /** Finishes what `keepBack` has left: if the disk is full, only its decisions may be stored. */
  function finishKeepingBack(): void {
    if (restOfKeptBack.get() === undefined) return;
    transact(() => {
      for (const { session, verdict } of restOfKeptBack.all()) throwAway(Number(session), String(verdict));
    });
  }

  /**
   * Removes the waiting and refused events of sessions, and lets their transcripts be read again from the start. Sent events are
   * then looked up in all sessions that the service has of them, so no event is sent twice, and no expired event is sent again.
   * Must run inside a unit of work.
   */
  function readFromStart(ids: readonly number[]): void {
    const json = JSON.stringify(ids);
    const IDS = '(SELECT value FROM json_each(?))';
    for (const id of ids) {
      batches.removeSession(id);
      refused.removeSession(id);
    }
    db.prepare(`DELETE FROM records WHERE session IN ${IDS}`).run(json);
    db.prepare(`DELETE FROM lines WHERE file IN (SELECT id FROM files WHERE session IN ${IDS})`).run(json);
    db.prepare(`UPDATE files SET offset = 0, head_length = 0, tail = zeroblob(16), pass = pass + 1, last_time = 0
      WHERE session IN ${IDS}`).run(json);
    db.prepare(`UPDATE sessions SET state = 'new', generation = 0, sent_elsewhere = sent > 0, settled = 0, title = NULL,
      prompt = NULL, cwd = NULL, branch = NULL, first_at = NULL, last_at = NULL WHERE id IN ${IDS}`).run(json);
  }

  return {
    path,
    keepBack,
    finishKeepingBack,
    readFromStart,
    /** Gives back memory that reading will not need soon. */
    releaseMemory: () => db.exec('PRAGMA shrink_memory'),
    examine,
    shrink,
    begin: () => db.exec('BEGIN IMMEDIATE'),
    commit: () => db.exec('COMMIT'),
    rollback: () => {
      if (db.isTransaction) db.exec('ROLLBACK');
    },
    transact,
    /**
     * Stores the pauses, and keeps a copy of them in the spool, so that a machine stays paused if its decisions are lost. Must
     * run inside a unit of work.
     */
    setPauses(pauses: readonly Pause[]): void {
      decisions.setPauses(pauses);
      meta.setMeta('pauses', JSON.stringify(pauses));
    },
    /** Stores the latest time that the clock has shown during a pause, with a copy. Must run inside a unit of work. */
    noteClock(now: number): void {
      decisions.noteClock(now);
      meta.setMeta('clock', String(now));
    },
    /** Copies the files' cursors from another spool. */
    copyCursors(path: string): void {
      db.prepare('ATTACH ? AS other').run(path);
      for (const table of ['sessions', 'files']) db.exec(`INSERT INTO spool.${table} SELECT * FROM other.${table}`);
      db.exec('DETACH other');
    },
    /** Copies the decisions of a state folder. */
    copyDecisions(folder: string): void {
      const known = openDecisions(folder);
      if (known === undefined) return;
      known.close();
      db.prepare('ATTACH ? AS other').run(join(folder, DECISIONS_FILE));
      for (const table of ['meta', 'verdicts', 'forks', 'first_records', 'kept_records', 'folders', 'rule_paths']) {
        db.exec(`INSERT OR REPLACE INTO decided.${table} SELECT * FROM other.${table}`);
      }
      db.exec('DETACH other');
    },
    close(): void {
      try {
        db.close();
      } finally {
        share?.release();
      }
    },
    files: createFiles(db),
    forms: createForms(db),
    sessions,
    seen: createSeen(db),
    batches,
    chains: createChains(db),
    refused,
    deferrals: createDeferrals(db),
    decisions,
    ...meta,
  };
}

/** Notices that other decisions have replaced those that this spool was filled under. */
function noticeLoss(db: DatabaseSync, decisions: Decisions, { getMeta, setMeta }: ReturnType<typeof createMeta>): void {
  const known = getMeta('decisions');
  const id = decisions.id();
  if (known === id) return;
  const consent = decisions.consent();
  if (known !== undefined) {
    decisions.setPauses(joinPauses(decisions.pauses(), pausesIn(getMeta)));
    decisions.noteClock(Math.max(decisions.clock(), Number(getMeta('clock') ?? 0)));
    if (consent?.isByPerson !== true) decisions.lose(endOfKnown(db, consent, decisions.clock()));
  }
  db.prepare(MEET_AGAIN).run(Date.now());
  db.exec(MEET_FORKS_AGAIN);
  setMeta('decisions', id);
}

/**
 * The time before which the known sessions began. That is when the decisions were lost, which another account's spool may have
 * noticed long ago. It is later if the clock was set back since the sessions began, but at most a day from now: a clock that was
 * wrong by more must not make the sessions of the days to come stay here. The spool does not know the sessions that a decision
 * kept back, but the latest time that the clock has shown during a pause.
 */
function endOfKnown(db: DatabaseSync, consent: Consent | undefined, clock: number): number {
  const now = Date.now();
  const lostAt = consent?.isLost === true ? consent.since : now;
  const latest = Number(db.prepare('SELECT max(started_at) AS latest FROM spool.files').get()?.latest ?? 0);
  return Math.max(lostAt, Math.min(Math.max(latest, clock) + 1, now + MAX_SET_BACK_MS));
}

/**
 * Copies the pauses and the clock's latest time into this spool if its copy differs. That is so in a new spool, and in the
 * spool of an account that was not signed in when they changed.
 */
function copyPauses(decisions: Decisions, { getMeta, setMeta }: ReturnType<typeof createMeta>): void {
  const [pauses, clock] = [JSON.stringify(decisions.pauses()), String(decisions.clock())];
  if (pauses !== JSON.stringify(pausesIn(getMeta))) setMeta('pauses', pauses);
  if (clock !== (getMeta('clock') ?? '0')) setMeta('clock', clock);
}

const pausesIn = (getMeta: ReturnType<typeof createMeta>['getMeta']): Pause[] =>
  JSON.parse(getMeta('pauses') ?? '[]') as Pause[];

/**
 * Opens a spool. If it is damaged, sets it aside and begins a new one. The transcripts are then read again from their
 * beginning, and events that the service has are not sent again.
 */
export function openOrReplace(path: string, now: () => number): Spool {
  let spool: Spool | undefined;
  try {
    spool = openSpool(path);
    // This takes a quarter of a second for 100 MB.
    spool.examine();
    return spool;
  } catch (error) {
    spool?.close();
    if (damageOf(error) !== 'damaged') throw error;
    const aside = putAside(path, now());
    const replaced = openSpool(path);
    replaced.setNotice('replaced', {
      sentence:
        'The spool was damaged and is being rebuilt: the transcripts are read again, and nothing is sent twice.',
      hint: `Waiting events that are no longer in a transcript are only in the damaged file: ${aside}.`,
    });
    return replaced;
  }
}

function putAside(path: string, now: number): string {
  const lock = takeLock(dirname(path), basename(path));
  if (lock === undefined) {
    throw new Failure(
      EXIT.temporary,
      `${path} is damaged, and other processes use it.`,
      'It is rebuilt as soon as they have ended: see `capture status`.',
    );
  }
  try {
    const aside = `${path}.corrupt-${new Date(now).toISOString().replaceAll(':', '-')}`;
    // The log is moved first. Beside a new file, SQLite would take it for the new file's log.
    if (existsSync(`${path}-wal`)) renameSync(`${path}-wal`, `${aside}-wal`);
    rmSync(`${path}-shm`, { force: true });
    renameSync(path, aside);
    return aside;
  } finally {
    lock.release();
  }
}

function attachSpool(db: DatabaseSync, path: string): void {
  db.prepare('ATTACH ? AS spool').run(path);
  // This must come first: it only takes effect in a new file. In any other file it is a needless write.
  if (db.prepare('PRAGMA spool.page_count').get()?.page_count === 0) db.exec('PRAGMA spool.auto_vacuum = INCREMENTAL');
  // FULL: the records of a transcript are on the disk before its cursor moves past them.
  db.exec('PRAGMA spool.journal_mode = WAL; PRAGMA spool.synchronous = FULL; PRAGMA foreign_keys = ON');
  db.exec('PRAGMA spool.journal_size_limit = 67108864; PRAGMA spool.cache_size = -4096');
}

function createTables(db: DatabaseSync, path: string): void {
  const version = () => Number(db.prepare('PRAGMA spool.user_version').get()?.user_version);
  if (version() === 0) {
    db.exec('BEGIN IMMEDIATE');
    // Another process may have created the tables first.
    if (version() === 0) db.exec(`${SCHEMA}; PRAGMA spool.user_version = ${SPOOL_VERSION}`);
    db.exec('COMMIT');
  }
  if (version() > SPOOL_VERSION) {
    throw new Failure(EXIT.failure, `${path} was written by a newer version of capture.`, 'Update capture.');
  }
}
