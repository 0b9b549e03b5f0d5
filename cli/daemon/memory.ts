import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Spool } from '../spool/open.ts';

/** Quiet for this long, it is at rest. */
const REST_MS = 5000;
/** Commits and requests that are worth it: collecting takes some 20 ms, and heartbeats go on at rest. */
const MIN_WORK = 20;

/**
 * Gives back, once it is quiet, the memory that reading and sending took: a catch-up of thousands of sessions takes a
 * hundred megabytes, and the engine collects only when more is asked for, while a daemon at rest asks for nothing.
 */
export function createMemory(spool: Pick<Spool, 'releaseMemory'>, tick: () => number, collect = createCollector()) {
  // Opening the spool and the first look at everything are work, too.
  let work = MIN_WORK;
  let quietAt = tick() + REST_MS;
  const isWorthIt = () => work >= MIN_WORK;

  return {
    /** A commit or a request. */
    use(): void {
      work++;
      quietAt = tick() + REST_MS;
    },
    release(): void {
      if (!isWorthIt() || tick() < quietAt) return;
      work = 0;
      spool.releaseMemory();
      collect();
    },
    pauseMs: () => (isWorthIt() ? Math.max(0, quietAt - tick()) : Number.POSITIVE_INFINITY),
  };
}

/** The engine's own, which it hands out under this flag only. */
function createCollector(): () => void {
  let collect: (() => void) | undefined;
  return () => {
    if (collect === undefined) {
      setFlagsFromString('--expose-gc');
      collect = runInNewContext('gc') as () => void;
    }
    collect();
  };
}
