import { parentPort, workerData } from 'node:worker_threads';
import { readFacts } from './facts.ts';
import { derivePiece, type PieceJob } from './piece.ts';
import { costOfFacts, readPrices } from './prices.ts';

/** What the thread is asked: to derive a stretch, or to price facts once more. */
export type Job = PieceJob | { priced: string[] };
export type Reply = { answer: unknown } | { error: string };

const prices = readPrices(workerData as string | undefined);

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
