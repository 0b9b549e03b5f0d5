import type { StoreAppend } from '../appends.ts';
import type { Threads } from './driver.ts';
import { createPool, startThread, ThreadEnded } from './threads.ts';
import { createWriterQueue } from './writer-queue.ts';

/** So that a slow read leaves another reader free; each is a connection with its own page cache. */
const MOST_READERS = 2;

export interface OpenFile extends Threads {
  append: StoreAppend;
}

/**
 * Opens the file: one thread writes it, others read it, so that neither a slow disk nor a long read stops the thread that
 * answers. `onError` is told of each error of the engine.
 * @throws when the file cannot be opened, is no store, or would not be durable
 */
export async function openFile(path: string, onError: (error: Error) => void): Promise<OpenFile> {
  const writer = startThread({ path, readOnly: false }, onError);
  await writer.ready;
  // A reader that ends by itself took nothing with it, and is replaced.
  const startReader = () =>
    startThread({ path, readOnly: true }, (error) => error instanceof ThreadEnded || onError(error));
  const reader = createPool(startReader, MOST_READERS);
  return {
    reader,
    writer,
    ...createWriterQueue(writer),
    async close() {
      // Whoever is last moves the log into the file, so that a copy of the file alone is whole; a reader cannot.
      await reader.close();
      await writer.close();
    },
  };
}
