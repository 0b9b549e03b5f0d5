import { setTimeout as sleep } from 'node:timers/promises';
import type { Spool } from '../spool/open.ts';

/**
 * Most unsent bytes in the spool before reading waits for sending: transcripts keep better in place. While nothing is
 * being sent it does not wait, since an agent may delete a transcript before the service is back.
 */
const SPOOL_BYTES = 64 * 1024 * 1024;

export interface GiveWayOptions {
  isStopped: () => boolean;
  /** Whether what is spooled is being sent. */
  isFlowing: () => boolean;
}

/** Lets requests move on between two commits, and waits while much is on its way. */
export async function giveWay(spool: Spool, { isStopped, isFlowing }: GiveWayOptions): Promise<void> {
  await sleep(0);
  while (!isStopped() && isFlowing() && spool.batches.bytesToSend() > SPOOL_BYTES) await sleep(50);
}
