import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { setUpProduct } from './harness/product.ts';
import { type ReverseProxy, startProxy } from './harness/proxy.ts';
import { type Service, startService } from './harness/service.ts';
import { linkTo } from './steps/outbox.ts';
import { ADA, BEN, createFirstAccount, signIn, signOut, signUp } from './steps/person.ts';
import { createOrganization, invite } from './steps/welcome.ts';

/** The embedded provider of another service. It knows the dashboard by both names of the host: one is theirs, one is ours. */
let issuer: Service;
let proxy: ReverseProxy;
const folder = mkdtempSync(join(tmpdir(), 'capture-issuer-'));
const product = setUpProduct({
  async configure(ours) {
    let theirs = '';
    proxy = await startProxy(
      ({ headers, url }) => new URL(url ?? '', headers.host?.startsWith('localhost') ? theirs : ours).href,
    );
    const { port } = proxy;
    const dataDir = join(folder, 'data');
    mkdirSync(dataDir);
    issuer = await startService(dataDir, (address) => {
      theirs = address;
      return { PUBLIC_URL: `http://localhost:${port}` };
    });
    return {
      PUBLIC_URL: `http://127.0.0.1:${port}`,
      IDENTITY_PROVIDER: 'oidc',
      OIDC_ISSUER: `${issuer.url}/oidc`,
      OIDC_CLIENT_ID: 'dashboard',
    };
  },
});
afterAll(async () => {
  await issuer?.stop();
  proxy?.close();
  rmSync(folder, { recursive: true });
});

async function openTab(address: string) {
  const tab = await product.open();
  tab.allow(/^foreign request: \w+ http:\/\/localhost:/);
  await tab.page.goto(address);
  return tab;
}

test('people of another service sign in, create an organization, invite, join and sign out', async () => {
  const { url } = product.service;
  const ada = await openTab('about:blank');
  await createFirstAccount(ada.page, issuer, ADA);
  // If the other service's page were left sooner, it would continue to its own sign-in from here.
  await ada.page.waitForURL(`${issuer.url}/welcome`);
  await ada.page.getByLabel(/^Name/).waitFor();
  await ada.page.goto(url);
  await createOrganization(ada.page, 'Harbour Works');
  await invite(ada.page, product.service, BEN.email);
  expect(linkTo(product.service, BEN.email)).toBe(`${url}/`);

  // An account may sign in once its e-mail address is verified, which the other service does.
  const account = await openTab(issuer.url);
  // Setting a password ends the previous sign-in, which the page may not know yet.
  account.allow(/401 \(Unauthorized\) \(http:\/\/localhost:\d+\/v1\/me\)/);
  await signUp(account.page, BEN);
  await account.page.waitForURL('**/welcome');
  await account.page.goto(linkTo(issuer, BEN.email));
  await account.page.getByLabel('Password').fill(BEN.password);
  await account.page.getByRole('button').first().click();
  await account.page.waitForURL(`${issuer.url}/**`);
  await product.close(account);

  const ben = await openTab(url);
  await signIn(ben.page, BEN);
  await ben.page.getByText('Harbour Works').first().waitFor();
  await signOut(ben.page);
  await ben.page.getByRole('button', { name: 'Sign in' }).click();
  await ben.page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor();
  expect(new URL(ben.page.url()).origin).toBe(issuer.url);
  await product.close(ben);
});
