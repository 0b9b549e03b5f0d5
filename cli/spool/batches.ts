import type { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import { SpoolDamaged } from './damage.ts';
import type { EventDigests } from './event-digests.ts';

/** Up to fifty events of a session, byte for byte as they will be sent, under their idempotency key. */
export interface Batch extends EventDigests {
  id: number;
  session: number;
  key: string;
  events: number;
  /** `{"events":[…]}` in a zstd frame, ready for a request. */
  body: Uint8Array;
  /** Milliseconds since 1970. */
  madeAt: number;
}

export interface Depth {
  batches: number;
  events: number;
  bytes: number;
  /** When the oldest batch was made, in milliseconds since 1970. */
  oldest: number | undefined;
}

/** The waiting events of a session, for people to look at and decide on. */
export interface Waiting extends Depth {
  session: number;
}

/** Which sessions are sent first: those that have waited longest, or those that were captured last. */
export type SendingOrder = 'oldest' | 'newest';

/** Selects sessions. Times are in milliseconds since 1970. */
export interface WaitingQuery {
  order: SendingOrder;
  limit: number;
  /** Only sessions that were written to since this time. */
  changedSince: number;
  without: readonly number[];
  /** Deferred sessions count once their time has come. */
  now: number;
}

/** The waiting events of an excluded session stay here, because the exclusion may be taken back. */
export const SENT = 'session NOT IN (SELECT session FROM kept_back)';

/** No session is deferred for longer. A later time was set while the clock was ahead. */
const MAX_DEFERRAL_MS = 24 * 60 * 60 * 1000;

const SELECT_WAITING = `
  SELECT session, min(batches.id) AS first, max(batches.id) AS last FROM batches JOIN sessions ON sessions.id = session
  WHERE coalesce(changed_at, 0) >= ? AND session NOT IN (SELECT value FROM json_each(?))
    AND ${SENT} AND (sending = 'waiting' OR deferred_until NOT BETWEEN ? + 1 AND ? + ${MAX_DEFERRAL_MS})
  GROUP BY session ORDER BY`;

export function createBatches(db: DatabaseSync, path: string) {
  const insert = db.prepare(`
    INSERT INTO batches (session, key, events, made_at, size, body, digests, marks, checksum)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const next = db.prepare('SELECT * FROM batches WHERE session = ? AND id > ? ORDER BY id LIMIT 1');
  const waiting = {
    oldest: db.prepare(`${SELECT_WAITING} first LIMIT ?`),
    newest: db.prepare(`${SELECT_WAITING} last DESC LIMIT ?`),
  };
  const has = db.prepare(`SELECT 1 FROM batches WHERE id = ? AND ${SENT}`);
  const isWaiting = db.prepare(`SELECT 1 FROM batches WHERE session = ? AND ${SENT} LIMIT 1`);
  const replace = db.prepare(`
    UPDATE batches SET key = ?, events = ?, size = ?, body = ?, digests = ?, marks = ?, checksum = ? WHERE id = ?`);
  const remove = db.prepare('DELETE FROM batches WHERE id = ?');
  const removeSession = db.prepare('DELETE FROM batches WHERE session = ? RETURNING events');
  const last = db.prepare('SELECT max(id) AS id FROM batches');
  const upTo = db.prepare(`SELECT coalesce(sum(events), 0) AS events FROM batches WHERE id <= ? AND ${SENT}`);
  const bytes = db.prepare('SELECT coalesce(sum(size), 0) AS bytes FROM batches INDEXED BY batches_session');
  const bytesToSend = db.prepare(
    `SELECT coalesce(sum(size), 0) AS bytes FROM batches INDEXED BY batches_session WHERE ${SENT}`,
  );
  const sessions = db.prepare('SELECT DISTINCT session FROM batches');
  const unfinished = db.prepare(`
    SELECT agent, agent_session AS session FROM sessions WHERE state = 'open' OR id IN (SELECT session FROM batches)`);
  const keptBack = db.prepare(`SELECT DISTINCT session FROM batches WHERE NOT (${SENT})`);
  const SUMS = `count(*) AS batches, coalesce(sum(events), 0) AS events, coalesce(sum(size), 0) AS bytes,
    min(made_at) AS oldest`;
  const depth = db.prepare(`SELECT ${SUMS} FROM batches WHERE ${SENT}`);
  const perSession = db.prepare(`SELECT session, ${SUMS} FROM batches WHERE ${SENT} GROUP BY session ORDER BY oldest`);
  const all = db.prepare('SELECT * FROM batches');

  /** If a changed batch were sent, the service would refuse it for good. */
  function check(row: Record<string, unknown>): void {
    if (row.checksum === checksumOf(toBatch(row))) return;
    throw new SpoolDamaged(path, `batch ${row.id} has changed`);
  }

  return {
    add(batch: Omit<Batch, 'id'>): void {
      const { session, key, events, body, digests, marks, madeAt } = batch;
      const counts = JSON.stringify(marks);
      insert.run(session, key, events, madeAt, body.byteLength, body, digests, counts, checksumOf(batch));
    },
    /** The waiting batches of a session, the oldest first. Batches may be added or removed during the iteration. */
    *ofSession(session: number): Generator<Batch> {
      for (let row = next.get(session, 0); row; row = next.get(session, row.id as number)) {
        check(row);
        yield toBatch(row);
      }
    },
    /** Throws `SpoolDamaged` if a batch has changed since it was written. The structure check does not find that. */
    examine(): void {
      for (const row of all.iterate()) check(row);
    },
    /** Sessions that have something to send now, except `without`. */
    waiting: ({ order, limit, changedSince, without, now }: WaitingQuery): number[] =>
      waiting[order].all(changedSince, JSON.stringify(without), now, now, limit).map(({ session }) => Number(session)),
    /** False once the batch was acknowledged, or once a person kept it back or threw it away. */
    has: (id: number): boolean => has.get(id) !== undefined,
    /** Whether any batch of a session waits to be sent. */
    isWaiting: (session: number): boolean => isWaiting.get(session) !== undefined,
    /** Replaces a batch with fewer events under a new key. */
    replace(batch: Batch): void {
      const { id, key, events, body, digests, marks } = batch;
      replace.run(key, events, body.byteLength, body, digests, JSON.stringify(marks), checksumOf(batch), id);
    },
    remove: (id: number) => remove.run(id),
    /** Throws away a session's unsent events. Returns how many there were. */
    removeSession: (session: number): number =>
      removeSession.all(session).reduce((sum, { events }) => sum + Number(events), 0),
    removeAll(): void {
      db.exec('DELETE FROM batches');
    },
    lastId: (): number => Number(last.get()?.id ?? 0),
    /** The number of events in the batches whose id is at most this one. */
    eventsUpTo: (id: number): number => Number(upTo.get(id)?.events),
    /** The bytes of all batches, including those of excluded sessions. */
    bytes: (): number => Number(bytes.get()?.bytes),
    bytesToSend: (): number => Number(bytesToSend.get()?.bytes),
    /** The sessions of all batches, including excluded ones. */
    sessions: (): number[] => sessions.all().map(({ session }) => Number(session)),
    /** Sessions with batches, and open ones, by the agents' names for them. */
    unfinished: (): { agent: string; session: string }[] =>
      unfinished.all().map(({ agent, session }) => ({ agent: String(agent), session: String(session) })),
    /** Excluded sessions that still have batches here. */
    keptBack: (): number[] => keptBack.all().map(({ session }) => Number(session)),
    depth: (): Depth => toDepth(depth.get() ?? {}),
    /** Sessions with waiting events. The longest wait comes first. */
    perSession: (): Waiting[] => perSession.all().map((row) => ({ session: Number(row.session), ...toDepth(row) })),
  };
}

function toDepth({ batches, events, bytes, oldest }: Record<string, unknown>): Depth {
  return {
    batches: Number(batches),
    events: Number(events),
    bytes: Number(bytes),
    oldest: typeof oldest === 'number' ? oldest : undefined,
  };
}

const toBatch = ({ id, session, key, events, body, digests, marks, made_at }: Record<string, unknown>): Batch => ({
  id: Number(id),
  session: Number(session),
  key: String(key),
  events: Number(events),
  body: body as Uint8Array,
  digests: digests as Uint8Array,
  marks: JSON.parse(String(marks)) as Batch['marks'],
  madeAt: Number(made_at),
});

const checksumOf = ({ key, events, body, digests, marks }: Omit<Batch, 'id' | 'session' | 'madeAt'>): number =>
  crc32(body, crc32(digests, crc32(`${key} ${events} ${JSON.stringify(marks)}`)));
