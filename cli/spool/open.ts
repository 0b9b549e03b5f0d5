import { closeSync, existsSync, mkdirSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { EXIT, Failure } from '../failure.ts';
import { type Lock, takeShare } from '../lock.ts';
import { createBatches } from './batches.ts';
import { damageOf, SpoolDamaged } from './damage.ts';
import { createFiles } from './files.ts';
import { createJournal, journalPath, NO_JOURNAL } from './journal.ts';
import { createMeta } from './meta.ts';
import { MIGRATIONS } from './schema.ts';
import { createSeen } from './seen.ts';
import { createSent } from './sent.ts';
import { createSessions } from './sessions.ts';
import { createWaiting } from './waiting.ts';

/** Reader and sender share nothing but this. */
export type Spool = ReturnType<typeof openFile>;

export interface OpenOptions {
  /** How closely it is examined first: about a second for 500 MB, several times that thoroughly. */
  examine?: 'quickly' | 'thoroughly';
}

/**
 * Opens the spool at a path, `:memory:` for one that is forgotten. Throws `SpoolDamaged` where it must be made anew, see
 * `rebuildSpool`, and a `Failure` while another process is about that.
 */
export function openSpool(path: string, { examine }: OpenOptions = {}): Spool {
  if (path === ':memory:') return openFile(path);
  makePrivate(path);
  const share = takeShare(dirname(path), basename(path));
  if (share === undefined) {
    throw new Failure(EXIT.temporary, `Another process makes ${path} anew, since it was damaged.`, 'Try again later.');
  }
  let spool: Spool | undefined;
  try {
    spool = openFile(path, share);
    if (examine) spool.examine(examine === 'thoroughly');
    return spool;
  } catch (error) {
    if (spool) spool.close();
    else share.release();
    throw isDamage(error) ? new SpoolDamaged(path, error.message) : error;
  }
}

/** The statements are right: where the schema does not know their columns, its text has changed. 1: SQLITE_ERROR */
const isDamage = (error: unknown): error is Error =>
  damageOf(error) === 'damaged' || (error instanceof Error && (error as { errcode?: unknown }).errcode === 1);

/** Below this size everything is examined, above it what is quick: that leaves out whether the indexes are right. */
const EXAMINED_BYTES = 100_000_000;
/** A step of giving space back: bounds for how long others wait for it. */
const SHRINK_PAGES = 2000;
/** Less is not worth it: it will be needed again. */
const SPARE_PAGES = 1000;

/** Opens the file itself, without regard to who else does. */
export function openFile(path: string, share?: Lock) {
  const isFile = path !== ':memory:';
  const db = new DatabaseSync(path, { timeout: 10_000 });
  // Before anything else: it holds for a file from its beginning.
  db.exec('PRAGMA auto_vacuum = INCREMENTAL');
  // FULL: what was taken over from a transcript is on the disk before its cursor moves past it.
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON');
  db.exec('PRAGMA journal_size_limit = 67108864; PRAGMA cache_size = -4096');
  if (isFile && versionOf(db) === 0 && hasContent(journalPath(path))) {
    db.close();
    throw new SpoolDamaged(path, 'it is empty, although something was sent from it');
  }
  migrate(db, path);
  const batches = createBatches(db, path);
  const journal = isFile ? createJournal(path) : NO_JOURNAL;

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

  /**
   * A commit that need not be on the disk yet when this returns. A power cut may undo it, the later ones included: only
   * for what does no harm to be done again.
   */
  function transactLightly<Result>(work: () => Result): Result {
    db.exec('PRAGMA synchronous = NORMAL');
    try {
      return transact(work);
    } finally {
      db.exec('PRAGMA synchronous = FULL');
    }
  }

  /** Throws `SpoolDamaged` where its structure is not what it should be. */
  function examine(isThorough: boolean): void {
    const isQuick = !isThorough && isFile && statSync(path).size > EXAMINED_BYTES;
    const check = isQuick ? 'quick_check' : 'integrity_check';
    const found = Object.values(db.prepare(`PRAGMA ${check}(1)`).get() ?? {})[0];
    if (found !== 'ok') throw new SpoolDamaged(path, String(found));
    batches.examine();
  }

  /** Gives space back that is no longer needed, a step a call; false when there is no more. */
  function shrink(): boolean {
    const spare = Number(db.prepare('PRAGMA freelist_count').get()?.freelist_count);
    if (spare <= SPARE_PAGES) return false;
    db.exec(`PRAGMA incremental_vacuum(${SHRINK_PAGES}); PRAGMA wal_checkpoint(TRUNCATE)`);
    return spare > SPARE_PAGES + SHRINK_PAGES;
  }

  return {
    path,
    journal,
    /** Gives memory back that reading ahead will not need soon. */
    releaseMemory: () => db.exec('PRAGMA shrink_memory'),
    examine,
    shrink,
    begin: () => db.exec('BEGIN IMMEDIATE'),
    commit: () => db.exec('COMMIT'),
    rollback: () => {
      if (db.isTransaction) db.exec('ROLLBACK');
    },
    transact,
    transactLightly,
    /** Takes over how far each file was read. */
    copyCursors(path: string): void {
      db.prepare('ATTACH ? AS other').run(path);
      db.exec('INSERT INTO sessions SELECT * FROM other.sessions; INSERT INTO files SELECT * FROM other.files');
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
    sessions: createSessions(db),
    seen: createSeen(db),
    batches,
    sent: createSent(db),
    waiting: createWaiting(db),
    ...createMeta(db),
  };
}

/** Transcripts are nobody else's business. */
function makePrivate(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  // A crash between the last steps of making it anew.
  if (!existsSync(path) && existsSync(rebuiltPath(path))) putRebuiltInPlace(path);
  closeSync(openSync(path, 'a', 0o600));
}

/** A spool that was made anew, and is whole. */
export const rebuiltPath = (path: string): string => `${path}.new`;

/** Without the old one's log, which would be taken for its own. */
export function putRebuiltInPlace(path: string): void {
  for (const end of ['-wal', '-shm']) rmSync(path + end, { force: true });
  renameSync(rebuiltPath(path), path);
}

const hasContent = (path: string) => (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0;
const versionOf = (db: DatabaseSync) => Number(db.prepare('PRAGMA user_version').get()?.user_version);

function migrate(db: DatabaseSync, path: string): void {
  const version = () => versionOf(db);
  if (version() > MIGRATIONS.length) {
    throw new Failure(EXIT.failure, `${path} was written by a newer version of capture.`, 'Update capture.');
  }
  if (version() === MIGRATIONS.length) return;
  db.exec('BEGIN IMMEDIATE');
  for (const step of MIGRATIONS.slice(version())) db.exec(step);
  db.exec(`PRAGMA user_version = ${MIGRATIONS.length}`);
  db.exec('COMMIT');
}
