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
  /** By person: the time before which nothing is recorded. */
  readonly #until = new Map<string, number>();

  constructor(db: Db, now: () => number) {
    this.#db = db;
    this.#now = now;
  }

  async note(organizationId: string, userId: string): Promise<void> {
    const at = this.#now();
    if ((this.#until.get(userId) ?? 0) > at) return;
    await recordSeen(this.#db, organizationId, userId, { at, before: at - NOTED_EVERY_MS });
    if (this.#until.size >= MAX_PEOPLE) this.#until.clear();
    this.#until.set(userId, at + NOTED_EVERY_MS);
  }
}
