import { parentPort } from 'node:worker_threads';

/** A program that loops for ever where it is told to, as a parser might on hostile text; all else it replies as it is. */
parentPort?.on('message', (job: string) => {
  if (job === 'throw') throw new Error('cannot go on');
  while (job === 'loop');
  parentPort?.postMessage(job);
});
