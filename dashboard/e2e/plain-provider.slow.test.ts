import { afterAll, expect, test } from 'vitest';
import { type ForeignProvider, startForeignProvider } from '../../server/identity/test/foreign-provider.ts';
import { picture, setUpProduct } from './harness/product.ts';
import { ADA, signOut } from './steps/person.ts';
import { openTabAt, signInThere } from './steps/provider.ts';
import { expireToken } from './steps/token.ts';
import { createOrganization } from './steps/welcome.ts';

/** A provider without refresh tokens and without a sign-out, as some are. */
let provider: ForeignProvider;
const product = setUpProduct({
  configure: async (publicUrl) => {
    provider = await startForeignProvider({ publicUrl, isPlain: true });
    return provider.variables;
  },
});
afterAll(() => provider?.stop());

test('an expired sign-in is renewed at the provider without a question, and the page opens again', async () => {
  const { page } = await openTabAt(product, provider);
  await signInThere(page, ADA);
  await createOrganization(page, 'Harbour Works');
  await page.goto(`${product.service.url}/members`);
  await page.getByRole('row').filter({ hasText: ADA.email }).waitFor();
  await expireToken(page);
  const asked = provider.count('/auth');
  await page.getByRole('link', { name: 'Secrets' }).click();
  await expect.poll(() => provider.count('/auth')).toBe(asked + 1);
  await page.getByRole('heading', { level: 1, name: 'Secrets' }).waitFor();
  expect(new URL(page.url()).pathname).toBe('/secrets');
});

test('signing out signs the person out of the dashboard', async () => {
  const { page } = await openTabAt(product, provider);
  await signInThere(page, ADA);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await signOut(page);
});

test('a sign-in that the service refuses shows an error instead of a loop', async () => {
  const tab = await openTabAt(product, provider);
  tab.allow(/status of 401/);
  const { page } = tab;
  await provider.signOtherwise();
  await signInThere(page, ADA);
  await page.getByText('the service refused it').first().waitFor();
  await picture(tab, 'sign-in-refused');
  expect(provider.count('/token')).toBeLessThanOrEqual(4);
});
