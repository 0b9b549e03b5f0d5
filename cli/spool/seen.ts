import type { DatabaseSync } from 'node:sqlite';

/**
 * Whether a record is new, was captured by this session before (`repeated`), or by the session that this one was forked from
 * (`replayed`).
 */
export type Novelty = 'new' | 'repeated' | 'replayed';

export function createSeen(db: DatabaseSync) {
  const insertRecord = db.prepare('INSERT INTO records (key, session) VALUES (?, ?) ON CONFLICT DO NOTHING');
  const moveRecord = db.prepare('UPDATE records SET session = ? WHERE key = ?');
  const findRecord = db.prepare('SELECT session FROM records WHERE key = ?');
  // When a file is read again from the start, the n-th of several equal lines matches the one that was captured as the n-th.
  const meetLine = db.prepare(`
    INSERT INTO lines (file, hash, captured, pass, met) VALUES (:file, :hash, 0, :pass, 1)
    ON CONFLICT (file, hash) DO UPDATE SET met = CASE WHEN pass = :pass THEN met + 1 ELSE 1 END, pass = :pass
    RETURNING met, captured`);
  const capturedLines = db.prepare('SELECT captured FROM lines WHERE file = ? AND hash = ?');
  const captureLine = db.prepare('UPDATE lines SET captured = ? WHERE file = ? AND hash = ?');

  return {
    /** Notes a record by the hash of its key. */
    meetRecord(key: Uint8Array, session: number): Novelty {
      if (insertRecord.run(key, session).changes > 0) return 'new';
      return findRecord.get(key)?.session === session ? 'repeated' : 'replayed';
    },
    /** The session that captured a record, by the hash of the record's key. */
    sessionOf(key: Uint8Array): number | undefined {
      const row = findRecord.get(key);
      return row && Number(row.session);
    },
    /** How many times a file's captured events contain a record without a key, by the hash of its text. */
    capturedLines: (file: number, hash: Uint8Array) => Number(capturedLines.get(file, hash)?.captured ?? 0),
    /** From now on, a record counts as captured by this session. */
    moveTo: (session: number, key: Uint8Array) => void moveRecord.run(session, key),
    /** Notes a record without a key by the hash of its text. Equal records of a file are numbered. */
    meetLine(file: number, pass: number, hash: Uint8Array): Novelty {
      const line = meetLine.get({ file, pass, hash });
      const met = Number(line?.met);
      if (met <= Number(line?.captured)) return 'repeated';
      captureLine.run(met, file, hash);
      return 'new';
    },
  };
}
