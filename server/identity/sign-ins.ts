import { Recent } from '../recent.ts';
import { recordSeen } from '../store/people.ts';
import type { Db } from '../store/schema.ts';

/** A person's sign-in is recorded at most this often, because providers issue a new token every few minutes. */
export const NOTED_EVERY_MS = 3_600_000;
/** The most people whose last record is remembered. */
const MAX_PEOPLE = 10_000;

/**
 * Records in the audit log that members sign in at a provider outside the service. Such a provider does not report sign-ins, so
 * the first request of a member in an hour is recorded. Each process queries the store at most once an hour for a member.
 */
export class SignIns {
  readonly #db: Db;
  readonly #now: () => number;
  /** The people whose sign-in was recorded. */
  readonly #noted: Recent<true>;

  constructor(db: Db, now: () => number) {
    this.#db = db;
    this.#now = now;
    this.#noted = new Recent({ max: MAX_PEOPLE, now });
  }

  async note(organizationId: string, userId: string): Promise<void> {
    if (this.#noted.get(userId)) return;
    const at = this.#now();
    await recordSeen(this.#db, organizationId, userId, { at, before: at - NOTED_EVERY_MS });
    this.#noted.set(userId, true, NOTED_EVERY_MS);
  }
}
