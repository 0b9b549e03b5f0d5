import { Worker } from 'node:worker_threads';
import { Problem } from '../../contract/problem.ts';
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

/** A thread that was not needed for so long ends. */
const IDLE_MS = 30_000;

const PROGRAM = new URL('./scan/scan-thread.ts', import.meta.url);

/** Small bodies are read at once. 13 MB take up to 140 ms, in which nobody else would be answered. */
export function createReading(): Reading {
  interface Waiting {
    resolve: (answer: never) => void;
    reject: (error: Error) => void;
  }
  interface Scanner {
    worker: Worker;
    /** Its own, since it may end after the next one was started. */
    waiting: Waiting[];
  }
  let scanner: Scanner | undefined;
  let waitingBytes = 0;
  let idle: NodeJS.Timeout | undefined;

  function start(): Scanner {
    const worker = new Worker(PROGRAM, { name: 'scanner' });
    const waiting: Waiting[] = [];
    const started = { worker, waiting };
    const end = (cause?: Error) => {
      if (scanner === started) scanner = undefined;
      for (const { reject } of waiting.splice(0)) reject(notNow('The body could not be read', cause));
    };
    worker.on('message', (reply: ScanReply) => {
      const first = waiting.shift();
      if ('answer' in reply) first?.resolve(reply.answer as never);
      else if ('problem' in reply) first?.reject(new Problem(reply.problem.code, reply.problem.error));
      else first?.reject(new Error(reply.error));
      if (waiting.length === 0) idle = setTimeout(() => void stop(), IDLE_MS).unref();
    });
    worker.on('error', end);
    worker.on('exit', () => end());
    return started;
  }

  async function stop(): Promise<void> {
    clearTimeout(idle);
    const ending = scanner;
    scanner = undefined;
    await ending?.worker.terminate();
  }

  async function readAside(job: ScanJob): Promise<never> {
    const bytes = job.body.byteLength;
    if (waitingBytes + bytes > MOST_WAITING_BYTES) throw notNow('Too many large bodies wait to be read');
    waitingBytes += bytes;
    try {
      return await hand(job);
    } finally {
      waitingBytes -= bytes;
    }
  }

  function hand(job: ScanJob): Promise<never> {
    clearTimeout(idle);
    scanner ??= start();
    const { worker, waiting } = scanner;
    worker.postMessage(job, [job.body.buffer]);
    return new Promise((resolve, reject) => void waiting.push({ resolve, reject }));
  }

  return {
    read(kind, body) {
      if (body.byteLength <= HEAVY_BYTES) return READERS[kind](body) as never;
      return readAside({ kind, body: body as Buffer<ArrayBuffer> });
    },
    close: stop,
  };
}

const notNow = (what: string, cause?: Error) =>
  new Problem('service_unavailable', `${what}. Try again with the same idempotency key.`, { retryAfter: 1, cause });
