import { ErrorResponse, ErrorTimeout, type OidcMetadata } from 'oidc-client-ts';
import type { BootstrapConfig } from '../../contract/bootstrap.ts';

/** The identity provider does not answer, or not as one does. */
export class ProviderAway extends Error {
  constructor(cause: unknown) {
    super('The identity provider does not answer.', { cause });
    this.name = 'ProviderAway';
  }
}

/** Whether nobody answered, rather than that somebody refused. */
export function isOutage(error: unknown): boolean {
  if (error instanceof ErrorResponse) return ['server_error', 'temporarily_unavailable'].includes(error.error ?? '');
  if (error instanceof TypeError || error instanceof ErrorTimeout) return true;
  // The library says in words alone that it met the page of a proxy, or a status of 500 and above.
  return error instanceof Error && /^Invalid response Content-Type|\(5\d\d\)/.test(error.message);
}

const isCognito = ({ idpUserPoolId }: BootstrapConfig) => idpUserPoolId !== '';

/** The pages of Amazon Cognito have a domain without a discovery document; their addresses there are documented. */
export function knownMetadata(config: BootstrapConfig): Partial<OidcMetadata> | undefined {
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
export const scopeFor = ({ scopes_supported: offered }: Partial<OidcMetadata>): string =>
  ['openid email profile', ...(offered?.includes('offline_access') === false ? [] : ['offline_access'])].join(' ');

/** Where Amazon Cognito ends a sign-in; it knows nothing of OpenID Connect's way (RP-Initiated Logout 1.0). */
export function cognitoSignOut(config: BootstrapConfig, endpoint: string, returnTo: string): string | undefined {
  if (!isCognito(config)) return undefined;
  return `${endpoint}?${new URLSearchParams({ client_id: config.idpClientId, logout_uri: returnTo })}`;
}
