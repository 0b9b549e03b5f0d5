import { asService } from '../store/tenant.ts';

/** Work that is done beside the answers: each key's once at a time, and only some at the same time. */
export interface Background {
  /**
   * Settles when the work for the key is done, begun by whomever; also when it failed, or there was no room for it.
   * Groups take turns, such as organizations: however much waits for one, another does not wait for it.
   */
  run(key: string, work: () => Promise<void>, group?: string): Promise<void>;
  /** Begins nothing more. */
  close(): void;
}

/** Keys of a group that wait; beyond, work is dropped, and is asked for again by whoever needs it. */
const MOST_WAITING = 1_000;

export function createBackground(options: { atOnce: number; onError: (error: unknown) => void }): Background {
  const { atOnce, onError } = options;
  const running = new Map<string, Promise<void>>();
  const inLine = new Map<string, (() => void)[]>();
  let busy = 0;
  let closed = false;

  function wait(group: string): Promise<void> {
    return new Promise((resolve) => {
      const line = inLine.get(group);
      if (line) line.push(resolve);
      else inLine.set(group, [resolve]);
    });
  }

  /** The first of the group whose turn it is, which is the last one then. */
  function takeNext(): (() => void) | undefined {
    const [group, line] = inLine.entries().next().value ?? [];
    if (group === undefined) return undefined;
    const next = line?.shift();
    inLine.delete(group);
    if (line && line.length > 0) inLine.set(group, line);
    return next;
  }

  async function turn(work: () => Promise<void>, group: string): Promise<void> {
    if (busy >= atOnce) await wait(group);
    else busy++;
    try {
      // Begun for one organization, it goes on to others.
      if (!closed) await asService(work);
    } catch (error) {
      if (!closed) onError(error);
    } finally {
      const next = takeNext();
      // Whoever is next in line takes over the place.
      if (next) next();
      else busy--;
    }
  }

  return {
    run(key, work, group = '') {
      const known = running.get(key);
      const isFull = (inLine.get(group)?.length ?? 0) >= MOST_WAITING;
      if (known || closed || isFull) return known ?? Promise.resolve();
      const done = turn(work, group).finally(() => running.delete(key));
      running.set(key, done);
      return done;
    },
    close() {
      closed = true;
    },
  };
}
