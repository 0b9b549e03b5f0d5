import { parentPort } from 'node:worker_threads';
import { readAppends, type ScanJob, type ScanReply } from './read.ts';

/** Reads large bodies outside of the main thread. Their memory is transferred here, and back with the views into it. */
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
