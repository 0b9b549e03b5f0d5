import { type Client, createClient } from '../../../contract/client.ts';
import { signIn, signUp, signUpUnproven } from '../../../script/demo/sign-in.ts';
import type { Product } from '../harness/product.ts';
import type { RunningService } from '../harness/service.ts';
import type { Tab } from '../harness/tab.ts';
import { linkTo } from './outbox.ts';
import { ADA, signIn as signInByForm } from './person.ts';

export interface Organization {
  /** A client of Ada, the owner. */
  owner: Client;
  /** A client with the secret, like a machine. */
  machine: Client;
  secret: string;
}

/** Ada's organization with a secret, for tests that begin after the first visit. */
export async function prepareOrganization(service: RunningService): Promise<Organization> {
  const { url } = service;
  await signUpUnproven(url, ADA);
  await signUp(linkTo(service, ADA.email), ADA);
  const token = await signIn(url, ADA);
  const owner = createClient({ baseUrl: url, credential: () => token });
  await owner.createOrganization({ body: { name: 'Harbour Works' } });
  const { value: secret } = (await owner.issueSecret({ body: { name: 'tests' } })).body;
  return { owner, machine: createClient({ baseUrl: url, credential: () => secret }), secret };
}

/** Opens a tab in which Ada is signed in. */
export async function openAsAda(product: Product, options?: Parameters<Product['open']>[0]): Promise<Tab> {
  const tab = await product.open(options);
  await tab.page.goto(product.service.url);
  await signInByForm(tab.page, ADA);
  await tab.page.getByRole('navigation', { name: 'Main' }).waitFor({ state: 'attached' });
  return tab;
}
