import { afterAll, expect, test } from 'vitest';
import { type Cognito, FIRST_PASSWORD, startCognito } from '../../server/identity/test/cognito.ts';
import type { Page } from './harness/browser.ts';
import { picture, setUpProduct } from './harness/product.ts';
import type { Tab } from './harness/tab.ts';
import { ADA, BEN, type Credentials, signOut } from './steps/person.ts';
import { expireToken } from './steps/token.ts';
import { createOrganization, invite } from './steps/welcome.ts';

let cognito: Cognito;
const product = setUpProduct({
  configure: async (url) => {
    cognito = await startCognito(url);
    await cognito.createPerson(ADA.email, ADA.password);
    return cognito.variables;
  },
});
afterAll(() => cognito?.stop());

/** The page of cognito-local, which has two fields. */
async function signIn(page: Page, { email, password }: Credentials): Promise<void> {
  await page.getByLabel('Username').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

async function openTab(): Promise<Tab> {
  const tab = await product.open();
  tab.allow(/^foreign request: \w+ http:\/\/localhost:\d+\/(oauth2|logout|favicon)/);
  tab.allow(/favicon\.ico/);
  await tab.page.goto(product.service.url);
  return tab;
}

const overview = (page: Page) => page.getByRole('heading', { name: 'Overview' });

test('a person signs in with Cognito, creates an organization and invites somebody who joins', async () => {
  const { page } = await openTab();
  await signIn(page, ADA);
  await createOrganization(page, 'Harbour Works');
  expect(await cognito.find(ADA.email)).toHaveProperty('custom:organizationId');

  await invite(page, product.service, BEN.email);

  const invited = await openTab();
  await signIn(invited.page, { email: BEN.email, password: FIRST_PASSWORD });
  await invited.page.getByText('Harbour Works').first().waitFor();
  await product.close(invited);
});

test('an expiring sign-in is renewed without a page, even after a change of keys', async () => {
  const { page } = await openTab();
  await signIn(page, ADA);
  await overview(page).waitFor();
  await cognito.rotateKeys();
  await expireToken(page);
  const asked = cognito.count('/oauth2/authorize');
  await page.getByRole('link', { name: 'Members' }).click();
  await page.getByRole('row').filter({ hasText: ADA.email }).waitFor();
  expect(cognito.count('/oauth2/authorize')).toBe(asked);
});

test('signing out also signs the person out of Cognito', async () => {
  const { page } = await openTab();
  await signIn(page, ADA);
  await overview(page).waitFor();
  await signOut(page);
  expect(cognito.count('/logout')).toBe(1);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByLabel('Username').waitFor();
});

test('a sign-in during an outage of Cognito shows an error', async () => {
  const tab = await openTab();
  tab.allow(/ERR_|status of 5/);
  const { page } = tab;
  await page.getByLabel('Username').fill(ADA.email);
  await page.getByLabel('Password').fill(ADA.password);
  await page.route('**/oauth2/token', (route) =>
    route.fulfill({ status: 503, body: '<html>', contentType: 'text/html' }),
  );
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'The identity provider does not answer' }).waitFor();
  await picture(tab, 'provider-away');
});
