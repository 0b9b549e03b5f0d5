import { parentPort } from 'node:worker_threads';

/** Loops for ever, waits or fails where it is told to; replies with every other job as it is. */
parentPort?.on('message', (job: string) => {
  if (job === 'throw') throw new Error('cannot go on');
  while (job === 'loop');
  if (job === 'slow') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  parentPort?.postMessage(job);
});
