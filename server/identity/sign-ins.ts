import { recordSeen } from '../store/people.ts';
import type { Db } from '../store/schema.ts';

/** How often a person is noted at most: providers issue a new token every few minutes. */
export const NOTED_EVERY_MS = 3_600_000;
/** People whose time is remembered. */
const MOST_PEOPLE = 10_000;

/**
 * Notes in the audit log that members sign in at a provider outside the service, which does not tell when: a member is noted
 * with the first request of an hour. The store is asked once an hour by each process.
 */
export class SignIns {
  readonly #db: Db;
  readonly #now: () => number;
  /** Until when nothing is to be noted, by person. */
  readonly #until = new Map<string, number>();

  constructor(db: Db, now: () => number) {
    this.#db = db;
    this.#now = now;
  }

  async note(organizationId: string, userId: string): Promise<void> {
    const at = this.#now();
    if ((this.#until.get(userId) ?? 0) > at) return;
    await recordSeen(this.#db, organizationId, userId, { at, before: at - NOTED_EVERY_MS });
    if (this.#until.size >= MOST_PEOPLE) this.#until.clear();
    this.#until.set(userId, at + NOTED_EVERY_MS);
  }
}
