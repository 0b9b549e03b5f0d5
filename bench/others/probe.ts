import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Waits } from './prober.ts';

const PROBER = fileURLToPath(new URL('./prober.ts', import.meta.url));

export interface Probe {
  /** The waiting times for /health during the work and a moment longer. */
  during(work: () => Promise<unknown>): Promise<Waits>;
  stop(): void;
}

export async function startProbe(port: number): Promise<Probe> {
  const child = fork(PROBER, [String(port)]);
  await once(child, 'message');
  return {
    async during(work) {
      child.send('begin');
      await work();
      // The service's work after its answer also makes others wait.
      await sleep(300);
      child.send('end');
      const [waits] = (await once(child, 'message')) as [Waits];
      return waits;
    },
    stop: () => void child.disconnect(),
  };
}
