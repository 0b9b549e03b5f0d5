import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose';
import type { Fetch } from '../fetch-json.ts';

export const ISSUER = 'https://id.example.com';
export const CLIENT_ID = 'dashboard';
export const NOW = Date.parse('2026-11-21T09:00:00.000Z');
export const seconds = (time: number) => Math.floor(time / 1000);

type Algorithm = 'RS256' | 'ES256' | 'EdDSA' | 'PS256' | 'ES384';

export async function createKey(kid: string, alg: Algorithm = 'ES256') {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  const jwk: JWK = { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' };
  const sign = (payload: JWTPayload, header: Record<string, unknown> = {}) =>
    new SignJWT(payload).setProtectedHeader({ alg, kid, ...header }).sign(privateKey);
  return { kid, alg, jwk, privateKey, publicKey, sign };
}

/** The claims of an ID token, with changes; undefined leaves a claim out. */
export const idToken = (change: Record<string, unknown> = {}): JWTPayload => ({
  iss: ISSUER,
  aud: CLIENT_ID,
  sub: 'person-1',
  email: 'Ada@example.com',
  email_verified: true,
  iat: seconds(NOW),
  exp: seconds(NOW) + 3600,
  ...change,
});

type Answer = () => Response | Promise<Response>;

/** A provider behind its own `fetch`: it counts every request, and a test can replace every answer. */
export function createProvider(keys: readonly { jwk: JWK }[]) {
  const json = (value: unknown) => () => Response.json(value);
  const answers: Record<string, Answer> = {
    '/.well-known/openid-configuration': json({
      issuer: ISSUER,
      jwks_uri: `${ISSUER}/jwks`,
      userinfo_endpoint: `${ISSUER}/userinfo`,
    }),
    '/jwks': json({ keys: keys.map(({ jwk }) => jwk) }),
    '/userinfo': json({ sub: 'person-1', email: 'ada@example.com', email_verified: true }),
  };
  const requests: { path: string; authorization: string | null }[] = [];
  let down = false;
  const fetch: Fetch = async (url, init) => {
    const { pathname } = new URL(url);
    requests.push({ path: pathname, authorization: new Headers(init.headers).get('authorization') });
    if (down) throw new TypeError('fetch failed: secret-text-of-the-provider');
    const answer = await answers[pathname]?.();
    return answer ?? new Response('no', { status: 404 });
  };
  return {
    fetch,
    requests,
    count: (path: string) => requests.filter((request) => request.path === path).length,
    answer: (path: string, reply: Answer) => {
      answers[path] = reply;
    },
    publish: (...published: { jwk: JWK }[]) => {
      answers['/jwks'] = json({ keys: published.map(({ jwk }) => jwk) });
    },
    stop: () => {
      down = true;
    },
    start: () => {
      down = false;
    },
  };
}
