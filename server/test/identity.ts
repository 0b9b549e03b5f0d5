import { errors, generateKeyPair, jwtVerify, SignJWT } from 'jose';
import { Problem } from '../../contract/problem.ts';
import type { Claims } from '../claims.ts';
import type { Identity, InviteMail } from '../identity/identity.ts';

const ISSUER = 'https://identity.test';
const CLIENT_ID = 'dashboard';

export interface Person {
  subject: string;
  email?: string;
  emailVerified?: boolean;
}

export interface TestIdentity extends Identity {
  /** A token for the person; `seconds` may be negative for one that has expired. */
  token(person: Person, seconds?: number): Promise<string>;
  invitations: InviteMail[];
  /** The assignments of people to organizations that the provider received. */
  assignments: { subject: string; organizationId: string }[];
  /** Claims that the provider adds to every token, to act like another provider. */
  claims: Partial<Claims>;
  /** When the links in its mails expire; absent: never. */
  linkExpiresAt?: number;
  /** While set, the provider fails every call. */
  broken: boolean;
}

const keys = await generateKeyPair('ES256');

/** An identity provider in the test's own process, with real tokens and a switch that breaks it. */
export function createTestIdentity(): TestIdentity {
  const identity: TestIdentity = {
    broken: false,
    claims: {},
    invitations: [],
    assignments: [],
    bootstrap: () => ({ idpUserPoolId: '', idpClientId: CLIENT_ID, idpRegion: '', idpDomain: ISSUER }),
    token: ({ subject, email, emailVerified = true }, seconds = 3600) =>
      new SignJWT({ ...(email ? { email, email_verified: emailVerified } : {}) })
        .setProtectedHeader({ alg: 'ES256' })
        .setIssuer(ISSUER)
        .setAudience(CLIENT_ID)
        .setSubject(subject)
        .setIssuedAt()
        .setExpirationTime(Math.floor(Date.now() / 1000) + seconds)
        .sign(keys.privateKey),
    async verify(token) {
      try {
        const { payload } = await jwtVerify(token, keys.publicKey, { issuer: ISSUER, audience: CLIENT_ID });
        const email = payload.email as string | undefined;
        return {
          issuer: ISSUER,
          subject: String(payload.sub),
          emailVerified: payload.email_verified === true,
          ...(email === undefined ? {} : { email }),
          ...identity.claims,
        };
      } catch (error) {
        if (error instanceof errors.JWTExpired) throw new Problem('token_expired', 'Sign in again.');
        throw new Problem('token_invalid', 'Sign in again.');
      }
    },
    async assignTenant({ subject }, organizationId) {
      if (identity.broken) throw new Error('the provider is broken');
      identity.assignments.push({ subject, organizationId });
    },
    async invite(mail) {
      if (identity.broken) throw new Error('the provider is broken');
      identity.invitations.push(mail);
      return identity.linkExpiresAt === undefined ? {} : { linkExpiresAt: identity.linkExpiresAt };
    },
    origins: async () => [ISSUER],
  };
  return identity;
}
