import { Worker } from 'node:worker_threads';

/** A thread that is started when there is work for it, and ends when there was none for a while. */
export interface OnDemand<Job, Reply> {
  /**
   * Jobs are done in the order in which they are handed in.
   * @param transfer memory that goes over to the thread
   * @throws when the thread ended before it had replied
   */
  ask(job: Job, transfer?: readonly ArrayBuffer[]): Promise<Reply>;
  close(): Promise<void>;
}

/** A thread that was not needed for so long ends. */
const IDLE_MS = 30_000;

export function createOnDemand<Job, Reply>(program: URL, name: string, workerData?: unknown): OnDemand<Job, Reply> {
  interface Waiting {
    resolve: (reply: Reply) => void;
    reject: (error: Error) => void;
  }
  interface Thread {
    worker: Worker;
    /** Its own, since it may end after the next one was started. */
    waiting: Waiting[];
  }
  let thread: Thread | undefined;
  let idle: NodeJS.Timeout | undefined;

  function start(): Thread {
    const worker = new Worker(program, { name, workerData });
    const waiting: Waiting[] = [];
    const started = { worker, waiting };
    const end = (cause?: Error) => {
      if (thread === started) thread = undefined;
      for (const { reject } of waiting.splice(0)) reject(new Error(`the thread "${name}" ended`, { cause }));
    };
    worker.on('message', (reply: Reply) => {
      waiting.shift()?.resolve(reply);
      if (waiting.length === 0) idle = setTimeout(() => void stop(), IDLE_MS).unref();
    });
    worker.on('error', end);
    worker.on('exit', () => end());
    return started;
  }

  async function stop(): Promise<void> {
    clearTimeout(idle);
    const ending = thread;
    thread = undefined;
    await ending?.worker.terminate();
  }

  return {
    ask(job, transfer = []) {
      clearTimeout(idle);
      thread ??= start();
      const { worker, waiting } = thread;
      worker.postMessage(job, [...transfer]);
      return new Promise((resolve, reject) => void waiting.push({ resolve, reject }));
    },
    close: stop,
  };
}
