import { dirname } from 'node:path';
import type { Journal } from '../../log/journal.ts';
import { ConnectionThread, ThreadEnded } from './connection-thread.ts';
import { diskAnswers } from './disk-answer.ts';
import type { Threads } from './driver.ts';
import type { Job } from './jobs.ts';
import { LogCheckpoint } from './log-checkpoint.ts';
import { Readers } from './readers.ts';
import { createWriterQueue } from './writer-queue.ts';

/** How many readers there are, so that a slow read leaves another reader free. Each has a connection with its own page cache. */
const MAX_READERS = 2;

export interface OpenFile extends Threads {
  journal: Journal;
  /** The same threads, for reads that may take long. */
  longReads: Threads;
  /** Releases memory that is not needed now. */
  rest(): Promise<void>;
}

/** The longest delay of a timer, which is longer than any program reads. */
const FOR_EVER_MS = 2 ** 31 - 1;

/**
 * Opens an existing file for reading while another process may be writing it.
 * @param isSnapshot whether all reads see the state of the first read
 */
export function openFileToRead(path: string, isSnapshot: boolean): Threads {
  let isStarted = false;
  const readers = new Readers({
    max: 1,
    diskAnswers: () => diskAnswers(dirname(path)),
    // The thread must never be replaced, because another thread would see later writes.
    ...(isSnapshot ? { idleMs: FOR_EVER_MS } : {}),
    start() {
      if (isSnapshot && isStarted) throw new Error('the thread that had the snapshot ended; start the command again');
      isStarted = true;
      return new ConnectionThread({ path, role: 'reader', isSnapshot }, () => undefined);
    },
  });
  const refuse = () => Promise.reject(new Error('the store was opened for reading only'));
  return {
    reader: readers,
    writer: { run: refuse, lag: () => 0 },
    reserveWriter: refuse,
    close: () => readers.close(),
  };
}

/**
 * Opens the file. One thread writes it and others read it, so that neither a slow disk nor a long read blocks the main thread.
 * `onError` gets each error of the thread that writes.
 * @throws if the file cannot be opened, is not a store, or would not be durable
 */
export async function openFile(path: string, onError: (error: Error) => void): Promise<OpenFile> {
  const thread = new ConnectionThread({ path, role: 'writer' }, onError);
  await thread.ready;
  const writer = {
    lag: () => thread.lag(),
    run<J extends Job>(job: J) {
      checkpoint.note(job);
      return thread.run(job);
    },
  };
  const readers = new Readers({
    max: MAX_READERS,
    diskAnswers: () => diskAnswers(dirname(path)),
    spare: {
      get isIdle() {
        return thread.isIdle;
      },
      run: (query) => writer.run({ ...query, kind: 'read' }),
    },
    // The errors of a reader concern only those who asked. A reader that ends by itself loses no data, and is replaced.
    start: () => new ConnectionThread({ path, role: 'reader' }, () => undefined),
  });
  const { change, reserveWriter } = createWriterQueue(writer);
  const checkpoint = new LogCheckpoint({
    writer: thread,
    reserveWriter,
    start: () =>
      new ConnectionThread({ path, role: 'checkpointer' }, (error) => {
        // A failed sync of any connection must end the service. This thread loses nothing when it ends by itself.
        if (!(error instanceof ThreadEnded)) onError(error);
      }),
  });
  return {
    writer,
    reserveWriter,
    journal: { change },
    reader: readers,
    longReads: {
      writer,
      reserveWriter,
      reader: { run: (query) => readers.run(query, true) },
      close: async () => undefined,
    },
    rest: () => writer.run({ kind: 'rest' }),
    async close() {
      // The writer closes last, because only it can move the write-ahead log into the file. A copy of the file is then complete.
      await checkpoint.close();
      await readers.close();
      await thread.close();
    },
  };
}
