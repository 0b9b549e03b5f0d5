import type { JWTPayload } from 'jose';
import { isSharedTenant, tenantIn } from '../issuers.ts';

/* Microsoft Entra (Azure AD): the claims that only it writes. */

/** The tenant that issued the token: `tid`, if the issuer itself names this tenant. */
export function tenantOf({ iss, tid }: JWTPayload): string | undefined {
  const named = iss !== undefined && URL.canParse(iss) ? tenantIn(iss) : undefined;
  return named !== undefined && named === tid ? named : undefined;
}

/** The person's object id in the tenant, which its directory sends as `externalId`. */
export function objectIdOf(payload: JWTPayload): string | undefined {
  const { oid } = payload;
  const tenant = tenantOf(payload);
  if (tenant === undefined || isSharedTenant(tenant)) return undefined;
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
