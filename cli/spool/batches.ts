import type { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import { SpoolDamaged } from './damage.ts';

/** Up to fifty events of a session as they will be sent, byte for byte, under their idempotency key. */
export interface Batch {
  id: number;
  session: number;
  key: string;
  events: number;
  /** The time of its first event, where it has one. */
  firstAt: number | undefined;
  encoding: string;
  body: Uint8Array;
  /** Which of its session's batches it is, from 1. */
  number: number;
  /** The tags of its records, see `packTags`. */
  records: Uint8Array;
}

export interface NewBatch extends Omit<Batch, 'id' | 'number'> {
  madeAt: number;
}

export interface Depth {
  batches: number;
  events: number;
  bytes: number;
  oldest: number | undefined;
}

export function createBatches(db: DatabaseSync, path: string) {
  const insert = db.prepare(`
    INSERT INTO batches (session, key, events, first_at, made_at, encoding, size, body, number, records, checksum)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const number = db.prepare('UPDATE sessions SET sealed = sealed + 1 WHERE id = ? RETURNING sealed');
  const next = db.prepare('SELECT * FROM batches WHERE session = ? AND id > ? ORDER BY id LIMIT 1');
  const waiting = db.prepare(`
    SELECT session, min(batches.id) AS first FROM batches JOIN sessions ON sessions.id = session
    WHERE agent NOT IN (SELECT value FROM json_each(?)) GROUP BY session ORDER BY first LIMIT ?`);
  const has = db.prepare('SELECT 1 FROM batches WHERE id = ?');
  const remove = db.prepare('DELETE FROM batches WHERE id = ?');
  const removeSession = db.prepare('DELETE FROM batches WHERE session = ? RETURNING events');
  const last = db.prepare('SELECT max(id) AS id FROM batches');
  const upTo = db.prepare('SELECT coalesce(sum(events), 0) AS events FROM batches WHERE id <= ?');
  const bytes = db.prepare('SELECT coalesce(sum(size), 0) AS bytes FROM batches INDEXED BY batches_session');
  const depth = db.prepare(`
    SELECT count(*) AS batches, coalesce(sum(events), 0) AS events, coalesce(sum(size), 0) AS bytes,
      min(made_at) AS oldest FROM batches`);
  const refuse = db.prepare('INSERT INTO refused (session, event, problem, refused_at) VALUES (?, ?, ?, ?)');
  const refused = db.prepare(
    'SELECT problem, count(*) AS events FROM refused GROUP BY problem ORDER BY events DESC LIMIT 5',
  );

  const refusedOf = db.prepare('SELECT event FROM refused WHERE session = ? ORDER BY id');

  const all = db.prepare('SELECT * FROM batches');

  /** Sent as it is, the service would refuse it for good. */
  function check(batch: Batch, checksum: unknown): void {
    if (!isIntact(batch, checksum)) throw new SpoolDamaged(path, `batch ${batch.id} has changed`);
  }

  return {
    add(batch: NewBatch): void {
      const { session, key, events, firstAt, madeAt, encoding, body, records } = batch;
      insert.run(
        ...[session, key, events, firstAt ?? null, madeAt, encoding, body.byteLength, body],
        ...[Number(number.get(session)?.sealed), records, checksumOf(batch)],
      );
    },
    /** The session's oldest batch after the given one. */
    next(session: number, after: number): Batch | undefined {
      const row = next.get(session, after);
      const batch = toBatch(row);
      if (batch) check(batch, row?.checksum);
      return batch;
    },
    /** Throws `SpoolDamaged` where one is not as it was written, which the structure does not tell. */
    examine(): void {
      for (const row of all.iterate()) check(toBatch(row) as Batch, row.checksum);
    },
    /** Sessions that have something to send, oldest first, but for those of the given agents. */
    waiting: (limit: number, without: readonly string[]) =>
      waiting.all(JSON.stringify(without), limit).map(({ session }) => Number(session)),
    /** False once it was acknowledged, or thrown away by a person. */
    has: (id: number): boolean => has.get(id) !== undefined,
    remove: (id: number) => remove.run(id),
    /** Throws away what of a session is not sent; returns the number of events. */
    removeSession: (session: number): number =>
      removeSession.all(session).reduce((sum, { events }) => sum + Number(events), 0),
    removeAll(): void {
      db.exec('DELETE FROM batches');
    },
    lastId: (): number => Number(last.get()?.id ?? 0),
    /** Events in batches up to an id. */
    eventsUpTo: (id: number): number => Number(upTo.get(id)?.events),
    bytes: (): number => Number(bytes.get()?.bytes),
    depth(): Depth {
      const row = depth.get();
      const oldest = row?.oldest;
      return {
        batches: Number(row?.batches),
        events: Number(row?.events),
        bytes: Number(row?.bytes),
        oldest: typeof oldest === 'number' ? oldest : undefined,
      };
    },
    refuse: (session: number, event: string, problem: string, at: number) => refuse.run(session, event, problem, at),
    /** The JSON texts of a session's refused events. */
    refusedOf: (session: number): string[] => refusedOf.all(session).map(({ event }) => String(event)),
    refused: () => refused.all().map(({ problem, events }) => ({ problem: String(problem), events: Number(events) })),
  };
}

export function checksumOf({ key, events, encoding, body, records }: Omit<Batch, 'id' | 'session' | 'number'>): number {
  return crc32(records, crc32(body, crc32(`${key} ${events} ${encoding}`)));
}

/** Those from before there were checksums are taken as they are. */
export const isIntact = (batch: Batch, checksum: unknown): boolean =>
  checksum === null || checksum === checksumOf(batch);

export function toBatch(row: Record<string, unknown> | undefined): Batch | undefined {
  if (row === undefined) return undefined;
  return {
    id: Number(row.id),
    session: Number(row.session),
    key: String(row.key),
    events: Number(row.events),
    firstAt: row.first_at === null ? undefined : Number(row.first_at),
    encoding: String(row.encoding),
    body: row.body as Uint8Array,
    number: Number(row.number),
    records: row.records as Uint8Array,
  };
}
