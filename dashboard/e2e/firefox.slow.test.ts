import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FIREFOX, type FirefoxTab, openFirefox } from './harness/firefox.ts';
import { ARTEFACTS } from './harness/folders.ts';
import { setUpProduct } from './harness/product.ts';
import { prepareOrganization } from './steps/organization.ts';
import { ADA } from './steps/person.ts';
import { captureSample, RATE_LIMIT } from './steps/samples.ts';

const product = setUpProduct();
const PRESENT = existsSync(FIREFOX);
let tab: FirefoxTab | undefined;

beforeAll(async () => {
  if (!PRESENT) return;
  await captureSample(product, await prepareOrganization(product.service));
  const profile = join(product.folder, 'firefox');
  mkdirSync(profile);
  tab = await openFirefox(profile);
  await tab.resize(1280, 800);
});

afterAll(() => tab?.close());

const inFirefox = test.skipIf(!PRESENT);
const shown = (words: string) => `document.body.innerText.includes(${JSON.stringify(words)})`;
const picture = (name: string) => {
  mkdirSync(ARTEFACTS, { recursive: true });
  return tab?.picture(join(ARTEFACTS, `firefox-${name}.png`));
};

inFirefox('Firefox shows the overview, the list and a session, scrolls and finds, without an error', async () => {
  if (!tab) throw new Error('Firefox is not open');
  await tab.open(product.service.url);
  await tab.click('input[type="email"]');
  await tab.type(ADA.email);
  await tab.click('input[type="password"]');
  await tab.type(ADA.password);
  await tab.press('Enter');
  await tab.until(
    `document.querySelector('h1')?.textContent === 'Overview' && document.querySelector('[data-part="sentence"]')`,
  );
  await picture('overview');

  await tab.click('nav[aria-label="Main"] a[href^="/sessions"]');
  await tab.until(`document.querySelector('[data-session]')`);
  await picture('list');

  await tab.click('[data-session] a');
  await tab.until(`document.querySelector('[data-complete="true"]')`);
  await tab.until(shown(RATE_LIMIT.words));
  await picture('session');
  const before = await tab.evaluate<number>(`document.querySelector('#timeline').scrollTop`);
  for (let turn = 0; turn < 4; turn++) await tab.wheel('#timeline', 300);
  await tab.until(`document.querySelector('#timeline').scrollTop > ${before + 600}`);
  // Only visible rows are drawn: the list of rows follows the wheel.
  await tab.until(`[...document.querySelectorAll('#timeline li')].some((row) => {
    const { top, bottom } = row.getBoundingClientRect();
    const area = document.querySelector('#timeline').getBoundingClientRect();
    return bottom > area.top && top < area.bottom;
  })`);

  await tab.type('/');
  await tab.until(`document.activeElement?.getAttribute('aria-label') === 'Find in the session'`);
  await tab.type('linksPerMinute');
  await tab.until(`CSS.highlights.get('found')?.size > 0`);
  await picture('find');
  expect(tab.problems).toEqual([]);
});
