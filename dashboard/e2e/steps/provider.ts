import type { Page } from '../harness/browser.ts';
import type { Product } from '../harness/product.ts';
import type { Tab } from '../harness/tab.ts';
import type { Credentials } from './person.ts';

/** A tab that may visit the provider, whose pages load fonts from a foreign host. */
export async function openTabAt(product: Product, { issuer }: { issuer: string }): Promise<Tab> {
  const tab = await product.open();
  tab.allow(new RegExp(`^foreign request: \\w+ (${issuer}|https://fonts.googleapis.com)/`));
  tab.allow(/fonts\.googleapis\.com|favicon\.ico/);
  await tab.page.goto(product.service.url);
  return tab;
}

/** Signs in on the two pages of `oidc-provider`. */
export async function signInThere(page: Page, { email, password }: Credentials): Promise<void> {
  await page.getByPlaceholder('Enter any login').fill(email);
  await page.getByPlaceholder('and password').fill(password);
  await page.getByRole('button', { name: 'Sign-in' }).click();
  await page.getByRole('button', { name: 'Continue' }).click();
}
