import type { JWTPayload } from 'jose';

/* Microsoft Entra (Azure AD): its issuers, and the claims that only it writes. */

const ISSUER_PATH = /^\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:\/v2\.0)?\/?$/i;

/** The tenant of all personal Microsoft accounts. */
const PERSONAL = '9188040d-6c67-4c5b-b112-36a304b66dad';

/** Names in place of a tenant, and the tenants in which people of all companies have accounts. */
const SHARED = new Set(['common', 'organizations', 'consumers', PERSONAL, 'f8cdef31-a31e-4b4a-93e4-5f571e91255a']);

const HOSTS = /^(login\.microsoftonline\.(com|us)|login\.partner\.microsoftonline\.cn|sts\.windows\.net)$/;

/** Issuers of other vendors at which anybody can have an account. */
const PUBLIC_HOSTS = new Set([
  'accounts.google.com',
  'appleid.apple.com',
  'gitlab.com',
  'slack.com',
  'www.linkedin.com',
]);

const firstSegment = (issuer: string): string => (new URL(issuer).pathname.split('/')[1] ?? '').toLowerCase();

/** Whether people of many companies have accounts at the issuer. */
export const isShared = (issuer: string): boolean =>
  SHARED.has(firstSegment(issuer)) || PUBLIC_HOSTS.has(new URL(issuer).hostname);

/** Whether the address is an issuer of Microsoft without the id of a tenant. Its tokens name another issuer. */
export const lacksTenant = (issuer: string): boolean =>
  HOSTS.test(new URL(issuer).hostname) && !ISSUER_PATH.test(new URL(issuer).pathname);

/** The tenant that issued the token: `tid`, if the issuer itself names this tenant. */
export function tenantOf({ iss, tid }: JWTPayload): string | undefined {
  const [, named] = iss !== undefined && URL.canParse(iss) ? (ISSUER_PATH.exec(new URL(iss).pathname) ?? []) : [];
  return named !== undefined && named === tid ? named : undefined;
}

/** The person's object id in the tenant, which its directory sends as `externalId`. */
export function objectIdOf(payload: JWTPayload): string | undefined {
  const { oid } = payload;
  const tenant = tenantOf(payload);
  if (tenant === undefined || SHARED.has(tenant)) return undefined;
  return typeof oid === 'string' && oid !== '' ? oid : undefined;
}

/**
 * Whether the account belongs to another tenant, which decides its names and addresses. Such an account is a guest here. `idp`
 * is absent for accounts of the tenant itself. `acct` is an optional claim.
 */
export function isGuest(payload: JWTPayload): boolean {
  const { iss, idp, acct } = payload;
  const own = [iss, `https://sts.windows.net/${tenantOf(payload)}/`];
  return Number(acct) === 1 || (idp !== undefined && !own.some((address) => address === idp));
}

/** `xms_edov`: whether the owner of the e-mail's domain is verified. Microsoft writes it as a boolean, a number or a text. */
export function isDomainVerified({ xms_edov: written }: JWTPayload, token: JWTPayload): boolean | undefined {
  if (written === undefined || tenantOf(token) === undefined) return undefined;
  return [true, 1, '1', 'true'].some((yes) => yes === written);
}
