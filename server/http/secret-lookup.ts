import { setTimeout as pause } from 'node:timers/promises';
import { Problem } from '../../contract/problem.ts';
import type { Plane } from '../../contract/secret.ts';
import { hashSecret, isSecretValue } from '../credentials.ts';
import type { Limits } from '../limits.ts';
import { Recent } from '../recent.ts';
import { isUnavailable } from '../store/dialect.ts';
import type { Sender } from '../store/ownership.ts';
import type { Db } from '../store/schema.ts';
import { findSecretByHash } from '../store/secrets.ts';
import type { LastUses } from './last-uses.ts';

/** The holder of an organization secret. */
export interface SecretCaller {
  secretId: string;
  organizationId: string;
  plane: Plane;
  /** Present if a machine got the secret by a confirmed sign-in. */
  machine?: Pick<Sender, 'environmentId' | 'userId'>;
}

export interface SecretLookupOptions {
  db: Db;
  pepper: string;
  limits: Limits;
  lastUses: Pick<LastUses, 'add'>;
  now: () => number;
  onError: (error: unknown) => void;
}

interface CachedSecret {
  caller: SecretCaller;
  /** When the store last confirmed the secret. */
  foundAt: number;
}

/** How long a request with a cached secret waits for a slow store. */
const ANSWERED_WITHIN_MS = 500;
/** The longest time until a revocation takes effect on every replica. */
const CACHE_MS = 4_000;
/** How long a cached secret stays valid while the store is down. */
const BELIEVED_MS = 24 * 60 * 60 * 1_000;
const MAX_CACHED = 10_000;

/** Caches secrets by their values. Caching by hash would cost each request 2 µs for an HMAC. */
export function createSecretLookup({ db, pepper, limits, lastUses, now, onError }: SecretLookupOptions) {
  const known = new Recent<CachedSecret>({ max: MAX_CACHED, now });
  const refused = new Recent<Problem>({ max: MAX_CACHED, now });
  let revocations = 0;

  /** @throws Problem 401; RateLimited, without a query, if the address sent too many unknown secrets */
  async function find(value: string, address: string): Promise<SecretCaller> {
    const confirmed = known.get(value);
    if (confirmed) return use(confirmed);
    const refusal = refused.get(value);
    if (refusal) throw refusal;
    if (!isSecretValue(value))
      throw new Problem('secret_invalid', 'This is not an organization secret. Check it for typos.');
    const cached = known.last(value);
    if (!cached) limits.check('stray', address);
    const isBelieved = cached !== undefined && now() < cached.foundAt + BELIEVED_MS;
    const found = isBelieved ? await lookSoon(value, cached) : await look(value);
    if (found instanceof Problem) {
      known.delete(value);
      refused.set(value, found, CACHE_MS);
      // If this exceeds the limit, the next request is refused.
      await limits.count('stray', address).catch(() => undefined);
      throw found;
    }
    return use(found);
  }

  /**
   * The answer of the store, or the cached one if the store is down or slow. A late refusal still counts. A secret that was revoked
   * meanwhile waits for the store.
   */
  async function lookSoon(value: string, cached: CachedSecret): Promise<CachedSecret | Problem> {
    const believe = (): CachedSecret | undefined => {
      if (known.last(value) === undefined) return undefined;
      known.set(value, cached, CACHE_MS);
      return cached;
    };
    const looked = look(value).catch((error) => {
      const believed = isUnavailable(error) ? believe() : undefined;
      if (believed) return believed;
      throw error;
    });
    const found = await Promise.race([looked, pause(ANSWERED_WITHIN_MS, undefined, { ref: false })]);
    if (found) return found;
    const believed = believe();
    if (!believed) return looked;
    looked.then((late) => {
      if (late instanceof Problem) known.delete(value);
    }, onError);
    return believed;
  }

  /** The answer of the store. An answer from before a revocation does not count. */
  async function look(value: string): Promise<CachedSecret | Problem> {
    for (;;) {
      const before = revocations;
      const found = await ask(value);
      if (before !== revocations) continue;
      if (!(found instanceof Problem)) known.set(value, found, CACHE_MS);
      return found;
    }
  }

  async function ask(value: string): Promise<CachedSecret | Problem> {
    const row = await findSecretByHash(db, hashSecret(pepper, value));
    if (!row) {
      return new Problem('secret_invalid', 'This organization secret is not known here. Issue one in the dashboard.');
    }
    if (row.status === 'revoked') {
      return new Problem('secret_revoked', 'This organization secret was revoked. Issue a new one in the dashboard.');
    }
    const caller: SecretCaller = {
      secretId: row.secret_id,
      organizationId: row.organization_id,
      plane: row.plane,
      ...(row.is_machine === 1 && { machine: { environmentId: row.environment_id, userId: row.user_id } }),
    };
    return { caller, foundAt: now() };
  }

  function use({ caller }: CachedSecret): SecretCaller {
    lastUses.add({ kind: 'secret', organizationId: caller.organizationId, id: caller.secretId, at: now() });
    return caller;
  }

  return {
    find,
    forget(secretId: string) {
      revocations++;
      known.deleteWhere(({ caller }) => caller.secretId === secretId);
    },
  };
}
