import { setTimeout } from 'node:timers/promises';
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';

/*
 * A provider's public keys, kept during its outages. We do not use the remote key set of `jose`, because it forgets its keys
 * when a refresh fails, and retries at once.
 *
 *   state   | entered                     | for a token
 *   --------|-----------------------------|---------------------------------------------------------------------------
 *   none    | at the start; 24 h after    | loads and waits for it, at most every 5 s at the start, later every 30 s;
 *           | the last load               | without keys afterwards: KeysUnavailable
 *   fresh   | after a load                | uses the keys; a key that is not among them: loads, at most every 30 s
 *   stale   | 10 min after the last load  | loads, at most every 30 s, and waits 1 s for it; then as in `fresh`
 */

/** The provider has never returned its keys, or not for 24 h, so the service cannot judge a token. */
export class KeysUnavailable extends Error {
  /** Seconds until a retry may help. */
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
  /** Called for every failed fetch. */
  onError?: (error: unknown) => void;
}

/** The age at which keys become stale. They are then loaded again, so that a withdrawn key is no longer accepted. */
const REFRESH_MS = 10 * 60_000;
/** The least time between two loads: a flood of tokens with unknown keys causes one load. */
const COOL_DOWN_MS = 30_000;
/** The same before the first keys are loaded, because the provider may have started after the service. */
const FIRST_COOL_DOWN_MS = 5_000;
/** The greatest age of keys that are used while the provider is down. It is far longer than the life of a token. */
const KEEP_MS = 24 * 3_600_000;
/** How long a request waits for a load if there are keys to use meanwhile. */
const PATIENCE_MS = 1_000;

export class ProviderKeys {
  readonly #options: KeysOptions;
  #keys: JWTVerifyGetKey | undefined;
  #loadedAt = Number.NEGATIVE_INFINITY;
  #triedAt = Number.NEGATIVE_INFINITY;
  #loading: Promise<void> | undefined;
  #failure: unknown;

  constructor(options: KeysOptions) {
    this.#options = options;
  }

  /** @throws KeysUnavailable if there are no keys, JOSEError `JWKSNoMatchingKey` if none fits the token */
  readonly find: JWTVerifyGetKey = async (header, token) => {
    const state = this.#state();
    if (state === 'none') await this.#load();
    if (state === 'stale') await Promise.race([this.#load(), setTimeout(PATIENCE_MS, undefined, { ref: false })]);
    if (!this.#keys || this.#state() === 'none') {
      throw new KeysUnavailable(Math.max(1, Math.ceil(this.#coolDown() / 1000)), this.#failure);
    }
    try {
      return await this.#keys(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      const before = this.#loadedAt;
      await this.#load();
      if (this.#loadedAt === before) throw error;
      return this.#keys(header, token);
    }
  };

  #state(): 'none' | 'fresh' | 'stale' {
    const age = this.#options.now() - this.#loadedAt;
    if (!this.#keys || age > KEEP_MS) return 'none';
    return age > REFRESH_MS ? 'stale' : 'fresh';
  }

  /** Milliseconds until the next load may begin. */
  #coolDown(): number {
    return this.#triedAt + (this.#keys ? COOL_DOWN_MS : FIRST_COOL_DOWN_MS) - this.#options.now();
  }

  /** Loads the keys unless it is too soon. Concurrent requests share one load. Never throws. */
  #load(): Promise<void> {
    if (this.#loading) return this.#loading;
    if (this.#coolDown() > 0) return Promise.resolve();
    const { load, now, onError } = this.#options;
    this.#triedAt = now();
    this.#loading = load()
      .then((set) => {
        this.#keys = createLocalJWKSet(set);
        this.#loadedAt = now();
      })
      .catch((error: unknown) => {
        this.#failure = error;
        onError?.(error);
      })
      .finally(() => {
        this.#loading = undefined;
      });
    return this.#loading;
  }
}
