import { getAsset, isSea } from 'node:sea';
import { pathToFileURL } from 'node:url';
import { MessageChannel, type MessagePort, Worker, workerData } from 'node:worker_threads';
import { type ServeOptions, serve } from './serve.ts';

/** Where a worker finds its code. */
export type WorkerCode = { url: URL } | { source: string };

export interface RunningWorker {
  port: MessagePort;
  /** Blocks this thread until the worker says something. False when it does not in time. */
  waitFor(ms: number): boolean;
  hasEnded(): boolean;
  end(): void;
}

const TASK = 'redact';
/** What a single executable must carry the bundle as. */
export const ASSET = 'capture.cjs';
/** A record of 64 MB has been masked in 600. */
const HEAP_MEGABYTES = 1024;

/** Whether this code runs as the worker. Where all is one file, the program must not start there: see main.ts. */
export const isRedactionWorker =
  typeof workerData === 'object' && workerData !== null && (workerData as { task?: unknown }).task === TASK;

if (isRedactionWorker) serve(workerData as ServeOptions);

/** The file this is in: this one in the source tree, or the bundle that it has become part of, a CommonJS one perhaps. */
export function workerCode(): WorkerCode {
  if (isSea()) return { source: getAsset(ASSET, 'utf8') };
  return { url: typeof __filename === 'string' ? pathToFileURL(__filename) : new URL(import.meta.url) };
}

/** Starts a worker that keeps no process alive and can write nowhere. It tells once when it is ready. */
export function startWorker(code: WorkerCode, { key, allow }: Pick<ServeOptions, 'key' | 'allow'>): RunningWorker {
  const { port1, port2 } = new MessageChannel();
  const signal = new Int32Array(new SharedArrayBuffer(4));
  let heard = 0;
  let isEnded = false;
  const worker = new Worker('source' in code ? code.source : code.url, {
    eval: 'source' in code,
    name: 'capture redaction',
    workerData: { task: TASK, key, allow, port: port2, signal },
    transferList: [port2],
    env: {},
    execArgv: [],
    argv: [],
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MEGABYTES },
  });
  worker.unref();
  const end = () => {
    isEnded = true;
    port1.close();
    void worker.terminate();
  };
  // Its reason may quote a transcript; the record is withheld, which is counted.
  worker.on('error', end);
  worker.on('exit', end);

  return {
    port: port1,
    waitFor(ms) {
      const isHeard = Atomics.wait(signal, 0, heard, ms) !== 'timed-out';
      heard = Atomics.load(signal, 0);
      return isHeard;
    },
    hasEnded: () => isEnded,
    end,
  };
}
