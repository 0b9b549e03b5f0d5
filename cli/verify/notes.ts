import type { DatabaseSync } from 'node:sqlite';
import type { ExpectedEvent } from './expect.ts';

/** A record of which an event is not held as it should be. */
export interface LackingRecord {
  identity: Buffer;
  /** The number of its file among those of the session. */
  file: number;
  position: number;
  /** How many of its events are held. */
  others: number;
  events: ExpectedEvent[];
}

/** A record that another session has captured. */
export interface ElsewhereRecord {
  identity: Buffer;
  /** The session that has captured it, and the one whose transcript it stands in as well. */
  owner: number;
  session: number;
  path: string;
  position: number;
  eventType: string;
  /** The agent's own id of it. */
  record: string | undefined;
}

export type Notes = ReturnType<typeof createNotes>;

/** What is to be looked into once a session, or all of them, were read. In a temporary database, like what is held. */
export function createNotes(db: DatabaseSync) {
  db.exec(`
    CREATE TABLE met (identity BLOB PRIMARY KEY, session INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE lacking (id INTEGER PRIMARY KEY, record TEXT NOT NULL);
    CREATE TABLE elsewhere (
      id INTEGER PRIMARY KEY, identity BLOB NOT NULL, owner INTEGER NOT NULL, session INTEGER NOT NULL,
      path TEXT NOT NULL, position INTEGER NOT NULL, type TEXT NOT NULL, record TEXT);`);
  const meet = db.prepare('INSERT INTO met (identity, session) VALUES (?, ?) ON CONFLICT DO NOTHING');
  const addLacking = db.prepare('INSERT INTO lacking (record) VALUES (?)');
  const lacking = db.prepare('SELECT record FROM lacking ORDER BY id');
  const addElsewhere = db.prepare(`
    INSERT INTO elsewhere (identity, owner, session, path, position, type, record) VALUES (?, ?, ?, ?, ?, ?, ?)`);
  const unmet = 'FROM elsewhere WHERE identity NOT IN (SELECT identity FROM met)';
  const owners = db.prepare(`SELECT DISTINCT owner ${unmet} ORDER BY owner`);
  const unmetOf = db.prepare(`SELECT * ${unmet} AND owner = ? ORDER BY id`);

  return {
    /** Forgets what was noted of one session. */
    clear: () => db.exec('DELETE FROM lacking'),
    /** Takes note that a record was met in the session that holds it; false where it had been met before. */
    meet: (identity: Buffer, session: number): boolean => meet.run(identity, session).changes > 0,
    addLacking({ identity, ...record }: LackingRecord): void {
      addLacking.run(JSON.stringify({ ...record, identity: identity.toString('base64') }));
    },
    *lacking(): Generator<LackingRecord> {
      for (const row of lacking.iterate()) {
        const record = JSON.parse(String(row.record)) as LackingRecord & { identity: string };
        yield { ...record, identity: Buffer.from(record.identity, 'base64') };
      }
    },
    addElsewhere({ identity, owner, session, path, position, eventType, record }: ElsewhereRecord): void {
      addElsewhere.run(identity, owner, session, path, position, eventType, record ?? null);
    },
    /** The sessions that have captured records which were not met in their own transcripts. */
    ownersOfUnmet: (): number[] => owners.all().map(({ owner }) => Number(owner)),
    *unmetOf(owner: number): Generator<Omit<ElsewhereRecord, 'identity'>> {
      for (const { session, path, position, type, record } of unmetOf.iterate(owner)) {
        yield {
          owner,
          session: Number(session),
          path: String(path),
          position: Number(position),
          eventType: String(type),
          record: typeof record === 'string' ? record : undefined,
        };
      }
    },
  };
}
