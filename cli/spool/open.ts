import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { EXIT, Failure } from '../failure.ts';
import { createBatches } from './batches.ts';
import { createFiles } from './files.ts';
import { createMeta } from './meta.ts';
import { MIGRATIONS } from './schema.ts';
import { createSeen } from './seen.ts';
import { createSessions } from './sessions.ts';

/** Reader and sender share nothing but this. */
export type Spool = ReturnType<typeof openSpool>;

/** Opens the spool at a path, `:memory:` for one that is forgotten. */
export function openSpool(path: string) {
  if (path !== ':memory:') makePrivate(path);
  const db = new DatabaseSync(path, { timeout: 10_000 });
  // FULL: what was taken over from a transcript is on the disk before its cursor moves past it.
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON');
  db.exec('PRAGMA journal_size_limit = 67108864; PRAGMA cache_size = -8192');
  migrate(db, path);

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

  return {
    path,
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
    close: () => db.close(),
    files: createFiles(db),
    sessions: createSessions(db),
    seen: createSeen(db),
    batches: createBatches(db),
    ...createMeta(db),
  };
}

/** Transcripts are nobody else's business. */
function makePrivate(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  closeSync(openSync(path, 'a', 0o600));
}

function migrate(db: DatabaseSync, path: string): void {
  const version = () => Number(db.prepare('PRAGMA user_version').get()?.user_version);
  if (version() > MIGRATIONS.length) {
    throw new Failure(EXIT.failure, `${path} was written by a newer version of capture.`, 'Update capture.');
  }
  if (version() === MIGRATIONS.length) return;
  db.exec('BEGIN IMMEDIATE');
  for (const step of MIGRATIONS.slice(version())) db.exec(step);
  db.exec(`PRAGMA user_version = ${MIGRATIONS.length}`);
  db.exec('COMMIT');
}
