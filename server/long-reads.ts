import { Problem } from '../contract/problem.ts';
import type { Store } from './store/open.ts';
import type { Db } from './store/schema.ts';
import { DeadlineExceeded, Queue } from './work.ts';

interface Reader {
  organizationId: string;
  userId: string;
}

/**
 * Runs reads that may take long, such as searches and counts of a text that may be masked. They share a few connections. Short queries, such as looking up a secret,
 * therefore always find a free connection.
 */
export interface LongReads {
  /**
   * Queues the read, and runs it.
   * @param signal is aborted when the person has gone away: the read leaves the queue, or sends no more queries
   * @throws Problem `service_unavailable` if too many reads of the organization wait, or the read took too long
   */
  run<Result>(
    reader: Reader,
    signal: AbortSignal,
    read: (db: Db, signal: AbortSignal) => Promise<Result>,
  ): Promise<Result>;
  /**
   * Runs reads one after the other until one has enough, or they have taken a second. Each one waits in the queue again, so that
   * others get their turns.
   * @returns the result of the last read
   */
  runOn<Result>(
    reader: Reader,
    signal: AbortSignal,
    read: (db: Db, signal: AbortSignal, before: Result | undefined) => Promise<Result>,
    isEnough: (result: Result) => boolean,
  ): Promise<Result>;
}

/** When reads that follow each other end, in milliseconds without the time in the queue. */
const ENOUGH_MS = 1_000;
/** The most waiting reads of one organization. */
const MAX_WAITING = 100;
/** Twice the `statement_timeout` of PostgreSQL. It does not include the time in the queue. */
const DEADLINE_MS = 30_000;

export function createLongReads({ longReads: { db, atOnce } }: Pick<Store, 'longReads'>, now: () => number): LongReads {
  const queue = new Queue({
    atOnce,
    // No organization may use all connections.
    atOncePerGroup: Math.ceil(atOnce / 2),
    maxWaiting: MAX_WAITING,
    deadlineMs: DEADLINE_MS,
    full: crowded,
  });
  const longReads: LongReads = {
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

    async runOn<Result>(...[reader, signal, read, isEnough]: Parameters<typeof longReads.runOn<Result>>) {
      let took = 0;
      let result: Result | undefined;
      for (;;) {
        const next: Result = await longReads.run(reader, signal, async (db, signal) => {
          const begun = now();
          const next = await read(db, signal, result);
          took += now() - begun;
          return next;
        });
        if (isEnough(next) || took >= ENOUGH_MS) return next;
        result = next;
      }
    },
  };
  return longReads;
}

/** The same store, but it refuses queries once the signal is aborted. */
const untilAborted = (db: Db, signal: AbortSignal): Db =>
  db.withPlugin({
    transformQuery({ node }) {
      signal.throwIfAborted();
      return node;
    },
    transformResult: async ({ result }) => result,
  });

const crowded = () =>
  new Problem(
    'service_unavailable',
    'Your organization runs too many searches, overviews and counts of texts at once. Try again.',
    {
      retryAfter: 1,
    },
  );

const tooLong = (cause: Error) =>
  new Problem(
    'service_unavailable',
    'This took too long. Try again later, or with a narrower search or a shorter period.',
    {
      retryAfter: 1,
      cause,
    },
  );
