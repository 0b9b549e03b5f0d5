import type { Page, Request } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { shareProduct } from './harness/product.ts';
import { openAsAda, prepareOrganization } from './steps/organization.ts';
import { createRecorder, event } from './steps/recording.ts';
import { timelineOf } from './steps/timeline.ts';

const product = shareProduct();
let page: Page;
let sessionId: string;

beforeAll(async () => {
  const { machine } = await prepareOrganization(product.service);
  const recorder = await createRecorder(machine);
  sessionId = await recorder.openSession('A short one');
  await recorder.append(sessionId, [event('user.message', { text: 'Look at **this**.' })]);
  ({ page } = await openAsAda(product));
});

/** Files of the service, without fonts, which a browser does not wait for. */
const isCounted = (path: string) => !/\.woff2$|^\/(?:v1|config|oidc)\b/.test(path);

/** The code of the plots, which no paint waits for. Here, it never arrives. */
const PLOTS = '**/assets/plot-area-*.js';

/** KiB sent, including headers, until a person sees the page with an empty cache. */
async function weigh(address: string, isShown: () => Promise<void>): Promise<number> {
  const cache = await page.context().newCDPSession(page);
  await page.goto('about:blank');
  await cache.send('Network.clearBrowserCache');
  const sent: Request[] = [];
  const note = (request: Request) => sent.push(request);
  page.on('requestfinished', note);
  await page.goto(product.service.url + address);
  await isShown();
  page.off('requestfinished', note);
  const sizes = await Promise.all(sent.filter((each) => isCounted(new URL(each.url()).pathname)).map(sizeOf));
  // With fewer files, the page would not be complete.
  expect(sizes.length).toBeGreaterThan(5);
  const total = sizes.reduce((sum, size) => sum + size, 0) / 1024;
  console.log(`${address}: ${total.toFixed(1)} KiB in ${sizes.length} responses`);
  return total;
}

async function sizeOf(request: Request): Promise<number> {
  const { responseBodySize, responseHeadersSize } = await request.sizes();
  return responseBodySize + responseHeadersSize;
}

test('the first page weighs at most 155 KiB and is shown before its plots', async () => {
  await page.route(PLOTS, () => {});
  const isShown = () => page.locator('.plot figcaption').first().waitFor();
  expect(await weigh('/', isShown)).toBeLessThan(155);
  await page.unroute(PLOTS);
});

test('a session weighs at most 248 KiB', async () => {
  const isShown = () => timelineOf(page).getByText('Look at this.').waitFor();
  expect(await weigh(`/sessions/${sessionId}`, isShown)).toBeLessThan(248);
});
