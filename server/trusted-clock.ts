import type { FastifyBaseLogger } from 'fastify';
import { beginStoreTime, moveStoreTime, readStoreTime } from './store/clock.ts';
import type { Db } from './store/schema.ts';
import { asService } from './store/tenant.ts';

export interface TrustedClockOptions {
  db: Db;
  /** The clock of this machine, in epoch milliseconds. */
  now: () => number;
  /** Milliseconds since some moment, whatever the clock of the machine says. */
  ran?: (() => number) | undefined;
  log: Pick<FastifyBaseLogger, 'warn' | 'info'>;
}

const DAY_MS = 86_400_000;
/** How exact the stored time is. */
const NOTE_EVERY_MS = 600_000;

/** A clock that differs from the time of the store. */
interface Doubt {
  /** The time of the store. */
  stored: number;
  /** When the doubt began, on the clock that nobody sets. */
  since: number;
}

/**
 * Decides whether data may be deleted because of its age. A wrong clock makes everything old, and what is deleted does not come back.
 *
 * | the clock | when                                                              | becomes                          |
 * | --------- | ----------------------------------------------------------------- | -------------------------------- |
 * | trusted   | it is within a day of the store's time                            | trusted; the store's time follows |
 * | any       | it is more than a day away from the store's time                  | doubted                          |
 * | doubted   | another process moves the store's time, which is still a day away | doubted anew                     |
 * | doubted   | an operator confirms the time: `clock confirm`                    | trusted                          |
 * | doubted   | the process has run for a day                                     | trusted; the store's time follows |
 *
 * So a service that was off for a week deletes again after a day, and a replica with a wrong clock never deletes while another
 * replica runs.
 */
export class TrustedClock {
  readonly #options: TrustedClockOptions & { ran: () => number };
  #doubt: Doubt | undefined;

  constructor(options: TrustedClockOptions) {
    this.#options = { ...options, ran: options.ran ?? (() => performance.now()) };
  }

  /** Whether deletions because of age wait, as of the last question. */
  get isDoubted(): boolean {
    return this.#doubt !== undefined;
  }

  /** The time by which data may be deleted because of its age; undefined if no data may be. */
  time(): Promise<number | undefined> {
    return asService(async () => {
      const { db, now } = this.#options;
      if ((await readStoreTime(db)) === undefined) await beginStoreTime(db, now());
      const stored = (await readStoreTime(db)) ?? now();
      const at = now();
      if (Math.abs(at - stored) <= DAY_MS) {
        if (at - stored >= NOTE_EVERY_MS) await moveStoreTime(db, stored, at);
        this.#settle('the clock is within a day of the time of the store');
        return at;
      }
      if (!this.#hasRunForADay(stored, at) || !(await moveStoreTime(db, stored, at))) return undefined;
      this.#settle('the service has run for a day');
      return at;
    });
  }

  #hasRunForADay(stored: number, at: number): boolean {
    const { ran, log } = this.#options;
    if (this.#doubt?.stored === stored) return ran() - this.#doubt.since >= DAY_MS;
    this.#doubt = { stored, since: ran() };
    const [clock, time] = [new Date(at).toISOString(), new Date(stored).toISOString()];
    log.warn(
      { clock, stored: time },
      `nothing is deleted because of its age: the clock says ${clock}, but the store was last used at ${time}. If the clock is right, run \`clock confirm\`, or wait until the service has run for a day`,
    );
    return false;
  }

  #settle(reason: string): void {
    if (this.#doubt) this.#options.log.info(`data is deleted because of its age again: ${reason}`);
    this.#doubt = undefined;
  }
}

/** Confirms the clock of this machine, for a service that doubts it. @returns the time of the store before */
export async function confirmClock(db: Db, now: number): Promise<number> {
  await beginStoreTime(db, now);
  const stored = (await readStoreTime(db)) ?? now;
  await moveStoreTime(db, stored, now);
  return stored;
}
