import type { Decision } from '../../log/decide.ts';
import type { ChangeRequest, Journal } from '../../log/journal.ts';
import { isUnavailable, storeUnavailable } from '../dialect.ts';
import type { ConnectionThread } from './connection-thread.ts';

interface Waiting {
  change: ChangeRequest;
  bytes: number;
  resolve: (decision: Decision) => void;
  reject: (error: unknown) => void;
}

/** How much is sent to the writer in advance: two commits, so that it need not wait for the second one. */
const WINDOW = { count: 256, bytes: 8 * 1024 * 1024 };

/** How much may wait. Further changes are refused, because the store is too slow. */
const MAX_WAITING = { count: 4_096, bytes: 64 * 1024 * 1024 };

export interface WriterQueue extends Journal {
  /** Reserves the writer until the returned function is called; first come, first served. */
  reserveWriter(): Promise<() => void>;
}

/**
 * Sends changes to the writer as they arrive. Changes that arrive during a commit share the next commit, and thus one fsync.
 * Changes that exceed the window wait here, and senders take turns.
 */
export function createWriterQueue(writer: Pick<ConnectionThread, 'run'>): WriterQueue {
  const list = new FairList<Waiting>();
  const handed = { count: 0, bytes: 0 };
  let isReserved = false;
  let last = Promise.resolve();

  function handOver(): void {
    while (!isReserved && handed.count < WINDOW.count && handed.bytes < WINDOW.bytes) {
      const waiting = list.take();
      if (!waiting) return;
      void settle(waiting);
    }
  }

  async function settle({ change, bytes, resolve, reject }: Waiting): Promise<void> {
    handed.count++;
    handed.bytes += bytes;
    try {
      const settled = await writer.run({ kind: 'change', change });
      if ('failed' in settled) reject(new Error(`the store could not make the change: ${settled.failed}`));
      else resolve(settled);
    } catch (error) {
      reject(isUnavailable(error) ? storeUnavailable(error) : error);
    } finally {
      handed.count--;
      handed.bytes -= bytes;
      handOver();
    }
  }

  return {
    change: (change) =>
      new Promise((resolve, reject) => {
        const isFull = list.count >= MAX_WAITING.count || list.bytes >= MAX_WAITING.bytes;
        // A single sender may fill only half of the queue, which leaves room for others.
        if (isFull || list.countOf(change.sender) >= MAX_WAITING.count / 2) {
          return reject(storeUnavailable('too many appends wait for the store'));
        }
        const bytes = change.frame?.body.byteLength ?? 0;
        list.add(change.sender, bytes, { change, bytes, resolve, reject });
        handOver();
      }),

    async reserveWriter() {
      const before = last;
      let release = () => {};
      last = new Promise((resolve) => {
        release = resolve;
      });
      await before;
      isReserved = true;
      return () => {
        isReserved = false;
        // Appends get their turn between successive reservations of the writer.
        handOver();
        release();
      };
    },
  };
}

interface Entry<Item> {
  bytes: number;
  item: Item;
}

/** Waiting items in groups that take turns, so that a long group does not delay a short one. */
export class FairList<Item> {
  readonly #groups = new Map<string, Entry<Item>[]>();
  #count = 0;
  #bytes = 0;

  get count(): number {
    return this.#count;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** How many items of the group wait. */
  countOf(group: string): number {
    return this.#groups.get(group)?.length ?? 0;
  }

  add(group: string, bytes: number, item: Item): void {
    const entries = this.#groups.get(group);
    if (entries) entries.push({ bytes, item });
    else this.#groups.set(group, [{ bytes, item }]);
    this.#count++;
    this.#bytes += bytes;
  }

  /** Removes and returns the first item of the next group; undefined if no item waits. */
  take(): Item | undefined {
    const [first] = this.#groups;
    if (!first) return undefined;
    const [group, entries] = first;
    const { bytes, item } = entries.shift() as Entry<Item>;
    // The group moves to the end of the order.
    this.#groups.delete(group);
    if (entries.length > 0) this.#groups.set(group, entries);
    this.#count--;
    this.#bytes -= bytes;
    return item;
  }
}
