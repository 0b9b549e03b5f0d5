import type { DatabaseSync } from 'node:sqlite';
import { type Batch, toBatch } from './batches.ts';

/** What waits of a session, for people to look at and decide on. */
export interface Waiting {
  session: number;
  batches: number;
  events: number;
  /** As they lie in the spool, compressed. */
  bytes: number;
  /** When the oldest batch was made, in milliseconds since 1970. */
  oldest: number;
}

/** An event that the service refused, and why. */
export interface Refused {
  session: number;
  /** Its JSON text. */
  event: string;
  problem: string;
  refusedAt: number;
}

export function createWaiting(db: DatabaseSync) {
  const perSession = db.prepare(`
    SELECT session, count(*) AS batches, sum(events) AS events, sum(size) AS bytes, min(made_at) AS oldest
    FROM batches GROUP BY session ORDER BY oldest`);
  const batches = db.prepare('SELECT * FROM batches WHERE session = ? ORDER BY id');
  const refused = db.prepare('SELECT session, event, problem, refused_at FROM refused ORDER BY id');
  const removeRefused = db.prepare('DELETE FROM refused');

  return {
    /** Of each session of which something waits; what has waited longest comes first. */
    perSession: (): Waiting[] =>
      perSession.all().map(({ session, batches: count, events, bytes, oldest }) => ({
        session: Number(session),
        batches: Number(count),
        events: Number(events),
        bytes: Number(bytes),
        oldest: Number(oldest),
      })),
    /** A session's batches in their order, one at a time in memory. */
    *batches(session: number): Generator<Batch> {
      for (const row of batches.iterate(session)) yield toBatch(row) as Batch;
    },
    *refused(): Generator<Refused> {
      for (const row of refused.iterate()) {
        const { session, event, problem, refused_at } = row;
        yield {
          session: Number(session),
          event: String(event),
          problem: String(problem),
          refusedAt: Number(refused_at),
        };
      }
    },
    /** Throws them away; returns how many they were. */
    removeRefused: (): number => Number(removeRefused.run().changes),
  };
}
