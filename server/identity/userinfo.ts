import type { JWTPayload } from 'jose';
import { Recent } from '../recent.ts';
import { Once } from '../work.ts';
import { type Fetch, fetchJson } from './fetch-json.ts';

export interface UserinfoOptions {
  /** Undefined while the address is unknown, or if the provider has none. */
  endpoint: () => string | undefined;
  fetch: Fetch;
  now: () => number;
  onError?: (error: unknown) => void;
}

const KEEP_MS = 10 * 60_000;
const FAILURE_KEEP_MS = 60_000;
const MAX_KEPT = 10_000;

interface CachedClaims {
  /** Absent if nothing is known of the person. */
  claims: JWTPayload | undefined;
}

/**
 * Reads the bearer's claims from the userinfo endpoint (OpenID Connect Core §5.3), at most once in ten minutes for each
 * person. Never throws: while the endpoint fails, the last answer about the person stays in use.
 */
export function createUserinfo(options: UserinfoOptions) {
  const { endpoint, fetch, now, onError = () => undefined } = options;
  const known = new Recent<CachedClaims>({ max: MAX_KEPT, now });
  const asking = new Once<JWTPayload | undefined>();

  async function ask(token: string, subject: string): Promise<JWTPayload | undefined> {
    const url = endpoint();
    if (!url) return keep(subject, undefined, FAILURE_KEEP_MS);
    try {
      const answer = await fetchJson(url, { fetch, headers: { authorization: `Bearer ${token}` } });
      // §5.3.2: an answer about another subject must not be used.
      if (answer.sub !== subject) throw new Error(`${url} answered for another person`);
      return keep(subject, answer, KEEP_MS);
    } catch (error) {
      onError(error);
      return keep(subject, known.last(subject)?.claims, FAILURE_KEEP_MS);
    }
  }

  function keep(subject: string, claims: JWTPayload | undefined, validMs: number): JWTPayload | undefined {
    known.set(subject, { claims }, validMs);
    return claims;
  }

  return async (token: string, subject: string): Promise<JWTPayload | undefined> => {
    const fresh = known.get(subject);
    return fresh ? fresh.claims : asking.run(subject, () => ask(token, subject));
  };
}
