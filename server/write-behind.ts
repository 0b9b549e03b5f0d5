import { asService } from './store/tenant.ts';

export interface WriteBehindOptions<Entry> {
  keyOf: (entry: Entry) => string;
  /** Sums two entries of one key, which may come in any order. */
  merge: (one: Entry, other: Entry) => Entry;
  /** Writes all of the entries or none. */
  write: (entries: readonly Entry[]) => Promise<unknown>;
  /** The most entries of one write. */
  atOnce: number;
  /** The most waiting entries; absent: any amount. Others are dropped. */
  maxWaiting?: number;
  onDropped?: () => void;
  /** Called with the number of entries that could not be written and keep waiting. */
  onRetried?: (entries: number) => void;
}

/** Counts that wait in memory until they are written. */
export interface Flushable {
  /** Writes whatever waits. Rejects if the store fails; the unwritten entries then keep waiting. */
  flush(): Promise<void>;
}

/** Flushes all of them, even if one fails. */
export const flushableOf = (all: readonly Flushable[]): Flushable => ({
  async flush() {
    const results = await Promise.allSettled(all.map((one) => one.flush()));
    const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
    if (errors.length > 0) throw new AggregateError(errors, 'counts could not be written');
  },
});

/**
 * Sums entries by key in memory and writes them every few seconds, so that no answer waits for the write. A crash loses the
 * entries of the last few seconds.
 */
export class WriteBehind<Entry> implements Flushable {
  readonly #options: WriteBehindOptions<Entry>;
  #waiting = new Map<string, Entry>();
  /** Resolves when the last flush has ended. */
  #flushed: Promise<unknown> = Promise.resolve();

  constructor(options: WriteBehindOptions<Entry>) {
    this.#options = options;
  }

  add(entry: Entry): void {
    const { keyOf, merge, maxWaiting = Number.POSITIVE_INFINITY, onDropped } = this.#options;
    const key = keyOf(entry);
    const known = this.#waiting.get(key);
    if (known === undefined && this.#waiting.size >= maxWaiting) onDropped?.();
    else this.#waiting.set(key, known === undefined ? entry : merge(known, entry));
  }

  /** Writes after an earlier flush, because a caller who reads the store afterwards needs the entries of both. */
  flush(): Promise<void> {
    const flushing = this.#flushed.then(() => asService(() => this.#write()));
    this.#flushed = flushing.catch(() => undefined);
    return flushing;
  }

  async #write(): Promise<void> {
    const { write, atOnce, onRetried } = this.#options;
    const left = [...this.#waiting.values()];
    this.#waiting = new Map();
    try {
      while (left.length > 0) {
        await write(left.slice(0, atOnce));
        left.splice(0, atOnce);
      }
    } catch (error) {
      onRetried?.(left.length);
      for (const entry of left) this.add(entry);
      throw error;
    }
  }
}
