import { generateKeyPairSync, randomBytes } from 'node:crypto';
import type { JWK } from 'jose';
import type { Db } from '../../store/open.ts';
import { rememberSetting } from '../../store/settings.ts';

/** What the provider must remember over restarts and share between replicas, or everybody is signed out. */
export interface KeptKeys {
  /** Private signing keys. */
  signing: JWK[];
  /** Cookies are signed with the first. */
  cookies: string[];
}

export async function readKeptKeys(db: Db): Promise<KeptKeys> {
  const signing = await rememberSetting(db, 'oidc_signing_keys', () => JSON.stringify([makeSigningKey()]));
  const cookies = await rememberSetting(db, 'oidc_cookie_keys', () =>
    JSON.stringify([randomBytes(32).toString('base64url')]),
  );
  return { signing: JSON.parse(signing) as JWK[], cookies: JSON.parse(cookies) as string[] };
}

function makeSigningKey(): JWK {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const jwk = privateKey.export({ format: 'jwk' }) as JWK;
  return { ...jwk, kid: randomBytes(12).toString('base64url'), alg: 'ES256', use: 'sig' };
}

/** The part of an elliptic-curve key that everybody may know. */
export const publicPart = ({ kty, crv, x, y, kid, alg, use }: JWK): JWK => ({ kty, crv, x, y, kid, alg, use }) as JWK;
