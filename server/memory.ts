import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Work after which memory is worth giving back: requests, and sessions that were derived. */
const MIN_WORK = 20;

/** Longer than readers wait for more work, so that their memory is given back too. */
const QUIET_MS = 4_000;

/**
 * Gives back the memory that work took, once no more of it comes. The engine collects garbage when it needs more memory,
 * which a service at rest never does: without this, it keeps what a busy minute took.
 */
export class Rest {
  readonly #timer: NodeJS.Timeout;
  // The start is work, too.
  #work = MIN_WORK;

  constructor(giveBack: () => void, quietMs = QUIET_MS) {
    this.#timer = setTimeout(() => {
      if (this.#work < MIN_WORK) return;
      this.#work = 0;
      giveBack();
    }, quietMs).unref();
  }

  /** Something was done. */
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
 * Has the engine collect all garbage of this thread, and return the memory that it keeps for more; 40 to 80 ms. It hands out its
 * own means under a flag only.
 */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  collect ??= runInNewContext('gc') as Collect;
  collect({ type: 'major', flavor: 'last-resort' });
}
