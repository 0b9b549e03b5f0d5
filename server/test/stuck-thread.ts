import { parentPort } from 'node:worker_threads';

/** Throws, loops forever or waits if the job says so; replies with the job itself otherwise. */
parentPort?.on('message', (job: string) => {
  if (job === 'throw') throw new Error('cannot continue');
  while (job === 'loop');
  if (job === 'slow') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  parentPort?.postMessage(job);
});
