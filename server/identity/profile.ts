import type { JWTPayload } from 'jose';
import { Value } from 'typebox/value';
import { Email } from '../../contract/organization.ts';
import type { EmailClaim } from '../issuers.ts';
import { emailKey } from '../store/columns.ts';
import { isDomainVerified, isGuest, tenantOf } from './entra.ts';

/** A person's e-mail, and whether the issuer vouches for it. */
export interface Profile {
  email?: string;
  emailVerified: boolean;
}

/** How the operator wants e-mails to be read. */
export interface EmailRules {
  claim: EmailClaim;
  /** The operator vouches for all addresses of the issuer's own accounts. */
  trustsIssuer: boolean;
}

/** The rules of OpenID Connect Core §5.1. */
export const STANDARD_EMAILS: EmailRules = { claim: 'email', trustsIssuer: false };

/**
 * Reads the e-mail from the claims of a token or of a userinfo answer.
 * @param token the claims of the token, which say whose account it is
 */
export function readProfile(claims: JWTPayload, token: JWTPayload, rules: EmailRules): Profile {
  const email = claims[rules.claim];
  if (typeof email !== 'string' || !Value.Check(Email, email)) return { emailVerified: false };
  const stated = isSame(claims.email, email) ? readStatement(claims, token) : undefined;
  return { email, emailVerified: stated ?? (rules.trustsIssuer && isOwnAccount(token, email)) };
}

/** The statement about `email`. A refusal counts even if the operator vouches for the issuer. Some providers write a text. */
function readStatement(claims: JWTPayload, token: JWTPayload): boolean | undefined {
  const { email_verified: verified } = claims;
  return verified === undefined ? isDomainVerified(claims, token) : verified === true || verified === 'true';
}

/** `email_verified` and `xms_edov` say nothing about an address in another claim. */
const isSame = (stated: unknown, email: string) => typeof stated === 'string' && emailKey(stated) === emailKey(email);

/** Other tenants decide the addresses of their people, so nobody can vouch for a guest. */
function isOwnAccount(token: JWTPayload, email: string): boolean {
  if (token.tid === undefined) return true;
  return tenantOf(token) !== undefined && !isGuest(token) && !/#EXT#/i.test(email);
}
