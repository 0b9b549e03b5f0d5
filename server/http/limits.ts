import {
  type RateLimiterAbstract,
  RateLimiterMemory,
  RateLimiterPostgres,
  RateLimiterRes,
} from 'rate-limiter-flexible';
import { Problem } from '../../contract/problem.ts';
import type { Config } from '../config.ts';
import type { Store } from '../store/open.ts';

/** What is counted: a secret, a person, or an address. */
export type LimitKind = 'secret' | 'user' | 'address';

export interface Limits {
  /**
   * Counts one request.
   * @returns the `RateLimit` headers to send along
   * @throws RateLimited when it is one too many
   */
  count(kind: LimitKind, key: string): Promise<Record<string, string>>;
}

/** 429, with the headers that say when to come back. */
export class RateLimited extends Problem {
  readonly headers: Record<string, string>;

  constructor(kind: LimitKind, retryAfter: number, headers: Record<string, string>) {
    super('rate_limited', `Too many requests for this ${kind}. Try again in ${retryAfter} s.`, { retryAfter });
    this.headers = headers;
  }
}

const WINDOW_S = 60;

/** One limit over all replicas where the store is PostgreSQL; in memory otherwise. A limit of 0 is off. */
export function createLimits(config: Config, store: Store): Limits {
  const points = {
    secret: config.RATE_LIMIT_SECRET,
    user: config.RATE_LIMIT_USER,
    address: config.RATE_LIMIT_ADDRESS,
  };
  const limiters = {
    secret: createLimiter('secret', points.secret, store),
    user: createLimiter('user', points.user, store),
    address: createLimiter('address', points.address, store),
  };
  return {
    async count(kind, key) {
      if (points[kind] === 0) return {};
      const { result, refused } = await consume(limiters[kind], key);
      const headers = rateHeaders(kind, points[kind], result);
      if (!refused) return headers;
      throw new RateLimited(kind, Math.max(1, Math.ceil(result.msBeforeNext / 1000)), headers);
    },
  };
}

function createLimiter(kind: LimitKind, points: number, store: Store): RateLimiterAbstract {
  const options = { keyPrefix: kind, points: Math.max(1, points), duration: WINDOW_S };
  if (!store.pool) return new RateLimiterMemory(options);
  return new RateLimiterPostgres({
    ...options,
    storeClient: store.pool,
    tableName: 'rate_limits',
    tableCreated: true,
    // A key that is over its limit is answered from memory, so that a flood does not reach the store.
    inMemoryBlockOnConsumed: options.points + 1,
    // The store being down must not turn into 429s; the request itself will meet the outage.
    insuranceLimiter: new RateLimiterMemory(options),
  });
}

/** A refusal is a rejection with the same figures; one answered from memory tells no count. */
async function consume(limiter: RateLimiterAbstract, key: string) {
  try {
    return { result: await limiter.consume(key), refused: false };
  } catch (error) {
    if (error instanceof RateLimiterRes) return { result: error, refused: true };
    throw error;
  }
}

/** draft-ietf-httpapi-ratelimit-headers: policy and what is left of it. */
function rateHeaders(kind: LimitKind, points: number, result: RateLimiterRes): Record<string, string> {
  return {
    'ratelimit-policy': `"${kind}";q=${points};w=${WINDOW_S}`,
    ratelimit: `"${kind}";r=${Math.max(0, result.remainingPoints)};t=${Math.ceil(result.msBeforeNext / 1000)}`,
  };
}
