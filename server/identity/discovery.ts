import { type Fetch, fetchJson } from './fetch-json.ts';

/** The part of a provider's metadata that the service uses (OpenID Connect Discovery 1.0 §3). */
export interface Metadata {
  issuer: string;
  jwksUri: string;
  userinfoEndpoint?: string;
  /** Addresses that a browser calls in the background, for tokens, userinfo and revocation. */
  browserEndpoints: readonly string[];
}

const withoutSlash = (url: string) => url.replace(/\/$/, '');

/**
 * Reads the provider's metadata.
 * @throws Error if it cannot be read, or names another issuer (§4.3); a trailing slash makes no difference
 */
export async function discover(issuer: string, fetch: Fetch): Promise<Metadata> {
  const url = `${withoutSlash(issuer)}/.well-known/openid-configuration`;
  const answer = await fetchJson(url, { fetch });
  const { issuer: named, jwks_uri, userinfo_endpoint } = answer;
  if (typeof named !== 'string' || withoutSlash(named) !== withoutSlash(issuer)) {
    throw new Error(`${url} is the metadata of another issuer`);
  }
  if (!isHttp(jwks_uri)) throw new Error(`${url} contains no jwks_uri`);
  const browserEndpoints = [answer.token_endpoint, userinfo_endpoint, answer.revocation_endpoint].filter(isHttp);
  const metadata = { issuer: named, jwksUri: jwks_uri, browserEndpoints };
  return isHttp(userinfo_endpoint) ? { ...metadata, userinfoEndpoint: userinfo_endpoint } : metadata;
}

/** Metadata older than this is read again. The last metadata is used until then, and after a failure. */
const REFRESH_MS = 3_600_000;
/** How long `tryRead` does not retry after a failure. */
const COOL_DOWN_MS = 5_000;

export interface Discovery {
  /** The metadata of the last successful read. */
  known(): Metadata | undefined;
  /** @throws Error if the provider must be queried, and fails */
  read(): Promise<Metadata>;
  /** The known metadata. If there is none, it is read, unless a read failed a moment ago. Takes at most one timeout. */
  tryRead(): Promise<Metadata | undefined>;
}

/** Reads the provider's metadata and keeps it. Concurrent requests share one read. */
export class RemoteDiscovery implements Discovery {
  readonly #issuer: string;
  readonly #fetch: Fetch;
  readonly #now: () => number;
  #metadata: Metadata | undefined;
  #readAt = Number.NEGATIVE_INFINITY;
  #failedAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<Metadata> | undefined;

  constructor(issuer: string, fetch: Fetch, now: () => number) {
    this.#issuer = issuer;
    this.#fetch = fetch;
    this.#now = now;
  }

  known(): Metadata | undefined {
    return this.#metadata;
  }

  async read(): Promise<Metadata> {
    if (this.#metadata && this.#now() - this.#readAt <= REFRESH_MS) return this.#metadata;
    this.#reading ??= this.#ask().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async tryRead(): Promise<Metadata | undefined> {
    if (this.#metadata || this.#now() - this.#failedAt < COOL_DOWN_MS) return this.#metadata;
    return this.read().catch(() => undefined);
  }

  async #ask(): Promise<Metadata> {
    try {
      this.#metadata = await discover(this.#issuer, this.#fetch);
      this.#readAt = this.#now();
      return this.#metadata;
    } catch (error) {
      this.#failedAt = this.#now();
      throw error;
    }
  }
}

const isHttp = (value: unknown): value is string =>
  typeof value === 'string' && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
