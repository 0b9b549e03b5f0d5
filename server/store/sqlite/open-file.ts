import type { Journal } from '../../log/journal.ts';
import { ConnectionThread, ThreadEnded } from './connection-thread.ts';
import type { Threads } from './driver.ts';
import { Readers } from './readers.ts';
import { createWriterQueue } from './writer-queue.ts';

/** So that a slow read leaves another reader free; each is a connection with its own page cache. */
const MOST_READERS = 2;

export interface OpenFile extends Threads {
  journal: Journal;
  /** The same threads, for reads that may take long. */
  longReads: Threads;
  /** Gives back memory that is not needed now. */
  rest(): Promise<void>;
}

/** Longer than any program reads, and the longest that a timer takes. */
const FOR_EVER_MS = 2 ** 31 - 1;

/**
 * Opens a file that another process may be writing, to read it. The file must exist.
 * @param isSnapshot all reads see it as the first one does
 */
export function openFileToRead(path: string, isSnapshot: boolean): Threads {
  const readers = new Readers({
    most: 1,
    // Another thread would see what was written since.
    ...(isSnapshot ? { idleMs: FOR_EVER_MS } : {}),
    start: () => new ConnectionThread({ path, readOnly: true, isSnapshot }, () => undefined),
  });
  const refuse = () => Promise.reject(new Error('the store was opened to read it'));
  return { reader: readers, writer: { run: refuse, lag: () => 0 }, holdWriter: refuse, close: () => readers.close() };
}

/**
 * Opens the file: one thread writes it, others read it, so that neither a slow disk nor a long read stops the thread that
 * answers. `onError` gets each error of the engine.
 * @throws when the file cannot be opened, is no store, or would not be durable
 */
export async function openFile(path: string, onError: (error: Error) => void): Promise<OpenFile> {
  const writer = new ConnectionThread({ path, readOnly: false }, onError);
  await writer.ready;
  const readers = new Readers({
    most: MOST_READERS,
    spare: {
      get isIdle() {
        return writer.isIdle;
      },
      run: (query) => writer.run({ ...query, kind: 'read' }),
    },
    // A reader that ends by itself took nothing with it, and is replaced.
    start: () =>
      new ConnectionThread({ path, readOnly: true }, (error) => error instanceof ThreadEnded || onError(error)),
  });
  const { change, holdWriter } = createWriterQueue(writer);
  return {
    writer,
    holdWriter,
    journal: { change },
    reader: readers,
    longReads: {
      writer,
      holdWriter,
      reader: { run: (query) => readers.run(query, true) },
      close: async () => undefined,
    },
    rest: () => writer.run({ kind: 'rest' }),
    async close() {
      // The last connection moves the log into the file, so that a copy of the file alone is whole. A reader cannot.
      await readers.close();
      await writer.close();
    },
  };
}
