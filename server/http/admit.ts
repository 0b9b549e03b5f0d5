import type { FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from '../../contract/problem.ts';
import type { Route } from '../../contract/route.ts';
import { type LimitKind, type Limits, RateLimited } from '../limits.ts';
import type { Authenticator, Callers } from './auth.ts';
import type { Account, Budget } from './budget.ts';

export interface AdmitOptions {
  authenticator: Pick<Authenticator, 'authenticate'>;
  limits: Limits;
  budget: Budget;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/** A body that arrives sooner is handled for the caller who was authenticated before it, to save a second look-up. */
const SLOW_BODY_MS = 100;

/** The result of authentication, before the body is read. */
export interface Admission {
  caller: Callers[keyof Callers];
  /**
   * The caller, once the body is there: authenticated again if it took long to arrive, because meanwhile the caller may have been
   * removed, revoked or given another role.
   * @throws Problem 401, 403, 429 or 503
   */
  confirm(): Promise<Callers[keyof Callers]>;
  /** The memory of the body is charged to this account until the answer is sent or the caller has left. */
  account: Account;
  /** Aborted when the caller leaves before the answer; its reason is a Problem. */
  signal: AbortSignal;
  /**
   * Counts more points against the caller's limit, if the route has one.
   * @throws RateLimited when the limit is exceeded
   */
  spend(points: number): Promise<void>;
  /**
   * Counts the request against another limit than the caller's.
   * @throws RateLimited
   */
  countAs(kind: LimitKind, key: string): Promise<void>;
}

declare module 'fastify' {
  interface FastifyRequest {
    admission: Admission | null;
  }
}

/**
 * Authenticates the caller of a route, and counts the request. The body of a refused request is not read.
 * @throws Problem 401, 403, 429 or 503 from the returned function
 */
export function createAdmit(row: Route, { authenticator, limits, budget, now }: AdmitOptions) {
  const limited = row.errors.includes(429);

  return async (request: FastifyRequest, reply: FastifyReply): Promise<Admission> => {
    const leaving = new AbortController();
    let account: Account | undefined;
    const leave = () => {
      account?.close();
      if (!reply.raw.writableFinished) leaving.abort(gone());
    };
    reply.raw.once('close', leave);
    if (row.limit === 'waiting') limits.check('stray', request.ip);
    else if (limited && row.auth === 'public') await count(row.limit ?? 'address', request.ip, reply);
    const caller = await authenticate(request, reply);
    const admittedAt = now();
    const [kind, key] = identify(row, caller, request);
    if (limited && row.auth !== 'public') await count(kind, key, reply);
    account = budget.open(`${kind}:${key}`);
    if (reply.raw.destroyed) {
      leave();
      throw gone();
    }
    return {
      caller,
      async confirm() {
        // The clock of the machine may be set back meanwhile.
        if (Math.abs(now() - admittedAt) < SLOW_BODY_MS) return caller;
        const confirmed = await authenticate(request, reply);
        if (organizationOf(confirmed) === organizationOf(caller)) return confirmed;
        throw new Problem('no_organization', 'You no longer belong to the organization of this request.');
      },
      account,
      signal: leaving.signal,
      spend: async (points) => {
        if (limited) await count(kind, key, reply, points);
      },
      countAs: (otherKind, otherKey) => count(otherKind, otherKey, reply),
    };
  };

  /** Failed attempts count against the address, if the route may answer 429. */
  async function authenticate(request: FastifyRequest, reply: FastifyReply) {
    try {
      return await authenticator.authenticate(row.auth, request, row.isForReading);
    } catch (error) {
      if (error instanceof RateLimited) throw limited ? withHeaders(error, reply) : busy(error);
      const refused = error instanceof Problem && (error.status === 401 || error.status === 403);
      if (limited && refused) await count('address', request.ip, reply);
      throw error;
    }
  }

  async function count(kind: LimitKind, key: string, reply: FastifyReply, points?: number): Promise<void> {
    try {
      reply.headers(await limits.count(kind, key, points));
    } catch (error) {
      throw error instanceof RateLimited ? withHeaders(error, reply) : error;
    }
  }
}

const organizationOf = (caller: Admission['caller']) =>
  caller && 'organizationId' in caller ? caller.organizationId : undefined;

const gone = () => new Problem('validation_failed', 'The caller left before the answer.');

function identify(row: Route, caller: Admission['caller'], request: FastifyRequest): [LimitKind, string] {
  if (!caller) return [row.limit ?? 'address', request.ip];
  if ('tokenId' in caller) return ['directory', caller.tokenId];
  return 'secretId' in caller ? [row.limit ?? 'secret', caller.secretId] : ['user', caller.userId];
}

function withHeaders(error: RateLimited, reply: FastifyReply): RateLimited {
  reply.headers(error.headers);
  return error;
}

/** For a route whose contract has no 429. */
const busy = ({ message, retryAfter }: RateLimited) =>
  new Problem('service_unavailable', message, { retryAfter: retryAfter ?? 1 });
