import type { JWTPayload } from 'jose';
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

interface Known {
  claims: JWTPayload | undefined;
  until: number;
}

/**
 * Reads the bearer's claims from the userinfo endpoint (OpenID Connect Core §5.3), at most once in ten minutes for each
 * person. Never throws: while the endpoint fails, the last answer about the person stays in use.
 */
export function createUserinfo(options: UserinfoOptions) {
  const { endpoint, fetch, now, onError = () => undefined } = options;
  const known = new Map<string, Known>();
  const asking = new Map<string, Promise<Known>>();

  async function ask(token: string, subject: string): Promise<Known> {
    const url = endpoint();
    if (!url) return { claims: undefined, until: now() + FAILURE_KEEP_MS };
    try {
      const answer = await fetchJson(url, { fetch, headers: { authorization: `Bearer ${token}` } });
      // §5.3.2: an answer about another subject must not be used.
      if (answer.sub !== subject) throw new Error(`${url} answered for another person`);
      return { claims: answer, until: now() + KEEP_MS };
    } catch (error) {
      onError(error);
      return { claims: known.get(subject)?.claims, until: now() + FAILURE_KEEP_MS };
    }
  }

  return async (token: string, subject: string): Promise<JWTPayload | undefined> => {
    const fresh = known.get(subject);
    if (fresh && fresh.until > now()) return fresh.claims;
    const pending = asking.get(subject) ?? ask(token, subject).finally(() => asking.delete(subject));
    asking.set(subject, pending);
    const answer = await pending;
    if (known.size >= MAX_KEPT) known.clear();
    known.set(subject, answer);
    return answer.claims;
  };
}
