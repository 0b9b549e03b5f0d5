import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Product } from '../harness/product.ts';
import type { Credentials } from './person.ts';

/** The link of the last mail to somebody. */
export function linkTo({ folder }: Pick<Product, 'folder'>, email: string): string {
  const outbox = join(folder, 'data', 'outbox');
  const mails = readdirSync(outbox)
    .sort()
    .map((file) => readFileSync(join(outbox, file), 'utf8'));
  const last = mails.filter((mail) => mail.includes(`To: ${email}`)).at(-1) ?? '';
  return /https?:\S+/.exec(last.replace(/=\r?\n/g, '').replaceAll('=3D', '='))?.[0] ?? '';
}

/** Creates the invited person's account by the mailed link, which signs them in as a member. */
export async function joinByMail(product: Product, { email, password }: Credentials): Promise<void> {
  const visitor = await product.open();
  await visitor.page.goto(linkTo(product, email));
  await visitor.page.getByLabel('Password').fill(password);
  await visitor.page.getByRole('button', { name: 'Continue' }).click();
  await visitor.page.getByRole('heading', { level: 1 }).waitFor();
  await product.close(visitor);
}
