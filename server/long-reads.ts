import { Problem } from '../contract/problem.ts';
import type { Db, Store } from './store/open.ts';
import { DeadlineExceeded, Queue } from './work.ts';

interface Reader {
  organizationId: string;
  userId: string;
}

/**
 * Reads that may take long, such as searches. All organizations together have a small allowance of connections for them,
 * so that what must be answered at once, such as the look-up of a secret, finds a connection free.
 */
export interface LongReads {
  /**
   * Reads when it is the person's turn.
   * @param signal aborted when the person has gone away: the read leaves the queue, or asks the store nothing more
   * @throws Problem `service_unavailable` where too many of the organization's reads wait, or the read took too long
   */
  run<Result>(
    reader: Reader,
    signal: AbortSignal,
    read: (db: Db, signal: AbortSignal) => Promise<Result>,
  ): Promise<Result>;
}

/** Reads of one organization that wait. */
const MOST_WAITING = 100;
/** Twice what PostgreSQL gives a statement. Time in the queue does not count. */
const DEADLINE_MS = 30_000;

export function createLongReads({ longReads: { db, atOnce } }: Pick<Store, 'longReads'>): LongReads {
  const queue = new Queue({
    atOnce,
    // One organization alone leaves room to the next.
    atOncePerGroup: Math.ceil(atOnce / 2),
    mostWaiting: MOST_WAITING,
    deadlineMs: DEADLINE_MS,
    full: crowded,
  });
  return {
    async run({ organizationId, userId }, signal, read) {
      try {
        return await queue.run((signal) => read(untilAborted(db, signal), signal), {
          group: organizationId,
          person: userId,
          signal,
        });
      } catch (error) {
        throw error instanceof DeadlineExceeded ? tooLong(error) : error;
      }
    },
  };
}

/** The store, which is asked nothing more once the signal is aborted. */
const untilAborted = (db: Db, signal: AbortSignal): Db =>
  db.withPlugin({
    transformQuery({ node }) {
      signal.throwIfAborted();
      return node;
    },
    transformResult: async ({ result }) => result,
  });

const crowded = () =>
  new Problem('service_unavailable', 'Your organization asks for too much of this at once. Try again.', {
    retryAfter: 1,
  });

const tooLong = (cause: Error) =>
  new Problem('service_unavailable', 'This took too long to find. Try again, and ask for less at once.', {
    retryAfter: 1,
    cause,
  });
