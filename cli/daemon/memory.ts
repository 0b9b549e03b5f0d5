import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Spool } from '../spool/open.ts';

/** A catch-up of thousands of sessions takes a hundred megabytes more than waiting does. */
const REST_MS = 5000;

/**
 * Gives back, once it is quiet, the memory that reading took: the engine itself collects only when more is asked for, and
 * a daemon at rest asks for nothing.
 */
export function createMemory(spool: Spool, tick: () => number) {
  let dueAt: number | undefined = tick() + REST_MS;
  let collect: (() => void) | undefined;

  return {
    /** Something was read or looked through. */
    use(): void {
      dueAt = tick() + REST_MS;
    },
    release(): void {
      if (dueAt === undefined || tick() < dueAt) return;
      dueAt = undefined;
      if (collect === undefined) {
        setFlagsFromString('--expose-gc');
        collect = runInNewContext('gc') as () => void;
      }
      spool.releaseMemory();
      collect();
    },
    pauseMs: () => (dueAt === undefined ? Number.POSITIVE_INFINITY : Math.max(0, dueAt - tick())),
  };
}
