import { Problem } from '../../contract/problem.ts';
import { createOnDemand } from '../on-demand.ts';
import { HEAVY_BYTES } from '../turns.ts';
import { READERS, type Readers, type ScanJob, type ScanReply } from './scan/read.ts';

/** Reads the bodies of appends. */
export interface Reading {
  /**
   * A large body is read on another thread, which takes its memory: only what is returned may be used after that.
   * @throws Problem `malformed_json`, `validation_failed`
   */
  read<Kind extends keyof Readers>(
    kind: Kind,
    body: Buffer,
  ): ReturnType<Readers[Kind]> | Promise<ReturnType<Readers[Kind]>>;
  close(): Promise<void>;
}

/** Bytes of bodies that wait for the thread, whether or not their senders still do. */
const MOST_WAITING_BYTES = 128 * 1024 * 1024;

const PROGRAM = new URL('./scan/scan-thread.ts', import.meta.url);

/** Small bodies are read at once. 13 MB take up to 140 ms, in which nobody else would be answered. */
export function createReading(): Reading {
  const scanner = createOnDemand<ScanJob, ScanReply>(PROGRAM, 'scanner');
  let waitingBytes = 0;

  async function readAside(job: ScanJob): Promise<never> {
    const bytes = job.body.byteLength;
    if (waitingBytes + bytes > MOST_WAITING_BYTES) throw notNow('Too many large bodies wait to be read');
    waitingBytes += bytes;
    try {
      const reply = await scanner.ask(job, [job.body.buffer]).catch((error: Error) => {
        throw notNow('The body could not be read', error);
      });
      if ('problem' in reply) throw new Problem(reply.problem.code, reply.problem.error);
      if ('error' in reply) throw new Error(reply.error);
      return reply.answer as never;
    } finally {
      waitingBytes -= bytes;
    }
  }

  return {
    read(kind, body) {
      if (body.byteLength <= HEAVY_BYTES) return READERS[kind](body) as never;
      return readAside({ kind, body: body as Buffer<ArrayBuffer> });
    },
    close: scanner.close,
  };
}

const notNow = (what: string, cause?: Error) =>
  new Problem('service_unavailable', `${what}. Try again with the same idempotency key.`, { retryAfter: 1, cause });
