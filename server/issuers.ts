/* Which issuers an operator may trust, and by which claims. */

/** The claims that may contain the e-mail. */
export const EMAIL_CLAIMS = ['email', 'preferred_username', 'upn'] as const;
export type EmailClaim = (typeof EMAIL_CLAIMS)[number];

/** The path of an issuer of Microsoft, with the id of a tenant. */
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

/** The id of the tenant whose issuer of Microsoft this is. */
export const tenantIn = (issuer: string): string | undefined => ISSUER_PATH.exec(new URL(issuer).pathname)?.[1];

export const isSharedTenant = (tenant: string): boolean => SHARED.has(tenant);

const firstSegment = (issuer: string): string => (new URL(issuer).pathname.split('/')[1] ?? '').toLowerCase();

/** Whether people of many companies have accounts at the issuer. */
export const isShared = (issuer: string): boolean =>
  isSharedTenant(firstSegment(issuer)) || PUBLIC_HOSTS.has(new URL(issuer).hostname);

/** Whether the address is an issuer of Microsoft without the id of a tenant. Its tokens name another issuer. */
export const lacksTenant = (issuer: string): boolean =>
  HOSTS.test(new URL(issuer).hostname) && tenantIn(issuer) === undefined;
