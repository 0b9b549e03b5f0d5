import { afterAll, expect, test } from 'vitest';
import { type StandIn, shapeOf, startStandIn } from '../../server/identity/test/stand-in.ts';
import type { Page } from './harness/browser.ts';
import { picture, setUpProduct } from './harness/product.ts';
import { signOut } from './steps/person.ts';
import { openTabAt } from './steps/provider.ts';
import { expireToken } from './steps/token.ts';
import { createOrganization, invite } from './steps/welcome.ts';

/** A tenant whose tokens have neither an e-mail nor a statement about one. */
let entra: StandIn;
const product = setUpProduct({
  configure: async (publicUrl) => {
    entra = await startStandIn(shapeOf('Microsoft Entra'), publicUrl);
    return entra.variables;
  },
});
afterAll(() => entra?.stop());

const NINA = 'nina@contoso.example';
const OMAR = 'omar@contoso.example';

async function signInAs(page: Page, email: string): Promise<void> {
  await page.getByLabel('E-mail').fill(email);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

test('a person of Microsoft Entra creates an organization and invites somebody of the tenant, who joins', async () => {
  const founder = await openTabAt(product, { issuer: entra.origin });
  await signInAs(founder.page, NINA);
  await createOrganization(founder.page, 'Contoso');
  await invite(founder.page, product.service, OMAR);

  const invited = await openTabAt(product, { issuer: entra.origin });
  await signInAs(invited.page, OMAR);
  await invited.page.getByText('Contoso').first().waitFor();
  await picture(invited, 'entra-joined');
  await product.close(invited);
});

test('an expiring sign-in of Microsoft Entra is renewed without a page, and signing out ends it there', async () => {
  const { page } = await openTabAt(product, { issuer: entra.origin });
  await signInAs(page, NINA);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  const asked = entra.count('authorization_endpoint');
  await expireToken(page);
  await page.getByRole('link', { name: 'Members' }).click();
  await page.getByRole('row').filter({ hasText: OMAR }).waitFor();
  expect(entra.count('authorization_endpoint')).toBe(asked);
  await signOut(page);
  expect(entra.count('end_session_endpoint')).toBe(1);
});
