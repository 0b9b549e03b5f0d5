import { decodeJwt } from 'jose';
import { afterEach, describe, expect, test } from 'vitest';
import { ENGINES } from '../../test/engines.ts';
import { createOidcIdentity } from '../oidc.ts';
import { createBrowser } from './browser.ts';
import {
  authorize,
  createFirstAccount,
  exchange,
  firstLink,
  PASSWORD,
  type Service,
  startService,
  tokensOf,
} from './embedded.ts';

let service: Service;
afterEach(() => service.dispose());

const FORGED = { host: 'evil.example.com', 'x-forwarded-host': 'evil.example.com', 'x-forwarded-proto': 'gopher' };

describe.each(['https://capture.example.com', 'https://example.com/tools/capture'])(
  'behind a proxy at %s',
  (publicUrl) => {
    const discovery = async (headers: Record<string, string> = {}) => {
      const { text } = await service.browser().request('/oidc/.well-known/openid-configuration', { headers });
      return JSON.parse(text) as Record<string, string>;
    };

    test('every address is under the public one, even if a request claims another', async () => {
      service = await startService('sqlite', { PUBLIC_URL: publicUrl });
      for (const metadata of [await discovery(), await discovery(FORGED)]) {
        expect(metadata).toMatchObject({
          issuer: `${publicUrl}/oidc`,
          authorization_endpoint: `${publicUrl}/oidc/auth`,
          token_endpoint: `${publicUrl}/oidc/token`,
          end_session_endpoint: `${publicUrl}/oidc/session/end`,
        });
      }
      expect(await firstLink(service)).toContain(`${publicUrl}/oidc/welcome?token=`);
    });

    test('a person signs in, and cookies require secure connections', async () => {
      service = await startService('sqlite', { PUBLIC_URL: publicUrl });
      const { origin } = service;
      const seen: string[] = [];
      // The proxy strips the public prefix from requests to the public address.
      const proxied = createBrowser(new URL(publicUrl).origin, {
        onCookie: (line) => seen.push(line),
        send: (url, init) => fetch(url.replace(publicUrl, origin), init),
      });
      const first = await proxied.submit(await proxied.open(await firstLink(service)), {
        email: 'ada@example.com',
        password: PASSWORD,
      });
      expect(first.location).toBe(`${publicUrl}/`);
      const tokens = await tokensOf(service, proxied);
      expect(decodeJwt(tokens.id_token).iss).toBe(`${publicUrl}/oidc`);
      expect(await service.identity.verify(tokens.id_token)).toMatchObject({ email: 'ada@example.com' });
      expect(seen.length).toBeGreaterThan(0);
      for (const line of seen) {
        expect(line).toMatch(/^__Secure-capture-/);
        expect(line).toMatch(/; secure/i);
        expect(line).toMatch(/; httponly/i);
        expect(line).toMatch(/; samesite=lax/i);
        expect(line).toContain(`path=${new URL(publicUrl).pathname.replace(/\/$/, '')}/oidc`);
      }
    });
  },
);

test.each(ENGINES.filter((engine) => engine === 'postgres'))(
  'replicas on one %s share links, codes, sessions and keys',
  async (engine) => {
    service = await startService(engine);
    const replica = { origin: await service.replica() };
    const browser = await createFirstAccount(service);
    const { page, verifier, redirectUri } = await authorize(service, browser);
    const code = new URL(page.location ?? '').searchParams.get('code') ?? '';
    const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier };
    const answers = await Promise.all([exchange(service, form), exchange(replica, form), exchange(replica, form)]);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const { body } = answers.find(({ status }) => status === 200) ?? answers[0];
    expect(await service.identity.verify(body.id_token)).toMatchObject({ email: 'Ada@Example.com' });
  },
);

test('one service can accept the tokens of another by discovery', async () => {
  service = await startService('sqlite');
  const { id_token } = await tokensOf(service, await createFirstAccount(service));
  const issuer = `${service.publicUrl}/oidc`;
  const other = createOidcIdentity({
    issuer,
    clientId: 'dashboard',
    publicUrl: 'https://other.example.com',
    sendMail: async () => undefined,
    fetch,
    now: Date.now,
    onError: (error) => expect.fail(String(error)),
  });
  expect(await other.verify(id_token)).toMatchObject({ issuer, email: 'Ada@Example.com', emailVerified: true });
});

test('an address that sends too many requests must wait', async () => {
  service = await startService('sqlite', { RATE_LIMIT_ADDRESS: 3 });
  const browser = service.browser();
  const answers = [];
  for (let time = 0; time < 4; time++) answers.push(await browser.request('/oidc/forgot'));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
  expect(Number(answers[3]?.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await browser.request('/oidc/jwks')).toMatchObject({ status: 429 });
});

test('a failing store is reported', async () => {
  service = await startService('sqlite');
  await service.store.db.schema.alterTable('provider_records').renameTo('elsewhere').execute();
  expect((await authorize(service, service.browser())).page.status).toBeGreaterThanOrEqual(500);
  const { text } = (await authorize(service, service.browser())).page;
  expect(text).not.toMatch(/provider_records|SQL|sqlite/i);
  await service.store.db.schema.alterTable('elsewhere').renameTo('provider_records').execute();
});

test('an unknown address gets a page that says so', async () => {
  service = await startService('sqlite');
  for (const path of ['/oidc/nothing', '/oidc/', '/oidc/interaction/x']) {
    const page = await service.browser().request(path);
    expect(page.status).toBe(404);
    expect(page.text).toContain('There is no such page');
  }
});

test('the dashboard can also be opened as localhost', async () => {
  service = await startService('sqlite');
  const browser = await createFirstAccount(service);
  const twin = service.publicUrl.replace('127.0.0.1', 'localhost');
  const { page } = await authorize(service, browser, { redirect_uri: `${twin}/signed-in` });
  expect(page.location).toContain(`${twin}/signed-in?code=`);
  const from = (origin: string) => {
    const body = new URLSearchParams({ client_id: 'dashboard', grant_type: 'refresh_token', refresh_token: 'x' });
    return browser.request('/oidc/token', { method: 'POST', body, headers: { origin } });
  };
  const readers = [service.publicUrl, twin, 'https://evil.example.com'];
  const answers = await Promise.all(readers.map(from));
  const allowed = answers.map(({ headers }) => headers.get('access-control-allow-origin'));
  expect(allowed).toEqual([service.publicUrl, twin, null]);
  const metadata = await browser.request('/oidc/.well-known/openid-configuration', { headers: { origin: twin } });
  expect(metadata.headers.get('access-control-allow-origin')).toBe(twin);
});
