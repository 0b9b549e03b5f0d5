import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterPostgres } from 'rate-limiter-flexible';
import { Problem } from '../contract/problem.ts';
import type { Config } from './config.ts';
import { networkOf } from './network.ts';
import { Recent } from './recent.ts';
import type { Store } from './store/open.ts';
import { Once } from './work.ts';

/**
 * The service counts requests per secret, per secret for its `backlog`, per person (`user`), per `directory` and per network
 * address. It also counts the sign-ins of machines that start from an address (`device`), the polls of one such machine
 * (`waiting`), unknown secrets and device codes from an address (`stray`), and the invitation mails that an organization sends
 * to one e-mail (`invitation`).
 */
export type LimitKind =
  | 'secret'
  | 'backlog'
  | 'directory'
  | 'user'
  | 'address'
  | 'device'
  | 'waiting'
  | 'stray'
  | 'invitation';

export interface Limits {
  /**
   * Counts a request, or its `points`.
   * @returns the `RateLimit` headers for the answer
   * @throws RateLimited when the limit is exceeded
   */
  count(kind: LimitKind, key: string, points?: number): Promise<Record<string, string>>;
  /**
   * Counts nothing and queries no store.
   * @throws RateLimited when this replica knows that nothing is left
   */
  check(kind: LimitKind, key: string): void;
}

/** Answers 429, with headers that say when to retry. */
export class RateLimited extends Problem {
  readonly headers: Record<string, string>;

  constructor(kind: LimitKind, retryAfter: number, headers: Record<string, string>) {
    const requests = NAMES[kind] ?? `requests for this ${kind}`;
    super('rate_limited', `Too many ${requests}. Try again in ${retryAfter} s.`, { retryAfter });
    this.headers = headers;
  }
}

const NAMES: Partial<Record<LimitKind, string>> = {
  device: 'sign-ins of machines from this address',
  waiting: 'questions for this sign-in',
  stray: 'unknown secrets or codes from this address',
  invitation: 'invitations to this e-mail',
};

const WINDOW_S = 60;
/** A machine that keeps its interval polls 20 times a minute. */
const WAITING_LIMIT = 40;
/** Each invitation is a mail that its recipient did not request. */
const INVITATION_LIMIT = 5;
const INVITATION_WINDOW_S = 3_600;
/** The most leases in memory. Each forgotten one costs a query, and the points that were left of it. */
const MAX_LEASES = 10_000;

/** Points of one window. This process has taken them from the store, and spends them without another query. */
interface Lease {
  left: number;
  /** Points that were left in the store at the last query. */
  behind: number;
  /** The store has no more. */
  last: boolean;
  /** End of the window, in milliseconds since the epoch. */
  until: number;
}

/**
 * Limits requests. On PostgreSQL all replicas share a limit; otherwise it is in memory. 0 turns a limit off. A replica takes a
 * twentieth of a limit at a time, so that most requests cost no write. Points that it has left when the window ends are lost.
 */
export function createLimits(config: Config, store: Store): Limits {
  const counters = {
    secret: createCounter('secret', config.RATE_LIMIT_SECRET, store),
    backlog: createCounter('backlog', config.RATE_LIMIT_SECRET, store),
    directory: createCounter('directory', config.RATE_LIMIT_DIRECTORY, store),
    user: createCounter('user', config.RATE_LIMIT_USER, store),
    address: createCounter('address', config.RATE_LIMIT_ADDRESS, store),
    device: createCounter('device', config.RATE_LIMIT_ADDRESS, store),
    waiting: createCounter('waiting', Math.min(config.RATE_LIMIT_ADDRESS, WAITING_LIMIT), store),
    stray: createCounter('stray', config.RATE_LIMIT_ADDRESS, store),
    invitation: createCounter(
      'invitation',
      Math.min(config.RATE_LIMIT_USER, INVITATION_LIMIT),
      store,
      INVITATION_WINDOW_S,
    ),
  };
  return {
    count: (kind, key, points = 1) => counters[kind].count(keyOf(kind, key), points),
    check: (kind, key) => counters[kind].check(keyOf(kind, key)),
  };
}

const BY_NETWORK: ReadonlySet<LimitKind> = new Set(['address', 'device', 'stray']);
/** Addresses are counted by network, because a customer with one IPv6 address has at least 2^64 of them. */
const keyOf = (kind: LimitKind, key: string) => (BY_NETWORK.has(kind) ? networkOf(key) : key);

function createCounter(kind: LimitKind, limit: number, store: Store, windowS = WINDOW_S) {
  const limiter = createLimiter(kind, limit, store, windowS);
  const portion = Math.max(1, Math.floor(limit / 20));
  const leases = new Recent<Lease>({ max: MAX_LEASES, now: () => Date.now() });
  /** Concurrent requests share one query. */
  const renewals = new Once<Lease>();

  async function count(key: string, points: number): Promise<Record<string, string>> {
    if (limit === 0) return {};
    let lease = leases.get(key);
    while (!lease || (lease.left < points && !lease.last)) lease = await renewals.run(key, () => renew(key, points));
    if (lease.left < points) throw refusal(lease);
    lease.left -= points;
    return headersOf(lease);
  }

  function check(key: string): void {
    const lease = leases.get(key);
    if (lease?.last && lease.left === 0) throw refusal(lease);
  }

  async function renew(key: string, points: number): Promise<Lease> {
    const wanted = Math.max(portion, points - (leases.get(key)?.left ?? 0));
    const { consumedPoints, msBeforeNext } = await limiter.penalty(key, wanted);
    const granted = Math.min(wanted, Math.max(0, limit - consumedPoints + wanted));
    const validMs = Math.max(1, msBeforeNext);
    const lease = {
      left: granted + (leases.get(key)?.left ?? 0),
      behind: Math.max(0, limit - consumedPoints),
      last: consumedPoints >= limit,
      until: Date.now() + validMs,
    };
    leases.set(key, lease, validMs);
    return lease;
  }

  const refusal = (lease: Lease) => new RateLimited(kind, secondsLeft(lease), headersOf(lease));

  /** The policy and the points left, as in draft-ietf-httpapi-ratelimit-headers. */
  const headersOf = (lease: Lease) => ({
    'ratelimit-policy': `"${kind}";q=${limit};w=${windowS}`,
    ratelimit: `"${kind}";r=${lease.left + lease.behind};t=${secondsLeft(lease)}`,
  });

  return { count, check };
}

const secondsLeft = ({ until }: Lease) => Math.max(1, Math.ceil((until - Date.now()) / 1000));

function createLimiter(kind: LimitKind, limit: number, store: Store, windowS: number): RateLimiterAbstract {
  const options = { keyPrefix: kind, points: Math.max(1, limit), duration: windowS };
  if (!store.pool) return new RateLimiterMemory(options);
  return new RateLimiterPostgres({
    ...options,
    storeClient: store.pool,
    tableName: 'rate_limits',
    tableCreated: true,
    // An outage of the store must not be answered 429; the request itself will find the outage.
    insuranceLimiter: new RateLimiterMemory(options),
  });
}
