/** Work that is done beside the answers: each key's once at a time, and only some at the same time. */
export interface Background {
  /** Settles when the work for the key is done, begun by whomever; also when it failed, or there was no room for it. */
  run(key: string, work: () => Promise<void>): Promise<void>;
  /** Begins nothing more. */
  close(): void;
}

/** Keys that wait; beyond, work is dropped, and is asked for again by whoever needs it. */
const MOST_WAITING = 1_000;

export function createBackground(options: { atOnce: number; onError: (error: unknown) => void }): Background {
  const { atOnce, onError } = options;
  const running = new Map<string, Promise<void>>();
  const inLine: (() => void)[] = [];
  let busy = 0;
  let closed = false;

  async function turn(work: () => Promise<void>): Promise<void> {
    if (busy >= atOnce) await new Promise<void>((resolve) => void inLine.push(resolve));
    else busy++;
    try {
      if (!closed) await work();
    } catch (error) {
      if (!closed) onError(error);
    } finally {
      const next = inLine.shift();
      // Whoever is next in line takes over the place.
      if (next) next();
      else busy--;
    }
  }

  return {
    run(key, work) {
      const known = running.get(key);
      if (known || closed || running.size >= MOST_WAITING) return known ?? Promise.resolve();
      const done = turn(work).finally(() => running.delete(key));
      running.set(key, done);
      return done;
    },
    close() {
      closed = true;
    },
  };
}
