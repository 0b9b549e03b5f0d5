import { setTimeout as sleep } from 'node:timers/promises';
import type { Spool } from '../spool/open.ts';

/** What may lie in the spool before reading waits for sending: transcripts keep better where they are. */
const SPOOL_BYTES = 64 * 1024 * 1024;

/** Lets requests move on between two commits, and waits while the spool is full. */
export async function giveWay(spool: Spool, isStopped: () => boolean): Promise<void> {
  await sleep(0);
  while (spool.batches.bytes() > SPOOL_BYTES && !isStopped()) await sleep(50);
}
