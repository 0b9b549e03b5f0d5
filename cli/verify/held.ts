import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import type { PayloadDigests } from '../../contract/digester.ts';

/** Where an event is held other than in the n-th session at the service. */
export const WAITING = -1;
export const REFUSED = -2;

/** An event that is held somewhere, by what is known of it without its content. */
export interface Held {
  /** Grows with the order of the service's sessions and of the events in them. */
  id: number;
  place: number;
  sequence: number;
  eventType: string;
  digest: string | undefined;
  content: string | undefined;
  file: string | undefined;
  position: number | undefined;
  index: number | undefined;
  part: number | undefined;
  of: number | undefined;
  record: string | undefined;
  revision: number | undefined;
}

export interface NewHeld extends PayloadDigests {
  place: number;
  sequence: number;
  eventType: string;
}

export type HeldEvents = ReturnType<typeof createHeld>;

/**
 * The events of one session that are held at the service or waiting for it, each to be taken once. In a temporary
 * database, so that memory does not grow with the session; the file has no name and is gone with the process.
 */
export function createHeld(db: DatabaseSync) {
  db.exec(`
    CREATE TABLE held (
      id INTEGER PRIMARY KEY, place INTEGER NOT NULL, sequence INTEGER NOT NULL, type TEXT NOT NULL, digest TEXT,
      content TEXT, file TEXT, position INTEGER, "index" INTEGER, part INTEGER, "of" INTEGER, record TEXT,
      revision INTEGER, taken INTEGER NOT NULL DEFAULT 0);
    CREATE INDEX held_digest ON held (digest);
    CREATE INDEX held_content ON held (content);
    CREATE INDEX held_position ON held (position);
    CREATE INDEX held_record ON held (record);`);
  const insert = db.prepare(`
    INSERT INTO held (place, sequence, type, digest, content, file, position, "index", part, "of", record, revision)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const find = (condition: string) => db.prepare(`SELECT * FROM held WHERE ${condition} ORDER BY id`);
  const byDigest = find('digest = ? AND type = ? AND taken = 0');
  const byContent = find('content = ? AND type = ? AND taken = 0');
  const byPosition = find('position = ? AND taken = 0 AND place >= 0');
  const byRecord = find('record = ? AND taken = 0 AND place >= 0');
  const left = find('taken = 0 AND place >= 0');
  const twin = find('digest = ? AND type = ? AND taken = 1');
  const look = find('content = ? AND type = ? AND taken = 1');
  const newest = db.prepare('SELECT max(revision) AS revision FROM held WHERE record = ?');
  const take = db.prepare('UPDATE held SET taken = 1 WHERE id = ?');
  const count = db.prepare('SELECT count(*) AS events FROM held WHERE place >= 0');
  const first = (row: Row | undefined) => row && toHeld(row);
  const all = (rows: Row[]) => rows.map(toHeld);

  return {
    clear: () => db.exec('DELETE FROM held'),
    add({ place, sequence, eventType, digest, content, file, position, index, part, of, record, revision }: NewHeld) {
      const values = [place, sequence, eventType, digest, content, file, position, index, part, of, record, revision];
      insert.run(...values.map((value) => value ?? null));
    },
    take: (id: number) => take.run(id),
    /** Events at the service. */
    count: () => Number(count.get()?.events),
    /** The first one that is exactly this, and not taken yet. */
    findSame: (digest: string, eventType: string) => first(byDigest.get(digest, eventType)),
    /** The first one that is this but for the file and the position it came from. */
    findMoved: (content: string, eventType: string) => first(byContent.get(content, eventType)),
    /** Those at the service that begin at a position of any file. */
    findAtPosition: (position: number) => all(byPosition.all(position)),
    findOfRecord: (record: string) => all(byRecord.all(record)),
    /** What at the service was not taken, in its order. */
    *left(): Generator<Held> {
      for (const row of left.iterate()) yield toHeld(row);
    },
    /** One that was taken and is exactly this, or else all but its file and position. */
    findTaken: ({ digest, content, eventType }: Held) =>
      first(twin.get(digest ?? null, eventType)) ?? first(look.get(content ?? null, eventType)),
    newestRevision(record: string): number | undefined {
      const revision = newest.get(record)?.revision;
      return typeof revision === 'number' ? revision : undefined;
    },
  };
}

type Row = Record<string, SQLOutputValue>;

function toHeld(row: Row): Held {
  const number = (value: SQLOutputValue | undefined) => (typeof value === 'number' ? value : undefined);
  const text = (value: SQLOutputValue | undefined) => (typeof value === 'string' ? value : undefined);
  return {
    id: Number(row.id),
    place: Number(row.place),
    sequence: Number(row.sequence),
    eventType: String(row.type),
    digest: text(row.digest),
    content: text(row.content),
    file: text(row.file),
    position: number(row.position),
    index: number(row.index),
    part: number(row.part),
    of: number(row.of),
    record: text(row.record),
    revision: number(row.revision),
  };
}
