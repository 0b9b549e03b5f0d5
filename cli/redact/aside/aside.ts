import { receiveMessageOnPort } from 'node:worker_threads';
import type { CapturedEvent } from '../../../contract/transcript.ts';
import { parseExact } from '../../read/exact.ts';
import type { Reply, Request } from './serve.ts';
import { type RunningWorker, startWorker, type WorkerCode, workerCode } from './worker.ts';

/** What became of a record: masked (no event: nothing was to be masked), not in time, not at all, or nobody to do it. */
export type Outcome =
  | { kind: 'done'; event: CapturedEvent | undefined }
  | { kind: 'late' }
  | { kind: 'failed' }
  | { kind: 'unavailable' };

/** Takes the records that need more time than the pipeline has patience. */
export interface Aside {
  redact(event: CapturedEvent): Outcome;
}

export interface AsideOptions {
  key: Uint8Array;
  allow: readonly string[];
  /** The secrets of this machine, as far as they are known by now. */
  known: () => string[];
  code?: () => WorkerCode;
  limits?: Limits;
}

export interface Limits {
  startMs: number;
  /** For any record, and for each megabyte of it: time grows in line with size, and a large record is no attack. */
  recordMs: number;
  megabyteMs: number;
  /** Without anything to do the worker ends, and gives its memory back. */
  idleMs: number;
}

export const LIMITS: Limits = { startMs: 10_000, recordMs: 2000, megabyteMs: 100, idleMs: 5000 };

/**
 * A worker thread that the caller waits for without awaiting: the pipeline commits its cursor and its events together
 * and may let nothing else in between. A worker that does not answer in time is ended, whatever it is doing.
 */
export function createAside({ key, allow, known, code = workerCode, limits = LIMITS }: AsideOptions): Aside {
  let running: RunningWorker | undefined;
  let isUnusable = false;
  let idle: NodeJS.Timeout | undefined;
  let told = 0;

  function ensureWorker(): RunningWorker | undefined {
    if (running?.hasEnded() === false) return running;
    if (isUnusable) return undefined;
    told = 0;
    isUnusable = true;
    running = startWorker(code(), { key, allow });
    isUnusable = !running.waitFor(limits.startMs);
    if (!isUnusable) return running;
    end();
    return undefined;
  }

  function end(): void {
    clearTimeout(idle);
    running?.end();
    running = undefined;
  }

  function ask(worker: RunningWorker, event: CapturedEvent): Outcome {
    const json = writeJson(event);
    if (json === undefined) return { kind: 'unavailable' };
    const values = known();
    // Values are only ever added, so their number tells whether there are new ones.
    const request: Request = values.length === told ? { json } : { json, known: values };
    told = values.length;
    worker.port.postMessage(request);
    if (!worker.waitFor(limits.recordMs + (limits.megabyteMs * json.length) / 1e6)) {
      end();
      return { kind: 'late' };
    }
    const reply = receiveMessageOnPort(worker.port)?.message as Reply | undefined;
    if (reply === undefined || reply.failed) return { kind: 'failed' };
    return { kind: 'done', event: reply.json === undefined ? undefined : (parseExact(reply.json) as CapturedEvent) };
  }

  return {
    redact(event) {
      clearTimeout(idle);
      try {
        const worker = ensureWorker();
        return worker === undefined ? { kind: 'unavailable' } : ask(worker, event);
      } catch {
        return { kind: isUnusable ? 'unavailable' : 'failed' };
      } finally {
        idle = setTimeout(end, limits.idleMs).unref();
      }
    },
  };
}

/** Undefined for what is nested deeper than the stack: it is masked where it is. */
function writeJson(event: CapturedEvent): string | undefined {
  try {
    return JSON.stringify(event);
  } catch {
    return undefined;
  }
}
