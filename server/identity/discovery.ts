import { type Fetch, fetchJson } from './fetch-json.ts';

/** What is used of a provider's metadata (OpenID Connect Discovery 1.0 §3). */
export interface Metadata {
  issuer: string;
  jwksUri: string;
  userinfoEndpoint?: string;
  /** Where a browser fetches tokens, and has them withdrawn; all else it visits as a page. */
  browserEndpoints: readonly string[];
}

const withoutSlash = (url: string) => url.replace(/\/$/, '');

/**
 * Reads the provider's metadata.
 * @throws Error when it cannot be had, or is another issuer's (§4.3); a trailing slash makes no other issuer
 */
export async function discover(issuer: string, fetch: Fetch): Promise<Metadata> {
  const url = `${withoutSlash(issuer)}/.well-known/openid-configuration`;
  const answer = await fetchJson(url, { fetch });
  const { issuer: named, jwks_uri, userinfo_endpoint } = answer;
  if (typeof named !== 'string' || withoutSlash(named) !== withoutSlash(issuer)) {
    throw new Error(`${url} is the metadata of another issuer`);
  }
  if (!isHttp(jwks_uri)) throw new Error(`${url} names no jwks_uri`);
  const browserEndpoints = [answer.token_endpoint, userinfo_endpoint, answer.revocation_endpoint].filter(isHttp);
  const metadata = { issuer: named, jwksUri: jwks_uri, browserEndpoints };
  return isHttp(userinfo_endpoint) ? { ...metadata, userinfoEndpoint: userinfo_endpoint } : metadata;
}

/** What is known of the provider is asked for again after this long, but once it is known it stays. */
const METADATA_MS = 3_600_000;
/** Between two attempts that failed, for those who could do without. */
const COOL_DOWN_MS = 5_000;

export interface Discovery {
  /** What was last known. */
  known(): Metadata | undefined;
  /** @throws Error when the provider must be asked, and fails */
  read(): Promise<Metadata>;
  /** What is known; asks first where nothing is, unless that failed a moment ago. Takes one time-out at most. */
  tryRead(): Promise<Metadata | undefined>;
}

/** The provider's metadata, kept. Requests that need it at the same time ask once. */
export function createDiscovery(issuer: string, fetch: Fetch, now: () => number): Discovery {
  let metadata: Metadata | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  let failedAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<Metadata> | undefined;

  async function ask(): Promise<Metadata> {
    try {
      metadata = await discover(issuer, fetch);
      readAt = now();
      return metadata;
    } catch (error) {
      failedAt = now();
      throw error;
    }
  }

  async function read(): Promise<Metadata> {
    if (metadata && now() - readAt <= METADATA_MS) return metadata;
    reading ??= ask().finally(() => {
      reading = undefined;
    });
    return reading;
  }

  return {
    known: () => metadata,
    read,
    async tryRead() {
      if (metadata || now() - failedAt < COOL_DOWN_MS) return metadata;
      return read().catch(() => undefined);
    },
  };
}

const isHttp = (value: unknown): value is string =>
  typeof value === 'string' && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
