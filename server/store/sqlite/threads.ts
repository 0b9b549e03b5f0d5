import { Worker } from 'node:worker_threads';
import type { Answers, Job, Reply, SentError, ThreadOptions } from './jobs.ts';

export interface Thread {
  /** Settled once the file is open. */
  ready: Promise<void>;
  /** Jobs are done in the order in which they are handed in. Rejects with the engine's error. */
  run<J extends Job>(job: J): Promise<Answers[J['kind']]>;
  close(): Promise<void>;
}

const PROGRAM = new URL('./thread.ts', import.meta.url);

/** Starts a thread with a connection of its own. `onError` is told of each error of the engine. */
export function startThread(options: ThreadOptions, onError: (error: Error) => void): Thread {
  interface Waiting {
    resolve: (answer: unknown) => void;
    reject: (error: Error) => void;
  }
  const worker = new Worker(PROGRAM, { workerData: options, name: options.readOnly ? 'reader' : 'writer' });
  const waiting: Waiting[] = [];
  let gone: Error | undefined;

  const expectReply = () => new Promise<unknown>((resolve, reject) => void waiting.push({ resolve, reject }));
  const ready = expectReply().then(() => undefined);
  // Whoever awaits it is told; nobody need.
  ready.catch(() => undefined);

  worker.on('message', (reply: Reply) => {
    const first = waiting.shift();
    if (!('error' in reply)) return first?.resolve(reply.answer);
    const error = toError(reply.error);
    onError(error);
    first?.reject(error);
  });
  worker.on('error', end);
  worker.on('exit', () => end(closedError()));

  function end(error: Error): void {
    if (!gone) gone = error;
    for (const { reject } of waiting.splice(0)) reject(error);
  }

  return {
    ready,
    run(job) {
      if (gone) return Promise.reject(gone);
      worker.postMessage(job);
      return expectReply() as Promise<never>;
    },
    async close() {
      if (gone) return;
      worker.postMessage({ kind: 'close' } satisfies Job);
      gone = closedError();
      await expectReply().catch(() => undefined);
      await worker.terminate();
    },
  };
}

/** Runs each job on a thread that is free, starting up to `most`; those that find none wait in line. */
export function createPool(start: () => Thread, most: number): Pick<Thread, 'run' | 'close'> {
  const threads: Thread[] = [];
  const free: Thread[] = [];
  const inLine: ((thread: Thread) => void)[] = [];

  function obtain(): Thread | Promise<Thread> {
    const thread = free.pop();
    if (thread) return thread;
    if (threads.length >= most) return new Promise((resolve) => void inLine.push(resolve));
    const started = start();
    threads.push(started);
    return started;
  }

  function release(thread: Thread): void {
    const next = inLine.shift();
    if (next) next(thread);
    else free.push(thread);
  }

  return {
    async run(job) {
      const thread = await obtain();
      try {
        return await thread.run(job);
      } finally {
        release(thread);
      }
    },
    async close() {
      await Promise.all(threads.map((thread) => thread.close()));
    },
  };
}

const toError = ({ message, ...rest }: SentError) => Object.assign(new Error(message), rest);

/** As `node:sqlite` says it of a connection that is closed. */
const closedError = () => Object.assign(new Error('the store is closed'), { code: 'ERR_INVALID_STATE' });
