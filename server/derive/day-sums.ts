import { setTimeout as wait } from 'node:timers/promises';
import { Background } from '../background.ts';
import { Failures } from '../failures.ts';
import type { Store } from '../store/open.ts';
import { type Days, listDaysBehind, sumDay } from '../store/summed-days.ts';
import { Once } from '../work.ts';

/** Days of both planes of a year. */
const MAX_DAYS = 2 * 366;
/** The most days of all organizations that one check updates. */
const DAYS_AT_ONCE = 1_000;
const PATIENCE_MS = 300;
/** How long work that nobody waits for rests between two days, in milliseconds. */
const REST_MS = 20;

/**
 * Keeps the sums of days up to date with the rows of sessions.
 *
 * | day        | when                          | becomes                            |
 * | ---------- | ----------------------------- | ---------------------------------- |
 * | up to date | rows of a session are written | behind                             |
 * | behind     | all its rows are added up     | up to date, if no row changed      |
 * | any        | all derived rows are removed  | behind                             |
 */
export class DaySums {
  readonly #store: Pick<Store, 'db' | 'longReads'>;
  readonly #background: Background;
  readonly #reaching = new Once<boolean>();

  constructor(store: Pick<Store, 'db' | 'longReads'>, onError: (error: unknown) => void) {
    this.#store = store;
    // One slot for requests, and one for catching up.
    this.#background = new Background({ atOnce: 2, onError });
  }

  /**
   * Updates the days, the latest first. Settles when that is done, or when the patience is over.
   * @returns false if the patience was over first, or a day failed
   */
  async reach(days: Days, patienceMs = PATIENCE_MS): Promise<boolean> {
    const { organizationId, planes, from, to } = days;
    const key = [organizationId, ...planes, from, to].join(' ');
    const work = this.#reaching.run(key, async () => {
      let isDone = false;
      const sum = async (signal: AbortSignal) => {
        await this.#sum(days, MAX_DAYS, signal);
        isDone = !signal.aborted;
      };
      await this.#background.run(key, sum, { group: organizationId });
      return isDone;
    });
    const over = new AbortController();
    const patience = wait(patienceMs, false, { signal: over.signal }).catch(() => false);
    const isDone = await Promise.race([work, patience]);
    over.abort();
    return isDone;
  }

  /** Updates the days of all organizations. Days that change in the meantime wait for the next time. */
  catchUp(): Promise<void> {
    return this.#background.run('', (signal) => this.#sum(undefined, DAYS_AT_ONCE, signal, REST_MS));
  }

  close(): Promise<void> {
    return this.#background.close();
  }

  async #sum(days: Days | undefined, limit: number, signal: AbortSignal, restMs?: number): Promise<void> {
    const { db, longReads } = this.#store;
    const failures = new Failures();
    for (const day of await listDaysBehind(db, days, limit)) {
      if (signal.aborted) return;
      await failures.try(() => sumDay(db, day, longReads.db));
      if (restMs !== undefined) await wait(restMs, undefined, { signal }).catch(() => undefined);
    }
    failures.throw();
  }
}
