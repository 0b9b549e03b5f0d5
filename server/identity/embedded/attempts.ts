import { createHash } from 'node:crypto';
import { RateLimiterMemory, RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import type { Store } from '../../store/open.ts';

export interface Attempts {
  /**
   * Counts one attempt before it is made, so that many at once gain nothing.
   * @returns seconds to wait when it is one too many, else 0
   */
  take(key: string): Promise<number>;
  /** Forgives all that was counted under the key. */
  forgive(key: string): Promise<void>;
  /** Takes one attempt back, which turned out to be none. */
  giveBack(key: string): Promise<void>;
}

const WINDOW_S = 15 * 60;

/** At most `points` attempts in a quarter of an hour, over all replicas where the store is PostgreSQL. */
export function createAttempts(name: string, points: number, { pool }: Pick<Store, 'pool'>): Attempts {
  const options = { keyPrefix: name, points, duration: WINDOW_S };
  const limiter = pool
    ? new RateLimiterPostgres({ ...options, storeClient: pool, tableName: 'rate_limits', tableCreated: true })
    : new RateLimiterMemory(options);
  return {
    async take(key) {
      try {
        await limiter.consume(hashOf(key));
        return 0;
      } catch (error) {
        if (error instanceof RateLimiterRes) return Math.max(1, Math.ceil(error.msBeforeNext / 1000));
        throw error;
      }
    },
    forgive: async (key) => void (await limiter.delete(hashOf(key))),
    giveBack: async (key) => void (await limiter.reward(hashOf(key))),
  };
}

/** A key holds what a visitor typed: any characters, longer than the column, and nothing to be kept in clear. */
const hashOf = (key: string) => createHash('sha256').update(key).digest('base64url');
