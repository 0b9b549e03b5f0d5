import type { KoaContextWithOIDC } from 'oidc-provider';
import type { Db } from '../../store/open.ts';
import type { Addresses } from './addresses.ts';
import { trusted } from './html.ts';
import { renderPage } from './page.ts';
import { revokeGrants } from './records.ts';
import { signOutPage } from './views.ts';

/**
 * RP-initiated logout (OpenID Connect RP-Initiated Logout 1.0 §2). An ID token of the person who is signed in shows that
 * it is the dashboard who asks, and not a page that wants to annoy; only without one the person is asked,
 * with the provider's own `form`.
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
  await revokeGrants(db, grants);
  await session.destroy();
  context.cookies.set(provider.cookieName('session'), null, { path: addresses.path, signed: true, httpOnly: true });
  const target = new URL(postLogoutRedirectUri ?? context.oidc.urlFor('end_session_success'));
  if (state !== undefined && postLogoutRedirectUri !== undefined) target.searchParams.set('state', state);
  context.status = 303;
  context.redirect(target.href);
}
