import { beforeAll, describe, expect, test } from 'vitest';
import { picture, setUpProduct } from './harness/product.ts';
import type { Tab } from './harness/tab.ts';
import { openAsAda, prepareOrganization } from './steps/organization.ts';
import { createRecorder, event, type Recorder } from './steps/recording.ts';
import { expireToken } from './steps/token.ts';

const product = setUpProduct();
let tab: Tab;
let recorder: Recorder;

beforeAll(async () => {
  const { machine } = await prepareOrganization(product.service);
  recorder = await createRecorder(machine);
  await recorder.append(await recorder.openSession('Before the outage'), [event('user.message', { text: 'Hello' })]);
  tab = await openAsAda(product);
  // Chromium logs each unanswered request to the console.
  tab.allow(/ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_FAILED|404|could not be loaded/);
});

/** A marker that a reload removes. */
const mark = () => tab.page.evaluate(() => document.body.setAttribute('data-marked', ''));
const isMarked = () => tab.page.evaluate(() => document.body.hasAttribute('data-marked'));
const main = (name: string) => tab.page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name });
const heading = (name: string) => tab.page.getByRole('heading', { level: 1, name });
const says = (text: string) => tab.page.getByRole('status').getByText(text);

describe('during an outage of the service', () => {
  beforeAll(async () => {
    await main('Sessions').click();
    await tab.page.getByRole('link', { name: 'Before the outage' }).waitFor();
    await mark();
    await expireToken(tab.page);
    await product.service.stop();
  });

  test('the page stays and shows the outage', async () => {
    await says('The service does not answer.').waitFor();
    await tab.page.getByRole('link', { name: 'Before the outage' }).waitFor();
    await picture(tab, 'outage');
  });

  test('missed changes appear by themselves once the service is back', async () => {
    await product.service.restart();
    await recorder.openSession('After the outage');
    await says('The service answers again.').waitFor();
    await tab.page.getByRole('link', { name: 'After the outage' }).waitFor();
    expect(await isMarked()).toBe(true);
  });

  test('a page whose code failed to load says so and appears by itself later', async () => {
    await product.service.stop();
    await says('The service does not answer.').waitFor();
    await main('Machines').click();
    await heading('This page could not be loaded').waitFor();
    await tab.page.getByRole('button', { name: 'Try again' }).click();
    await heading('This page could not be loaded').waitFor();
    await picture(tab, 'outage-code');
    expect(await isMarked()).toBe(true);
    await product.service.restart();
    await tab.page.getByRole('cell', { name: 'workbench' }).first().waitFor();
    expect(new URL(tab.page.url()).pathname).toBe('/environments');
  });
});

test('code that an upgraded service no longer has is loaded by a reload', async () => {
  const { page } = tab;
  await page.route('**/assets/secrets-*.js', (route) => route.fulfill({ status: 404 }));
  await main('Secrets').click();
  await heading('This page could not be loaded').waitFor();
  await page.unroute('**/assets/secrets-*.js');
  await page.getByRole('button', { name: 'Try again' }).click();
  await heading('Secrets').waitFor();
});

test('a visitor during the outage sees it and is let in once the service is back', async () => {
  const visitor = await openAsAda(product);
  visitor.allow(/502|503|500|ERR_CONNECTION_REFUSED/);
  const { page } = visitor;
  await page.route('**/config', (route) => route.abort('connectionrefused'));
  await page.reload();
  await page.getByRole('heading', { name: 'The service cannot be reached' }).waitFor();
  await page.unroute('**/config');
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await product.close(visitor);
});
