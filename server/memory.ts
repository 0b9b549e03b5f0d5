import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** The amount of work after which a collection is worthwhile: requests, and sessions that were derived. */
const MIN_WORK = 20;

/** Longer than readers wait for more work, so that the memory of the readers is also returned. */
const QUIET_MS = 4_000;

/**
 * The least time between two collections. An agent at work pauses for longer than `QUIET_MS` again and again, and a collection takes as
 * much of the processor as a hundred of its events.
 */
export const MIN_APART_MS = 120_000;

interface IdleMemoryOptions {
  quietMs?: number;
  apartMs?: number;
}

/**
 * Returns the memory of finished work once no more work arrives. The engine collects garbage when it needs more memory, and an
 * idle service never does. Without this class, an idle service keeps the memory of its last busy minute.
 */
export class IdleMemory {
  readonly #timer: NodeJS.Timeout;
  // Starting counts as work.
  #work = MIN_WORK;
  #last = Number.NEGATIVE_INFINITY;

  constructor(giveBack: () => void, { quietMs = QUIET_MS, apartMs = MIN_APART_MS }: IdleMemoryOptions = {}) {
    this.#timer = setTimeout(() => {
      if (this.#work < MIN_WORK) return;
      const now = performance.now();
      if (now < this.#last + apartMs) return void this.#timer.refresh();
      this.#work = 0;
      this.#last = now;
      giveBack();
    }, quietMs).unref();
  }

  /** Records one piece of work. */
  note(): void {
    this.#work++;
    this.#timer.refresh();
  }

  close(): void {
    clearTimeout(this.#timer);
  }
}

type Collect = (options: { type: 'major'; flavor: 'last-resort' }) => void;

let collect: Collect | undefined;

/**
 * Makes the engine collect all garbage of this thread, and return its spare memory to the system; takes 40 to 80 ms. The engine
 * exposes this function only under a flag.
 */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  collect ??= runInNewContext('gc') as Collect;
  collect({ type: 'major', flavor: 'last-resort' });
}
