import type {
  AdminCreateUserCommandInput,
  CognitoIdentityProviderClientConfig,
} from '@aws-sdk/client-cognito-identity-provider';
import { decodeJwt, type JWTPayload } from 'jose';
import { type Discovery, type Metadata, RemoteDiscovery } from './discovery.ts';
import type { Identity } from './identity.ts';
import { signInLetter } from './mail.ts';
import { createOidcIdentity, type OidcOptions } from './oidc.ts';

export interface CognitoOptions extends Omit<OidcOptions, 'issuer' | 'discovery' | 'isForUs'> {
  userPoolId: string;
  region: string;
  /** Address of the pool's sign-in pages; undefined: the one in the pool's discovery document. */
  domain?: string | undefined;
  /** Address of the API, if it is not Amazon's own, for instance an emulator. */
  endpoint?: string | undefined;
}

/** The pool must define this attribute as mutable, and must not allow the dashboard's client to write it. */
const TENANT = 'custom:organizationId';

/** A user pool of Amazon Cognito: an OpenID provider that stores the organization of its founder, and mails invitations. */
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

/** Amazon documents this metadata for every pool with a domain, so the pool need not be queried. */
function known(issuer: string, domain: string): Discovery {
  const metadata: Metadata = {
    issuer,
    jwksUri: `${issuer}/.well-known/jwks.json`,
    userinfoEndpoint: `${domain}/oauth2/userInfo`,
    browserEndpoints: [domain],
  };
  return { known: () => metadata, read: async () => metadata, tryRead: async () => metadata };
}

/** ID tokens name the client in `aud`. Access tokens have no `aud`, and the same keys sign both. */
const isForUs =
  (clientId: string) =>
  ({ token_use, aud, client_id }: JWTPayload): boolean =>
    token_use === 'id' ? aud === clientId : token_use === 'access' && aud === undefined && client_id === clientId;

/** For people who signed in through another provider behind the pool, the pool's API accepts only this name. */
function usernameOf(payload: JWTPayload): string | undefined {
  const username = payload['cognito:username'] ?? payload.username;
  return typeof username === 'string' && username !== '' ? username : undefined;
}

interface UserPoolOptions {
  id: string;
  region: string;
  /** Address of the API, if it is not Amazon's own, for instance an emulator. */
  endpoint?: string | undefined;
}

/** The API calls to a user pool of Amazon Cognito. Each takes five seconds at most. */
interface UserPool {
  /**
   * Sets one attribute of a person.
   * @throws Error if the pool refuses, or does not answer in time
   */
  setAttribute(username: string, name: string, value: string): Promise<void>;
  /**
   * Creates an account, and mails its first password. Mails it again if the person has not used it yet.
   * @returns false, without a mail, if the person already uses an account
   * @throws Error if the pool refuses, or does not answer in time
   */
  createAccount(email: string): Promise<boolean>;
}

/** Limit for one call with its retries and the search for credentials, because a person waits for the answer. */
const TIMEOUT_MS = 5_000;
/** Limit for one attempt, so that a silent connection leaves time for a second one. */
const ATTEMPT_MS = 2_000;

/** A user pool, called with Amazon's client, which finds credentials in all the usual places. */
function createUserPool({ id: UserPoolId, region, endpoint }: UserPoolOptions): UserPool {
  const settings: CognitoIdentityProviderClientConfig = {
    region,
    maxAttempts: 2,
    requestHandler: { connectionTimeout: ATTEMPT_MS, requestTimeout: ATTEMPT_MS, throwOnRequestTimeout: true },
    ...(endpoint !== undefined && { endpoint }),
    // Amazon is called only over https. An emulator accepts any credentials.
    ...(endpoint?.startsWith('http:') && { credentials: { accessKeyId: 'emulator', secretAccessKey: 'emulator' } }),
  };
  let connecting: ReturnType<typeof connect> | undefined;
  const connected = () => {
    connecting ??= connect(settings);
    return connecting;
  };

  return {
    async setAttribute(Username, Name, Value) {
      const { client, AdminUpdateUserAttributesCommand } = await connected();
      const input = { UserPoolId, Username, UserAttributes: [{ Name, Value }] };
      await inTime((abortSignal) => client.send(new AdminUpdateUserAttributesCommand(input), { abortSignal }));
    },

    async createAccount(email) {
      const { client, AdminCreateUserCommand } = await connected();
      // The first password is mailed only to this address, so signing in with it proves the e-mail.
      const attributes = { email, email_verified: 'true' };
      const UserAttributes = Object.entries(attributes).map(([Name, Value]) => ({ Name, Value }));
      const create = (rest: Partial<AdminCreateUserCommandInput>, abortSignal: AbortSignal) => {
        const input = { UserPoolId, Username: email, DesiredDeliveryMediums: ['EMAIL' as const], ...rest };
        return client.send(new AdminCreateUserCommand(input), { abortSignal });
      };
      try {
        await inTime((signal) =>
          create({ UserAttributes }, signal).catch((error) => {
            if (!isNamed(error, 'UsernameExistsException')) throw error;
            return create({ MessageAction: 'RESEND' }, signal);
          }),
        );
        return true;
      } catch (error) {
        if (isNamed(error, 'UnsupportedUserStateException')) return false;
        throw error;
      }
    },
  };
}

/** Loaded with the first call: the client takes as much memory as the rest of the service at its start. */
async function connect(settings: CognitoIdentityProviderClientConfig) {
  const { CognitoIdentityProviderClient, AdminCreateUserCommand, AdminUpdateUserAttributesCommand } = await import(
    '@aws-sdk/client-cognito-identity-provider'
  );
  const client = new CognitoIdentityProviderClient(settings);
  return { client, AdminCreateUserCommand, AdminUpdateUserAttributesCommand };
}

/** The limits of Amazon's client do not cover the search for credentials. */
async function inTime<Result>(ask: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const late = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });
  return Promise.race([ask(signal), late]);
}

const isNamed = (error: unknown, name: string): boolean => error instanceof Error && error.name === name;
