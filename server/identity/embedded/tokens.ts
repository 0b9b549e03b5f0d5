import { generateKeyPairSync, randomBytes } from 'node:crypto';
import type { JWK } from 'jose';
import type { AccountRow, Db } from '../../store/schema.ts';
import { rememberSetting } from '../../store/settings.ts';

/** Client id of the dashboard, the only client of the embedded provider. */
export const CLIENT_ID = 'dashboard';

/** The issuer under which people are stored. The `iss` of tokens contains PUBLIC_URL, which may change. */
export const EMBEDDED = 'embedded';

/** Claim with the version of the account's password at the time of issue. */
export const PASSWORD_VERSION = 'password_version';

/**
 * The sign-in of an account, for the provider. The provider copies the context class (`acr`) to the session and to each token, so it
 * names the password that was checked: when the password is replaced, all of them end, even those that a pending sign-in makes later.
 */
export const loginOf = ({ account_id, password_version }: AccountRow) => ({
  accountId: account_id,
  acr: `password-${password_version}`,
});

/** Seconds that an unused browser stays signed in. */
export const SESSION_LIFE = 14 * 24 * 3600;

/** Keys that outlive a restart and are shared by all replicas. Without them, a restart would sign everybody out. */
export interface KeptKeys {
  /** Private keys that sign tokens. */
  signing: JWK[];
  /** Keys that sign cookies; new cookies are signed with the first. */
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

/** The public part of an elliptic-curve key. */
export const publicPart = ({ kty, crv, x, y, kid, alg, use }: JWK): JWK => ({ kty, crv, x, y, kid, alg, use }) as JWK;
