import { type Configuration, interactionPolicy, type KoaContextWithOIDC, Provider } from 'oidc-provider';
import { isUnavailable } from '../../store/dialect.ts';
import type { Db } from '../../store/schema.ts';
import { findAccount } from './accounts.ts';
import type { Addresses } from './addresses.ts';
import { signOut } from './browser-session.ts';
import { renderPage } from './html.ts';
import { createRecords } from './records.ts';
import { CLIENT_ID, type KeptKeys, loginOf, PASSWORD_VERSION, SESSION_LIFE } from './tokens.ts';
import { messagePage } from './views.ts';

const SCOPE = 'openid email profile offline_access';

const HOUR = 3600;

export interface ProviderOptions {
  db: Db;
  addresses: Addresses;
  keys: KeptKeys;
  now: () => number;
  onError: (error: unknown) => void;
}

/** The OpenID provider with its one client, the dashboard. It keeps its state in the store. */
export function createProvider({ db, addresses, keys, now, onError }: ProviderOptions): Provider {
  const isSecure = addresses.publicUrl.protocol === 'https:';
  const cookie = { signed: true, httpOnly: true, sameSite: 'lax', overwrite: true } as const;
  const name = (purpose: string) => `${isSecure ? '__Secure-' : ''}capture-${purpose}`;
  const toDashboard = { href: addresses.home, label: 'Open the dashboard' };
  const configuration: Configuration = {
    adapter: createRecords(db, now),
    clients: [
      {
        client_id: CLIENT_ID,
        client_name: 'Session Capture',
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        redirect_uris: addresses.dashboards.map((address) => `${address}/signed-in`),
        post_logout_redirect_uris: addresses.dashboards.map((address) => `${address}/`),
        id_token_signed_response_alg: 'ES256',
        scope: SCOPE,
      },
    ],
    jwks: { keys: keys.signing },
    cookies: {
      keys: keys.cookies,
      names: { session: name('session'), interaction: name('interaction'), resume: name('resume') },
      long: { ...cookie, path: addresses.path },
      short: cookie,
    },
    claims: { openid: ['sub', PASSWORD_VERSION], email: ['email', 'email_verified'], profile: ['preferred_username'] },
    scopes: SCOPE.split(' '),
    // The dashboard sends the ID token to the service, so the token must contain the e-mail.
    conformIdTokenClaims: false,
    responseTypes: ['code'],
    pkce: { required: () => true },
    clientBasedCORS: (_context, origin, client) =>
      (client.redirectUris ?? []).some((uri) => new URL(uri).origin === origin),
    features: {
      devInteractions: { enabled: false },
      dPoP: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      resourceIndicators: { enabled: false },
      userinfo: { enabled: false },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: (context, form) => signOut(db, addresses, context, form),
        postLogoutSuccessSource: (context) => {
          const next = { href: addresses.home, label: 'Sign in again' };
          context.body = renderPage(
            addresses,
            messagePage('Signed out', 'You are signed out.', next),
            context.headers.cookie,
          );
        },
      },
    },
    findAccount: async ({ oidc }, accountId, token) => {
      const account = await findAccount(db, accountId);
      const { acr } = { ...(token ?? oidc.session) } as { acr?: string };
      if (!account || acr !== loginOf(account).acr) return undefined;
      const { email, email_verified, password_version } = account;
      const profile = { email, email_verified: email_verified === 1, preferred_username: email };
      return { accountId, claims: async () => ({ sub: accountId, [PASSWORD_VERSION]: password_version, ...profile }) };
    },
    interactions: { policy: requireAccount(), url: (_context, { uid }) => addresses.signIn(uid) },
    loadExistingGrant: grantToDashboard,
    // Every sign-in gets a refresh token: a sign-out ends all tokens of the session.
    issueRefreshToken: async (_context, client) => client.grantTypeAllowed('refresh_token'),
    expiresWithSession: async () => true,
    rotateRefreshToken: true,
    renderError: async (context, { error, error_description }) => {
      const sentence = `${error_description ?? error}. Nothing was changed. Start again from the dashboard.`;
      context.type = 'html';
      context.body = renderPage(
        addresses,
        messagePage('This did not work', sentence, toDashboard),
        context.headers.cookie,
      );
    },
    ttl: {
      AccessToken: HOUR,
      AuthorizationCode: 60,
      Grant: SESSION_LIFE,
      IdToken: HOUR,
      Interaction: HOUR,
      RefreshToken: SESSION_LIFE,
      Session: SESSION_LIFE,
    },
  };
  const provider = new Provider(addresses.issuer, configuration);
  // `mount.ts` writes the forwarding headers itself, from the public address.
  provider.proxy = true;
  provider.on('server_error', (context, error) => {
    onError(error);
    if (!isUnavailable(error)) return;
    context.status = 503;
    context.set('retry-after', '1');
  });
  provider.use(async (context, next) => {
    await next();
    if (context.status !== 404 || context.body) return;
    context.type = 'html';
    context.body = renderPage(
      addresses,
      messagePage('There is no such page', 'The address may be misspelt.', toDashboard),
      context.headers.cookie,
    );
    context.status = 404;
  });
  // Without this, Koa would write the error to the console.
  provider.onerror = onError;
  return provider;
}

/** Asks a person to sign in whose account is gone, or who signed in with an earlier password. */
function requireAccount() {
  const policy = interactionPolicy.base();
  const check = new interactionPolicy.Check('no_account', 'The sign-in has ended', ({ oidc }) => !oidc.account);
  policy.get('login')?.checks.add(check);
  return policy;
}

/** Grants the dashboard everything it requests. The dashboard is part of the product and needs no consent. */
async function grantToDashboard({ oidc }: KoaContextWithOIDC) {
  const { session, client, provider, result } = oidc;
  if (!session?.accountId || !client) return undefined;
  const grantId = result?.consent?.grantId ?? session.grantIdFor(client.clientId);
  const known = grantId === undefined ? undefined : await provider.Grant.find(grantId);
  if (known) return known;
  const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
  grant.addOIDCScope(SCOPE);
  await grant.save();
  return grant;
}
