import { expect, test } from 'vitest';
import { setUpProduct } from './harness/product.ts';
import { openAsAda, prepareOrganization } from './steps/organization.ts';

/** Over HTTP/1.1, all tabs of a browser share six connections to a service. */
const CONNECTIONS = 6;

const product = setUpProduct({ keepsPages: true });

test('a page that was left keeps no connection and receives changes again after going back', async () => {
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
