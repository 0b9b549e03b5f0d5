import { Damaged } from '../log/damaged.ts';
import { type JobAsker, OnDemand } from '../on-demand.ts';
import type { Reply } from './derive-program.ts';
import type { Slice, SliceJob } from './derive-slice.ts';

/** Runs the heavy part of deriving on its own thread. */
export interface DeriveThread {
  /** @returns undefined if it needs more of the stored data */
  derive(job: SliceJob, asker: JobAsker): Promise<Slice | undefined>;
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
export const memoryOf = ({ appends, stored }: SliceJob): ArrayBuffer[] =>
  [...appends.map(({ body }) => body), ...(stored?.earlier ?? [])].map(({ buffer }) => buffer as ArrayBuffer);

/** @param pricesFile as for `readPriceList` */
export function createDeriveThread(pricesFile?: string): DeriveThread {
  const thread = new OnDemand<SliceJob, Reply>({
    program: PROGRAM,
    name: 'indexer',
    workerData: pricesFile,
    deadlineMs: DEADLINE_MS,
    idleMs: IDLE_MS,
  });
  return {
    async derive(job, asker) {
      const reply = await thread.ask(job, asker, memoryOf(job));
      if (!('error' in reply)) return reply.slice;
      const reason = `a session could not be derived: ${reply.error}`;
      throw reply.isDamage ? new Damaged(reason) : new Error(reason);
    },
    close: () => thread.close(),
  };
}
