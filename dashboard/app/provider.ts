import { ErrorResponse, ErrorTimeout, type OidcMetadata, UserManager, WebStorageStateStore } from 'oidc-client-ts';
import type { BootstrapConfig } from '../../contract/bootstrap.ts';
import { paths } from '../../contract/pages.ts';
import { serviceAddress, storageName } from '../kit/base-path.ts';

/** Seconds in which the provider has to answer; without a timeout the page would stay blank. */
const PATIENCE = 10;

/** The library that talks to the identity provider, set up for the configured provider. */
export function createProvider(config: BootstrapConfig) {
  const metadata = knownMetadata(config);
  const manager = new UserManager({
    authority: config.idpDomain,
    ...(metadata && { metadata }),
    client_id: config.idpClientId,
    redirect_uri: serviceAddress() + paths.signedIn(),
    post_logout_redirect_uri: serviceAddress() + paths.home(),
    requestTimeoutInSeconds: PATIENCE,
    // For this tab only: a reload keeps the person signed in, a closed tab forgets them.
    userStore: new WebStorageStateStore({ store: window.sessionStorage, prefix: storageName('oidc.') }),
    stateStore: new WebStorageStateStore({ store: window.localStorage, prefix: storageName('oidc.') }),
    automaticSilentRenew: false,
    loadUserInfo: false,
  });
  return { manager, isOutage, scopeFor, cognitoSignOut };
}

/** Whether the error is an outage rather than a refusal. */
function isOutage(error: unknown): boolean {
  if (error instanceof ErrorResponse) return ['server_error', 'temporarily_unavailable'].includes(error.error ?? '');
  if (error instanceof TypeError || error instanceof ErrorTimeout) return true;
  // For an HTML page of a proxy, or a status of 500 and above, the library only says so in the message.
  return error instanceof Error && /^Invalid response Content-Type|\(5\d\d\)/.test(error.message);
}

const isCognito = ({ idpUserPoolId }: BootstrapConfig) => idpUserPoolId !== '';

/** The domain of Amazon Cognito's pages has no discovery document, but its addresses are documented. */
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

/** Some providers always issue refresh tokens. They refuse the scope `offline_access`, and do not list it. */
const scopeFor = ({ scopes_supported: offered }: Partial<OidcMetadata>): string =>
  ['openid email profile', ...(offered?.includes('offline_access') === false ? [] : ['offline_access'])].join(' ');

/** The sign-out address of Amazon Cognito, which does not support OpenID Connect's RP-Initiated Logout 1.0. */
function cognitoSignOut(config: BootstrapConfig, endpoint: string, returnTo: string): string | undefined {
  if (!isCognito(config)) return undefined;
  return `${endpoint}?${new URLSearchParams({ client_id: config.idpClientId, logout_uri: returnTo })}`;
}
