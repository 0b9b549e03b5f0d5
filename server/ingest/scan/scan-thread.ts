import { parentPort } from 'node:worker_threads';
import { Problem } from '../../../contract/problem.ts';
import { READERS, type ScanJob, type ScanReply } from './read.ts';

/** Reads large bodies beside the thread that answers. A body's memory comes here, and goes back with what points into it. */
parentPort?.on('message', ({ kind, body }: ScanJob) => {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const post = (reply: ScanReply) => parentPort?.postMessage(reply, 'answer' in reply ? [body.buffer] : []);
  try {
    post({ answer: READERS[kind](bytes) });
  } catch (error) {
    if (error instanceof Problem) post({ problem: error.toBody() });
    else post({ error: (error as Error).message });
  }
});
