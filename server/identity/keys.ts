import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';

/** No key could ever be had from the provider, so nothing can be said about a token. */
export class KeysUnavailable extends Error {
  /** Seconds until asking again may help. */
  readonly retryAfter: number;

  constructor(retryAfter: number, cause?: unknown) {
    super('the identity provider has not yet given its keys', { cause });
    this.name = 'KeysUnavailable';
    this.retryAfter = retryAfter;
  }
}

export interface KeysOptions {
  /** Fetches the provider's JWK Set (RFC 7517). */
  load: () => Promise<JSONWebKeySet>;
  now: () => number;
  /** Told of every fetch that failed. */
  onError?: (error: unknown) => void;
}

/** Keys are asked for again after this long, so that a withdrawn key goes out of force. */
const REFRESH_MS = 10 * 60_000;
/** Between two fetches, whatever tokens arrive: a flood of unknown `kid`s costs one fetch. */
const COOL_DOWN_MS = 30_000;
/** The same before the first keys are here: the provider may have started after the service. */
const FIRST_COOL_DOWN_MS = 5_000;
/** How long keys stay good while their provider cannot be reached; far longer than any token lives. */
const KEEP_MS = 24 * 3_600_000;
/** How long a request waits for a refresh while good keys are at hand. */
const PATIENCE_MS = 1_000;

/**
 * A provider's public keys, kept over its outages. `jose`'s own remote key set forgets its keys when a refresh fails and
 * does not cool down after a failure, hence this one.
 * @throws KeysUnavailable when there are no keys, JOSEError `JWKSNoMatchingKey` when none fits the token
 */
export function createKeys({ load, now, onError = () => undefined }: KeysOptions): JWTVerifyGetKey {
  let keys: JWTVerifyGetKey | undefined;
  let loadedAt = Number.NEGATIVE_INFINITY;
  let triedAt = Number.NEGATIVE_INFINITY;
  let loading: Promise<void> | undefined;
  let failure: unknown;

  const coolDown = () => triedAt + (keys ? COOL_DOWN_MS : FIRST_COOL_DOWN_MS) - now();

  /** Fetches unless it is too soon; never throws. */
  function refresh(): Promise<void> {
    if (loading) return loading;
    if (coolDown() > 0) return Promise.resolve();
    triedAt = now();
    loading = load()
      .then((set) => {
        keys = createLocalJWKSet(set);
        loadedAt = now();
      })
      .catch((error: unknown) => {
        failure = error;
        onError(error);
      })
      .finally(() => {
        loading = undefined;
      });
    return loading;
  }

  return async (header, token) => {
    const age = now() - loadedAt;
    if (!keys || age > KEEP_MS) await refresh();
    else if (age > REFRESH_MS) await withPatience(refresh());
    if (!keys || now() - loadedAt > KEEP_MS) {
      throw new KeysUnavailable(Math.max(1, Math.ceil(coolDown() / 1000)), failure);
    }
    try {
      return await keys(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      const before = loadedAt;
      await refresh();
      if (loadedAt === before) throw error;
      return keys(header, token);
    }
  };
}

async function withPatience(work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const tired = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, PATIENCE_MS);
  });
  await Promise.race([work, tired]).finally(() => clearTimeout(timer));
}
