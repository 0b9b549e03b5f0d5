import { Worker } from 'node:worker_threads';
import type { Answers, Job, Replies, SentError, ThreadOptions } from './jobs.ts';

export interface Thread {
  /** Settled once the file is open. */
  ready: Promise<void>;
  /** Jobs are done in the order in which they are handed in. Rejects with the engine's error. */
  run<J extends Job>(job: J): Promise<Answers[J['kind']]>;
  /** How long its oldest job has been waiting for its reply, in ms. */
  lag(): number;
  /** Whether it takes no more jobs. */
  readonly isGone: boolean;
  close(): Promise<void>;
}

/** A thread that ended by itself, and of which nobody knows what it had done. To be answered 503. */
export class ThreadEnded extends Error {
  readonly code = 'ERR_INVALID_STATE';
}

const PROGRAM = new URL('./thread.ts', import.meta.url);

/** Starts a thread with a connection of its own. `onError` is told of each error of the engine. */
export function startThread(options: ThreadOptions, onError: (error: Error) => void): Thread {
  interface Waiting {
    resolve: (answer: unknown) => void;
    reject: (error: Error) => void;
    since: number;
  }
  const worker = new Worker(PROGRAM, { workerData: options, name: options.readOnly ? 'reader' : 'writer' });
  const waiting: Waiting[] = [];
  let gone: Error | undefined;

  const expectReply = () =>
    new Promise<unknown>((resolve, reject) => void waiting.push({ resolve, reject, since: performance.now() }));
  const ready = expectReply().then(() => undefined);
  ready.catch(end);

  worker.on('message', (replies: Replies) => {
    for (const reply of replies) {
      const first = waiting.shift();
      if ('answer' in reply) {
        first?.resolve(reply.answer);
        continue;
      }
      const error = toError(reply.error);
      onError(error);
      first?.reject(error);
    }
  });
  worker.on('error', endUnasked);
  worker.on('exit', () => endUnasked());

  function endUnasked(cause?: Error): void {
    const isAsked = gone !== undefined;
    const error = gone ?? new ThreadEnded('a thread of the store ended', { cause });
    end(error);
    if (!isAsked) onError(error);
  }

  function end(error: Error): void {
    gone ??= error;
    for (const { reject } of waiting.splice(0)) reject(error);
  }

  return {
    ready,
    lag: () => (waiting[0] ? performance.now() - waiting[0].since : 0),
    get isGone() {
      return gone !== undefined;
    },
    run(job) {
      if (gone) return Promise.reject(gone);
      worker.postMessage(job, handedOver(job));
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

/** How long a job waits in line before another thread is started for it; each takes about 11 MB. */
const PATIENCE_MS = 10;

/** Runs each job on a thread that is free, starting up to `most` as they are needed; those that find none wait in line. */
export function createPool(start: () => Thread, most: number): Pick<Thread, 'run' | 'close'> {
  const threads = new Set<Thread>();
  const free: Thread[] = [];
  const inLine: ((thread: Thread) => void)[] = [];
  let closed = false;

  function obtain(): Thread | Promise<Thread> {
    const thread = free.pop();
    if (thread) return thread;
    if (threads.size === 0) return startOne();
    return new Promise((resolve) => {
      inLine.push(resolve);
      if (threads.size < most) setTimeout(startForLine, PATIENCE_MS);
    });
  }

  /** Another is worth its memory only where somebody has waited. */
  function startForLine(): void {
    if (inLine.length > 0 && threads.size < most && !closed) release(startOne());
  }

  function startOne(): Thread {
    const thread = start();
    threads.add(thread);
    return thread;
  }

  function release(thread: Thread): void {
    const next = inLine.shift();
    // Another takes the place of one that has ended, unless all are to.
    const isReplaced = thread.isGone && !closed;
    if (isReplaced) threads.delete(thread);
    if (next) next(isReplaced ? startOne() : thread);
    else if (!isReplaced) free.push(thread);
  }

  return {
    async run(job) {
      if (closed) throw closedError();
      const thread = await obtain();
      try {
        return await thread.run(job);
      } finally {
        release(thread);
      }
    },
    async close() {
      closed = true;
      await Promise.all([...threads].map((thread) => thread.close()));
    },
  };
}

/** Memory that goes over to the thread; what is small is copied in less time than it takes to hand it over. */
function handedOver(job: Job): ArrayBuffer[] {
  if (job.kind !== 'append' || job.batch.body.byteLength < SMALLEST_HANDED_OVER) return [];
  return [job.batch.body.buffer];
}

const SMALLEST_HANDED_OVER = 32 * 1024;

const toError = ({ message, ...rest }: SentError) => Object.assign(new Error(message), rest);

/** As `node:sqlite` says it of a connection that is closed. */
const closedError = () => Object.assign(new Error('the store is closed'), { code: 'ERR_INVALID_STATE' });
