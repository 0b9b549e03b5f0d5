import { readlinkSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { deriveSlice, type Slice, type SliceJob } from './derive-slice.ts';
import { KeptSessions } from './kept-sessions.ts';
import { readPrices } from './prices.ts';

export type Reply = { slice: Slice | undefined } | { error: string };

const kept = new KeptSessions();
const prices = readPrices(workerData as string | undefined);

yieldToOthers();

/** Decompresses, parses and folds beside the thread that answers. */
parentPort?.on('message', (job: SliceJob) => {
  try {
    parentPort?.postMessage({ slice: deriveSlice(job, prices.costOf, kept) } satisfies Reply);
  } catch (error) {
    parentPort?.postMessage({ error: (error as Error).message } satisfies Reply);
  }
});

/** Appends and answers come first where processors are few. Only Linux gives each thread a priority of its own. */
function yieldToOthers(): void {
  if (process.platform !== 'linux') return;
  try {
    const thread = readlinkSync('/proc/thread-self').split('/').at(-1);
    // Below the rest of the process, which may run under nice itself. 19 is the lowest priority there is.
    setPriority(Number(thread), Math.min(19, getPriority() + constants.priority.PRIORITY_BELOW_NORMAL));
  } catch {
    // Without /proc the thread keeps the priority of the process.
  }
}
