import { type Fetch, fetchJson } from './fetch-json.ts';

/** What is used of a provider's metadata (OpenID Connect Discovery 1.0 §3). */
export interface Metadata {
  issuer: string;
  jwksUri: string;
  userinfoEndpoint?: string;
}

const withoutSlash = (url: string) => url.replace(/\/$/, '');

/**
 * Reads the provider's metadata.
 * @throws Error when it cannot be had, or is another issuer's (§4.3); a trailing slash makes no other issuer
 */
export async function discover(issuer: string, fetch: Fetch): Promise<Metadata> {
  const url = `${withoutSlash(issuer)}/.well-known/openid-configuration`;
  const { issuer: named, jwks_uri, userinfo_endpoint } = await fetchJson(url, { fetch });
  if (typeof named !== 'string' || withoutSlash(named) !== withoutSlash(issuer)) {
    throw new Error(`${url} is the metadata of another issuer`);
  }
  if (!isHttp(jwks_uri)) throw new Error(`${url} names no jwks_uri`);
  const metadata = { issuer: named, jwksUri: jwks_uri };
  return isHttp(userinfo_endpoint) ? { ...metadata, userinfoEndpoint: userinfo_endpoint } : metadata;
}

const isHttp = (value: unknown): value is string =>
  typeof value === 'string' && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
