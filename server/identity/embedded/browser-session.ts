import type { IncomingMessage, ServerResponse } from 'node:http';
import type { KoaContextWithOIDC, Provider } from 'oidc-provider';
import type { AccountRow, Db } from '../../store/schema.ts';
import type { Addresses } from './addresses.ts';
import { renderPage, trusted } from './html.ts';
import { endSignIn } from './records.ts';
import { loginOf, SESSION_LIFE } from './tokens.ts';
import { signOutPage } from './views.ts';

/**
 * Signs an account in at the provider without an authorization request, for a person who followed a link. The provider then
 * answers the dashboard's next authorization request at once. The session is always a new one, so that nobody can have planted
 * its id in the browser before (session fixation).
 */
export async function startSession(
  provider: Provider,
  addresses: Addresses,
  request: IncomingMessage,
  response: ServerResponse,
  account: AccountRow,
): Promise<void> {
  const context = provider.createContext(request, response);
  const previous = await provider.Session.get(context);
  if (previous.accountId !== undefined) await previous.destroy();
  const session = new provider.Session();
  session.loginAccount(loginOf(account));
  await session.save(SESSION_LIFE);
  context.cookies.set(provider.cookieName('session'), session.jti, {
    path: addresses.path,
    signed: true,
    httpOnly: true,
    sameSite: 'lax',
    overwrite: true,
    expires: new Date(session.exp * 1000),
  });
}

/**
 * Ends the browser's session and all its tokens (OpenID Connect RP-Initiated Logout 1.0 §2). An ID token of the signed-in
 * person proves that the dashboard sent the request. Without one, another site may have sent the browser here, so the person
 * must confirm.
 * @param form the provider's own form for the confirmation
 */
export async function signOut(db: Db, addresses: Addresses, context: KoaContextWithOIDC, form: string): Promise<void> {
  const { session, provider, entities } = context.oidc;
  const hint = (entities.IdTokenHint as { payload?: { sub?: string } } | undefined)?.payload?.sub;
  if (!session?.accountId || hint !== session.accountId) {
    context.body = renderPage(addresses, signOutPage(trusted(form), addresses.home), context.headers.cookie);
    return;
  }
  const { postLogoutRedirectUri, state } = session.state as { postLogoutRedirectUri?: string; state?: string };
  const grants = Object.values(session.authorizations ?? {}).flatMap(({ grantId }) => grantId ?? []);
  await endSignIn(db, session.jti, grants);
  // Otherwise the provider would send the cookie again.
  await session.destroy();
  context.cookies.set(provider.cookieName('session'), null, { path: addresses.path, signed: true, httpOnly: true });
  const target = new URL(postLogoutRedirectUri ?? context.oidc.urlFor('end_session_success'));
  if (state !== undefined && postLogoutRedirectUri !== undefined) target.searchParams.set('state', state);
  context.status = 303;
  context.redirect(target.href);
}
