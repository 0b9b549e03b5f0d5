import { parentPort } from 'node:worker_threads';
import { readAppends, type ScanJob, type ScanReply } from './read.ts';

/** Reads large bodies beside the thread that answers. Their memory comes here, and goes back with what points into it. */
parentPort?.on('message', ({ bodies }: ScanJob) => {
  const post = (reply: ScanReply, memory: ArrayBuffer[] = []) => parentPort?.postMessage(reply, memory);
  try {
    const answer = readAppends(
      bodies.map(({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength)),
    );
    post(
      { answer },
      bodies.slice(0, 1).map(({ buffer }) => buffer),
    );
  } catch (error) {
    post({ error: (error as Error).message });
  }
});
