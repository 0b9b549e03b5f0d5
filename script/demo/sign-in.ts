import { createHash, randomBytes } from 'node:crypto';
import type { BootstrapConfig } from '../../contract/bootstrap.ts';
import { alertOf, createBrowser } from './browser.ts';

export interface Credentials {
  email: string;
  password: string;
}

/** Creates an account with a link that the service printed or mailed. */
export async function signUp(link: string, credentials: Credentials): Promise<void> {
  const browser = createBrowser();
  const page = await browser.open(link);
  const after = await browser.submit(page, { ...credentials });
  if (alertOf(after.html) !== '') throw new Error(`the account could not be created${alertOf(after.html)}`);
}

/** Signs in as the dashboard does: Authorization Code with PKCE. @returns the token for the service's routes */
export async function signIn(serviceUrl: string, credentials: Credentials): Promise<string> {
  const { authorization, tokenEndpoint, clientId, verifier, redirectUri } = await prepare(serviceUrl);
  const browser = createBrowser();
  const form = await browser.open(authorization, redirectUri);
  const back = await browser.submit(form, { ...credentials }, redirectUri);
  const code = new URL(back.url).searchParams.get('code');
  if (code === null) throw new Error(`the sign-in was refused${alertOf(back.html)}`);

  const body = new URLSearchParams({
    grant_type: 'authorization_code',
    client_id: clientId,
    code,
    redirect_uri: redirectUri,
    code_verifier: verifier,
  });
  const { id_token } = await readJson<{ id_token: string }>(tokenEndpoint, { method: 'POST', body });
  return id_token;
}

/** Creates an account from the sign-in page. The service then mails a link that proves the address. */
export async function signUpUnproven(serviceUrl: string, credentials: Credentials): Promise<void> {
  const { authorization, redirectUri } = await prepare(serviceUrl);
  const browser = createBrowser();
  const { url } = await browser.open(authorization, redirectUri);
  const back = await browser.submit(await browser.open(`${url}/sign-up`), { ...credentials }, redirectUri);
  if (!back.url.startsWith(redirectUri)) throw new Error(`the account could not be created${alertOf(back.html)}`);
}

/** An authorization request with PKCE, and the values that its code needs. */
async function prepare(serviceUrl: string) {
  const { idpDomain, idpClientId } = await readJson<BootstrapConfig>(`${serviceUrl}/config`);
  const provider = await readJson<{ authorization_endpoint: string; token_endpoint: string }>(
    `${idpDomain}/.well-known/openid-configuration`,
  );
  const verifier = randomBytes(32).toString('base64url');
  const redirectUri = `${serviceUrl}/signed-in`;
  const question = new URLSearchParams({
    client_id: idpClientId,
    response_type: 'code',
    redirect_uri: redirectUri,
    scope: 'openid email',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    state: randomBytes(16).toString('base64url'),
  });
  return {
    authorization: `${provider.authorization_endpoint}?${question}`,
    tokenEndpoint: provider.token_endpoint,
    clientId: idpClientId,
    verifier,
    redirectUri,
  };
}

async function readJson<Body>(url: string, init: RequestInit = {}): Promise<Body> {
  const response = await fetch(url, init);
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as Body;
}
