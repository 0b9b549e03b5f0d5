import { expect, test } from 'vitest';
import { setUpProduct } from './harness/product.ts';
import { openAsAda, prepareOrganization } from './steps/organization.ts';

/** Over HTTP/1.1 a browser keeps six to a service, for all of its pages. */
const CONNECTIONS = 6;

const product = setUpProduct({ keepsPages: true });

test('pages that were left keep no connection, and hear of changes again when one comes back to them', async () => {
  await prepareOrganization(product.service);
  const { page } = await openAsAda(product);
  const isLive = (address: string) => new URL(address).pathname.endsWith('/live');
  const streamOf = (go: () => Promise<unknown>) =>
    Promise.all([page.waitForResponse((response) => isLive(response.url())), go()]);
  for (let visit = 0; visit < CONNECTIONS + 2; visit++) {
    const [stream] = await streamOf(() => page.goto(`${product.service.url}/sessions?q=visit${visit}`));
    expect(stream.status()).toBe(200);
  }
  const [again] = await streamOf(() => page.evaluate(() => history.back()));
  expect(again.status()).toBe(200);
});
