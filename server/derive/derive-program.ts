import { readlinkSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import type { ChainHead } from '../../contract/chain.ts';
import { Damaged } from '../log/damaged.ts';
import { deriveSlice, type Slice, type SliceJob } from './derive-slice.ts';
import { type ChainJob, followAppends } from './follow-appends.ts';
import { KeptSessions } from './kept-sessions.ts';
import { readPrices } from './prices/prices.ts';

export type Request = { slice: SliceJob } | { chain: ChainJob };
export type Reply = { slice: Slice | undefined } | { head: ChainHead } | Failed;
export interface Failed {
  error: string;
  isDamage: boolean;
}

const kept = new KeptSessions();
const prices = readPrices(workerData as string | undefined);

yieldToOthers();

/** Decompresses, parses, folds and hashes on its own thread, beside the thread that answers. */
parentPort?.on('message', (request: Request) => {
  try {
    parentPort?.postMessage(answer(request));
  } catch (error) {
    const isDamage = error instanceof Damaged;
    parentPort?.postMessage({ error: (error as Error).message, isDamage } satisfies Reply);
  }
});

const answer = (request: Request): Reply =>
  'chain' in request ? { head: followAppends(request.chain) } : { slice: deriveSlice(request.slice, prices, kept) };

/** Gives appends and answers priority on machines with few processors. Only Linux gives each thread its own priority. */
function yieldToOthers(): void {
  if (process.platform !== 'linux') return;
  try {
    const thread = readlinkSync('/proc/thread-self').split('/').at(-1);
    // The priority is below the rest of the process, which may itself run under nice. 19 is the lowest priority.
    setPriority(Number(thread), Math.min(19, getPriority() + constants.priority.PRIORITY_BELOW_NORMAL));
  } catch {
    // Without /proc the thread keeps the priority of the process.
  }
}
