import type { Product } from '../harness/product.ts';
import { linkTo } from './outbox.ts';
import type { Credentials } from './person.ts';

/** Creates the invited person's account by the mailed link, which signs them in as a member. */
export async function joinByMail(product: Product, { email, password }: Credentials): Promise<void> {
  const visitor = await product.open();
  await visitor.page.goto(linkTo(product.service, email));
  await visitor.page.getByLabel('Password').fill(password);
  await visitor.page.getByRole('button', { name: 'Continue' }).click();
  await visitor.page.getByRole('heading', { level: 1 }).waitFor();
  await product.close(visitor);
}
