import { afterAll, afterEach, expect, test } from 'vitest';
import { type ForeignProvider, startForeignProvider } from '../../server/identity/test/foreign-provider.ts';
import type { Page } from './harness/browser.ts';
import { picture, setUpProduct } from './harness/product.ts';
import { linkTo } from './steps/outbox.ts';
import { ADA, BEN } from './steps/person.ts';
import { openTabAt, signInThere } from './steps/provider.ts';
import { expireToken } from './steps/token.ts';
import { createOrganization, invite } from './steps/welcome.ts';

let provider: ForeignProvider;
const product = setUpProduct({
  configure: async (publicUrl) => {
    provider = await startForeignProvider({ publicUrl });
    return provider.variables;
  },
});
afterEach(() => {
  provider.fault = undefined;
});
afterAll(() => provider?.stop());

const openTab = () => openTabAt(product, provider);
const member = (page: Page, email: string) => page.getByRole('row').filter({ hasText: email });
const main = (page: Page, name: string) => page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name });

async function openAsAda() {
  const tab = await openTab();
  await signInThere(tab.page, ADA);
  await tab.page.getByRole('heading', { name: 'Overview' }).waitFor();
  return tab;
}

test('a person signs in at the provider, creates an organization and invites somebody who joins', async () => {
  const { page } = await openTab();
  await signInThere(page, ADA);
  await createOrganization(page, 'Harbour Works');
  await invite(page, product.service, BEN.email);
  expect(linkTo(product.service, BEN.email)).toBe(`${product.service.url}/`);

  const invited = await openTab();
  await signInThere(invited.page, BEN);
  await invited.page.goto(`${product.service.url}/members`);
  await member(invited.page, BEN.email).getByText('member').waitFor();
  await product.close(invited);
});

test('an expiring sign-in is renewed without a page, even with a new key', async () => {
  const { page } = await openAsAda();
  await provider.rotateKeys();
  await expireToken(page);
  const asked = provider.count('/auth');
  await main(page, 'Members').click();
  await member(page, ADA.email).waitFor();
  expect(provider.count('/auth')).toBe(asked);
});

test('a person signs in on a machine with a clock two hours ahead', async () => {
  const tab = await openTab();
  await tab.page.clock.setSystemTime(Date.now() + 2 * 3_600_000);
  await signInThere(tab.page, ADA);
  await tab.page.getByRole('heading', { name: 'Overview' }).waitFor();
  const asked = provider.count('/token');
  await main(tab.page, 'Members').click();
  await member(tab.page, ADA.email).waitFor();
  expect(provider.count('/token')).toBe(asked);
  await product.close(tab);
});

test('after signing out, the provider asks for the password again', async () => {
  const { page } = await openAsAda();
  await page.getByRole('button', { name: /sign out/ }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('button', { name: 'Yes, sign me out' }).click();
  await page.getByRole('heading', { name: 'You are signed out' }).waitFor();
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByPlaceholder('Enter any login').waitFor();
});

test.each(['cuts the connection', 'never answers'] as const)(
  'a visitor sees an error while the provider %s, and signs in once it answers',
  async (fault) => {
    provider.fault = fault;
    const tab = await openTab();
    tab.allow(/ERR_/);
    const { page } = tab;
    if (fault === 'never answers') {
      await page.getByRole('heading', { name: 'Signing you in…' }).waitFor();
      await picture(tab, 'provider-slow');
    }
    await page.getByRole('heading', { name: 'The identity provider does not answer' }).waitFor();
    await picture(tab, 'provider-away');
    provider.fault = undefined;
    await page.getByRole('button', { name: 'Try again' }).click();
    await signInThere(page, ADA);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
  },
);

test('an outage of the provider does not affect an open page', async () => {
  const tab = await openAsAda();
  tab.allow(/ERR_/);
  const { page } = tab;
  provider.fault = 'cuts the connection';
  await main(page, 'Members').click();
  await member(page, ADA.email).waitFor();
  await expireToken(page);
  await main(page, 'Secrets').click();
  await page.getByText('The identity provider does not answer').first().waitFor();
  await picture(tab, 'provider-away-later');
  provider.fault = undefined;
  await page.getByRole('button', { name: 'Try again' }).first().click();
  await page.getByRole('heading', { name: 'Secrets', level: 1 }).waitFor();
  expect(new URL(page.url()).origin).toBe(product.service.url);
});
