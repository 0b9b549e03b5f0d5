import { decodeJwt, type JWTPayload } from 'jose';
import { type Discovery, type Metadata, RemoteDiscovery } from './discovery.ts';
import type { Identity } from './identity.ts';
import { signInLetter } from './letters.ts';
import { createOidcIdentity, type OidcOptions } from './oidc.ts';
import { createUserPool } from './user-pool.ts';

export interface CognitoOptions extends Omit<OidcOptions, 'issuer' | 'discovery' | 'isForUs'> {
  userPoolId: string;
  region: string;
  /** Address of the pool's sign-in pages; undefined: as the pool's discovery document has it. */
  domain?: string | undefined;
  /** Address of the API where it is not Amazon's own, such as that of an emulator. */
  endpoint?: string | undefined;
}

/** The pool must have this attribute as a mutable one, and the dashboard's client must not be allowed to write it. */
const TENANT = 'custom:organizationId';

/** A user pool of Amazon Cognito: an OpenID provider that learns who founded which organization, and mails invitations itself. */
export function createCognitoIdentity(options: CognitoOptions): Identity {
  const { userPoolId, region, domain, endpoint, clientId, publicUrl, sendMail, fetch, now } = options;
  const issuer = `${endpoint ?? `https://cognito-idp.${region}.amazonaws.com`}/${userPoolId}`;
  const pool = createUserPool({ id: userPoolId, region, endpoint });
  const discovery = domain === undefined ? new RemoteDiscovery(issuer, fetch, now) : known(issuer, domain);
  const oidc = createOidcIdentity({ ...options, issuer, discovery, isForUs: isForUs(clientId) });
  return {
    ...oidc,
    bootstrap: () => ({
      idpUserPoolId: userPoolId,
      idpClientId: clientId,
      idpRegion: region,
      idpDomain: domain ?? issuer,
    }),
    async verify(token) {
      const claims = await oidc.verify(token);
      return { ...claims, username: usernameOf(decodeJwt(token)) ?? claims.subject };
    },
    assignTenant: ({ username, subject }, organizationId) =>
      pool.setAttribute(username ?? subject, TENANT, organizationId),
    async invite(mail) {
      if (!(await pool.createAccount(mail.email))) await sendMail(signInLetter(mail, `${publicUrl}/`));
      return {};
    },
  };
}

/** The metadata that Amazon documents for every pool with a domain, so the pool need not be asked. */
function known(issuer: string, domain: string): Discovery {
  const metadata: Metadata = {
    issuer,
    jwksUri: `${issuer}/.well-known/jwks.json`,
    userinfoEndpoint: `${domain}/oauth2/userInfo`,
    browserEndpoints: [domain],
  };
  return { known: () => metadata, read: async () => metadata, tryRead: async () => metadata };
}

/** ID tokens name the client in `aud`; access tokens have no `aud`, and both are signed with the same keys. */
const isForUs =
  (clientId: string) =>
  ({ token_use, aud, client_id }: JWTPayload): boolean =>
    token_use === 'id' ? aud === clientId : token_use === 'access' && aud === undefined && client_id === clientId;

/** The API of the pool knows people who signed in through another provider behind it by this name alone. */
function usernameOf(payload: JWTPayload): string | undefined {
  const username = payload['cognito:username'] ?? payload.username;
  return typeof username === 'string' && username !== '' ? username : undefined;
}
