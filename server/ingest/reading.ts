import { Problem } from '../../contract/problem.ts';
import { IdleWorker, type JobAsker } from '../idle-worker.ts';
import { DeadlineExceeded, SLICE_BYTES } from '../work.ts';
import { type ReadAppend, type RefusedAppend, readAppends, type ScanJob, type ScanReply } from './scan/read.ts';

/** Reads the bodies of appends. */
export interface Reading {
  /**
   * Reads each body separately. All bodies are views into one buffer. If they are large, a thread takes over the buffer, and
   * the caller may use only the result afterwards.
   * @throws Problem `service_unavailable`; the reason of the asker's signal
   */
  read(bodies: readonly Buffer[], asker: JobAsker): ReadBodies | Promise<ReadBodies>;
  close(): Promise<void>;
}

export type ReadBodies = (ReadAppend | RefusedAppend)[];

/** How many bytes of bodies may wait for the thread. */
const MAX_WAITING_BYTES = 128 * 1024 * 1024;

/** The longest body takes 140 ms on an idle processor. */
const DEADLINE_MS = 20_000;

const PROGRAM = new URL('./scan/scan-thread.ts', import.meta.url);

/** Reads small bodies at once, and large ones on a thread: 13 MB would block all other answers for up to 140 ms. */
export function createBodyScanner(onGivenUp?: () => void): Reading {
  const scanner = new IdleWorker<ScanJob, ScanReply>({ program: PROGRAM, name: 'scanner', deadlineMs: DEADLINE_MS });
  let waitingBytes = 0;

  async function readAside(bodies: readonly Buffer[], bytes: number, asker: JobAsker): Promise<ReadBodies> {
    if (waitingBytes + bytes > MAX_WAITING_BYTES) throw notNow('Too many large bodies wait to be read');
    waitingBytes += bytes;
    try {
      const job = { bodies: bodies as readonly Buffer<ArrayBuffer>[] };
      const memory = job.bodies.slice(0, 1).map(({ buffer }) => buffer);
      const reply = await scanner.ask(job, asker, memory).catch((error: Error) => {
        asker.signal?.throwIfAborted();
        if (error instanceof DeadlineExceeded) onGivenUp?.();
        throw notNow('The body could not be read', error);
      });
      if ('error' in reply) throw new Error(reply.error);
      return reply.answer;
    } finally {
      waitingBytes -= bytes;
    }
  }

  return {
    read(bodies, asker) {
      const bytes = bodies.reduce((sum, { byteLength }) => sum + byteLength, 0);
      return bytes <= SLICE_BYTES ? readAppends(bodies) : readAside(bodies, bytes, asker);
    },
    close: () => scanner.close(),
  };
}

const notNow = (what: string, cause?: Error) =>
  new Problem('service_unavailable', `${what}. Try again with the same idempotency key.`, { retryAfter: 1, cause });
