import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Provider } from 'oidc-provider';
import type { Addresses } from './addresses.ts';
import { SESSION_LIFE } from './client.ts';

/**
 * Signs an account in at the provider without a request of a client, as when its holder came by a link. The dashboard's
 * next authorization request is then answered at once. The session is a new one, so that nobody can have fixed it before.
 */
export async function startSession(
  provider: Provider,
  addresses: Addresses,
  request: IncomingMessage,
  response: ServerResponse,
  accountId: string,
): Promise<void> {
  const context = provider.createContext(request, response);
  const previous = await provider.Session.get(context);
  if (previous.accountId !== undefined) await previous.destroy();
  const session = new provider.Session();
  session.loginAccount({ accountId });
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
