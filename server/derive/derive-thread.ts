import { parentPort } from 'node:worker_threads';
import { derivePiece, type PieceJob } from './piece.ts';

/** Decompresses, parses and folds beside the thread that answers. */
parentPort?.on('message', (job: PieceJob) => {
  try {
    parentPort?.postMessage({ piece: derivePiece(job, () => null) });
  } catch (error) {
    parentPort?.postMessage({ error: (error as Error).message });
  }
});
