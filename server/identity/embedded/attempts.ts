import { createHash } from 'node:crypto';
import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterPostgres } from 'rate-limiter-flexible';
import { networkOf, siteOf } from '../../network.ts';
import { emailKey } from '../../store/columns.ts';
import type { Store } from '../../store/open.ts';

const WINDOW_S = 15 * 60;

/** The allowed number of attempts of each kind in a quarter of an hour. */
const LIMITS = {
  /** Passwords for one account from one network, or from one browser that the account knows. */
  guess: 10,
  /** Passwords for one account from all other networks together. */
  account: 50,
  /** Forms from one network for any account. This limits trying one password on many accounts. */
  network: 100,
  /** Forms from neighbouring networks, because one customer may have thousands. */
  site: 400,
  /** Mails to one person, requested from one network or from one browser that the account knows. */
  mail: 3,
  /** Mails to one person, requested from all other networks together. */
  mailbox: 10,
};

/** One thing to count. The key may be any text that a visitor sent. */
export type Count = readonly [what: keyof typeof LIMITS, key: string];

/** Counts attempts. On PostgreSQL all replicas share the counts. */
export class Attempts {
  readonly #counter: RateLimiterAbstract;

  constructor({ pool }: Pick<Store, 'pool'>) {
    const options = { keyPrefix: 'attempt', points: Math.max(...Object.values(LIMITS)), duration: WINDOW_S };
    this.#counter = pool
      ? new RateLimiterPostgres({ ...options, storeClient: pool, tableName: 'rate_limits', tableCreated: true })
      : new RateLimiterMemory(options);
  }

  /**
   * Counts an attempt before it is made, so that concurrent attempts gain nothing. Stops at the first count that is too high,
   * so that a refusal for one network does not count against its neighbours.
   * @returns seconds to wait; 0 if the attempt may be made
   */
  async take(...counts: readonly Count[]): Promise<number> {
    for (const count of counts) {
      const { consumedPoints, msBeforeNext } = await this.#counter.penalty(keyOf(count), 1);
      if (consumedPoints > LIMITS[count[0]]) return Math.max(1, Math.ceil(msBeforeNext / 1000));
    }
    return 0;
  }

  /** Starts counting from zero. */
  async forget(count: Count): Promise<void> {
    await this.#counter.delete(keyOf(count));
  }

  /** Takes back attempts that were legitimate. */
  async giveBack(...counts: readonly Count[]): Promise<void> {
    await Promise.all(counts.map((count) => this.#counter.reward(keyOf(count), 1)));
  }
}

/** A key contains text that a visitor typed. It may have any characters and any length, and must not be stored in clear. */
const keyOf = ([what, key]: Count) => `${what}:${createHash('sha256').update(key).digest('base64url')}`;

/** The counts for every form from an address. */
export const fromAddress = (address: string): Count[] => [
  ['network', networkOf(address)],
  ['site', siteOf(address)],
];

/** The sender of a form: an address, and the name of a browser that the account knows. */
export interface Visitor {
  address: string;
  browser: string | undefined;
}

/**
 * Counts an attempt to sign in. A browser that the account knows has limits of its own, so that strangers cannot lock the
 * person out.
 * @returns seconds to wait, and a function to call if the password was right
 */
export async function takeGuess(attempts: Attempts, email: string, { address, browser }: Visitor) {
  const account = emailKey(email);
  const guess: Count = ['guess', `${account} ${browser ?? networkOf(address)}`];
  const before: Count[] = browser === undefined ? fromAddress(address) : [];
  const after: Count[] = browser === undefined ? [['account', account]] : [];
  return {
    wait: await attempts.take(...before, guess, ...after),
    succeed: async () => {
      await Promise.all([attempts.forget(guess), attempts.giveBack(...before, ...after)]);
    },
  };
}

/** Whether a mail may go to the person. Requests of strangers must not use up the person's own requests. */
export async function mayMail(attempts: Attempts, email: string, { address, browser }: Visitor): Promise<boolean> {
  const person = emailKey(email);
  const own: Count = ['mail', `${person} ${browser ?? networkOf(address)}`];
  const counts: Count[] = browser === undefined ? [own, ['mailbox', person]] : [own];
  return (await attempts.take(...counts)) === 0;
}
