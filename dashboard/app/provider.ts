import { ErrorResponse, ErrorTimeout, type OidcMetadata, UserManager, WebStorageStateStore } from 'oidc-client-ts';
import type { BootstrapConfig } from '../../contract/bootstrap.ts';
import { paths } from './paths.ts';

/** Seconds in which the provider has to answer; without an end the page would stay blank. */
const PATIENCE = 10;

/** The library that talks to the identity provider, and what it is to be told of this one. */
export function createProvider(config: BootstrapConfig) {
  const { origin } = window.location;
  const metadata = knownMetadata(config);
  const manager = new UserManager({
    authority: config.idpDomain,
    ...(metadata && { metadata }),
    client_id: config.idpClientId,
    redirect_uri: origin + paths.signedIn(),
    post_logout_redirect_uri: origin + paths.home(),
    requestTimeoutInSeconds: PATIENCE,
    // For this tab only: a reload keeps the person signed in, a closed tab forgets them.
    userStore: new WebStorageStateStore({ store: window.sessionStorage }),
    automaticSilentRenew: false,
    loadUserInfo: false,
  });
  return { manager, isOutage, scopeFor, cognitoSignOut };
}

/** Whether nobody answered, rather than that somebody refused. */
function isOutage(error: unknown): boolean {
  if (error instanceof ErrorResponse) return ['server_error', 'temporarily_unavailable'].includes(error.error ?? '');
  if (error instanceof TypeError || error instanceof ErrorTimeout) return true;
  // The library says in words alone that it met the page of a proxy, or a status of 500 and above.
  return error instanceof Error && /^Invalid response Content-Type|\(5\d\d\)/.test(error.message);
}

const isCognito = ({ idpUserPoolId }: BootstrapConfig) => idpUserPoolId !== '';

/** The pages of Amazon Cognito have a domain without a discovery document; their addresses there are documented. */
function knownMetadata(config: BootstrapConfig): Partial<OidcMetadata> | undefined {
  const { idpDomain, idpUserPoolId } = config;
  if (!isCognito(config) || idpDomain.endsWith(`/${idpUserPoolId}`)) return undefined;
  return {
    issuer: idpDomain,
    authorization_endpoint: `${idpDomain}/oauth2/authorize`,
    token_endpoint: `${idpDomain}/oauth2/token`,
    end_session_endpoint: `${idpDomain}/logout`,
    scopes_supported: ['openid', 'email', 'profile'],
  };
}

/** Providers that give refresh tokens unasked refuse this scope, and do not list it. */
const scopeFor = ({ scopes_supported: offered }: Partial<OidcMetadata>): string =>
  ['openid email profile', ...(offered?.includes('offline_access') === false ? [] : ['offline_access'])].join(' ');

/** Where Amazon Cognito ends a sign-in; it knows nothing of OpenID Connect's way (RP-Initiated Logout 1.0). */
function cognitoSignOut(config: BootstrapConfig, endpoint: string, returnTo: string): string | undefined {
  if (!isCognito(config)) return undefined;
  return `${endpoint}?${new URLSearchParams({ client_id: config.idpClientId, logout_uri: returnTo })}`;
}
