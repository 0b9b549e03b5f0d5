import { readlinkSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { readFacts } from './facts.ts';
import { derivePiece, type PieceJob } from './piece.ts';
import { costOfFacts, readPrices } from './prices.ts';

/** What the thread is asked: to derive a stretch, or to price facts once more. */
export type Job = PieceJob | { priced: string[] };
export type Reply = { answer: unknown } | { error: string };

const prices = readPrices(workerData as string | undefined);

yieldToOthers();

/** Decompresses, parses and folds beside the thread that answers. */
parentPort?.on('message', (job: Job) => {
  try {
    parentPort?.postMessage({ answer: work(job) } satisfies Reply);
  } catch (error) {
    parentPort?.postMessage({ error: (error as Error).message } satisfies Reply);
  }
});

const work = (job: Job) =>
  'priced' in job
    ? job.priced.map((facts) => costOfFacts(readFacts(facts), prices))
    : derivePiece(job, (facts) => costOfFacts(facts, prices));

/** Where processors are few, appends and answers come first. On Linux a thread has a priority of its own, elsewhere it stays. */
function yieldToOthers(): void {
  if (process.platform !== 'linux') return;
  try {
    const thread = readlinkSync('/proc/thread-self').split('/').at(-1);
    // Below the rest of the process, which may run under nice itself. 19 is the lowest priority there is.
    setPriority(Number(thread), Math.min(19, getPriority() + constants.priority.PRIORITY_BELOW_NORMAL));
  } catch {
    // Without /proc it is derived at the priority of all.
  }
}
