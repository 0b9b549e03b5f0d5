import type { ChainHead } from '../../contract/chain.ts';
import { IdleWorker, type JobAsker } from '../idle-worker.ts';
import { Damaged } from '../log/damaged.ts';
import type { Failed, Reply, Request } from './derive-program.ts';
import type { Slice, SliceJob } from './derive-slice.ts';
import type { ChainJob } from './follow-appends.ts';

/** Runs the heavy part of deriving and of countersigning on a thread of their own. */
export interface DeriveThread {
  /** @returns undefined if it needs more of the stored data */
  derive(job: SliceJob, asker: JobAsker): Promise<Slice | undefined>;
  /** @returns the head after the events of the job */
  follow(job: ChainJob, asker: JobAsker): Promise<ChainHead>;
  close(): Promise<void>;
}

/** A job takes 10 to 100 ms on an idle processor. If it takes this long, it loops or its thread is starved. */
const DEADLINE_MS = 60_000;

/**
 * Sessions of agents at work are derived every 20 seconds. A thread that ended in between would start and read their open chunks again
 * each time.
 */
const IDLE_MS = 60_000;

const PROGRAM = new URL('./derive-program.ts', import.meta.url);

/** The memory that moves to the thread. The sender cannot use it afterwards. */
export const memoryOf = (job: SliceJob): ArrayBuffer[] => [
  ...bodiesOf(job),
  ...(job.stored?.earlier ?? []).map(({ buffer }) => buffer as ArrayBuffer),
];

const bodiesOf = ({ appends }: Pick<ChainJob, 'appends'>): ArrayBuffer[] =>
  appends.map(({ body }) => body.buffer as ArrayBuffer);

/** @param pricesFile as for `readPriceList` */
export function createDeriveThread(pricesFile?: string): DeriveThread {
  const thread = new IdleWorker<Request, Reply>({
    program: PROGRAM,
    name: 'indexer',
    workerData: pricesFile,
    deadlineMs: DEADLINE_MS,
    idleMs: IDLE_MS,
  });
  return {
    async derive(job, asker) {
      const reply = await thread.ask({ slice: job }, asker, memoryOf(job));
      if ('error' in reply) throw toError('a session could not be derived', reply);
      return 'slice' in reply ? reply.slice : undefined;
    },
    async follow(job, asker) {
      const reply = await thread.ask({ chain: job }, asker, bodiesOf(job));
      if ('error' in reply) throw toError('a session could not be countersigned', reply);
      if (!('head' in reply)) throw new Error('the thread answered another job');
      return reply.head;
    },
    close: () => thread.close(),
  };
}

function toError(what: string, { error, isDamage }: Failed): Error {
  const reason = `${what}: ${error}`;
  return isDamage ? new Damaged(reason) : new Error(reason);
}
