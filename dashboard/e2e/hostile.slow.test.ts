import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { picture, shareProduct } from './harness/product.ts';
import type { Tab } from './harness/tab.ts';
import { violationsOf } from './steps/accessibility.ts';
import { HOSTILE, LONG_LINE_END, LONG_MESSAGE_AT, LONG_RESULT_AT } from './steps/hostile.ts';
import { openAsAda, prepareOrganization } from './steps/organization.ts';
import { ADA, signIn } from './steps/person.ts';
import { createRecorder, event } from './steps/recording.ts';
import { currentRow, openSession, readToEnd, rowOfEvent } from './steps/timeline.ts';

/** Bidirectional controls, and characters without a width. */
const HIDING = /[\u202a-\u202e\u2066-\u2069\u200b\ufeff]/;

const product = shareProduct();
let tab: Tab;
let sessionId: string;
let breakingId: string;

beforeAll(async () => {
  const { machine } = await prepareOrganization(product.service);
  const recorder = await createRecorder(machine);
  sessionId = await recorder.openSession(`<img src=x onerror="alert('title')"> \u202e`);
  await recorder.append(sessionId, HOSTILE);
  breakingId = await recorder.openSession('Breaks');
  await recorder.append(breakingId, [
    event('user.message', { text: 'See [this](https://breaks.example) first.' }),
    event('assistant.message', { text: 'All is well.' }),
  ]);
  tab = await openAsAda(product);
});

describe('untrusted content', () => {
  test('is shown as text in every row, including folded rows', async () => {
    const { page } = tab;
    await openSession(page, product.service, sessionId, 1);
    await picture(tab, 'hostile-first');
    const prompt = await currentRow(page).textContent();
    for (const piece of ['<img src=x', '<script>', '<svg', '<iframe', '<a href', '<form'])
      expect(prompt).toContain(piece);
    await page.keyboard.press('e');
    const text = await readToEnd(page);
    await picture(tab, 'hostile-last');
    expect(text).toContain('The last of them.');
    expect(text).toContain('⟨U+202E⟩');
    expect(text).not.toMatch(HIDING);
    expect(text).not.toContain('cannot be shown');
  });

  test('links only to addresses of the web', async () => {
    const { page } = tab;
    // The same address again would be a reload, which returns to the place of the reader.
    await openSession(page, product.service, sessionId, 2);
    const addresses = () => page.evaluate(() => [...document.querySelectorAll('a')].map(({ href }) => href));
    const found = new Set<string>();
    await readToEnd(page, async () => {
      for (const address of await addresses()) found.add(new URL(address).protocol);
    });
    expect([...found].sort()).toEqual(['http:', 'https:']);
  });

  test('can be inspected in every form', async () => {
    const { page } = tab;
    await openSession(page, product.service, sessionId, 1);
    await page.keyboard.press('Enter');
    for (let row = await walk(page); row !== undefined; row = await walk(page)) {
      await page.evaluate(async () => {
        for (const each of document.querySelectorAll<HTMLElement>('[role="tab"]')) {
          each.focus();
          await new Promise((resolve) => requestAnimationFrame(resolve));
        }
      });
    }
    await page.getByRole('complementary', { name: 'Inspector' }).getByText('The last of them.').waitFor();
  });

  test('is shown in full on request, however long it is', async () => {
    const { page } = tab;
    await openSession(page, product.service, sessionId, LONG_MESSAGE_AT);
    await currentRow(page)
      .getByRole('button', { name: /^Show all/ })
      .click();
    await currentRow(page).getByRole('button', { name: 'Show the end' }).click();
    await expect
      .poll(async () => (await currentRow(page).allInnerTexts()).join(' ').replace(/\s+/g, ' '))
      .toContain(LONG_LINE_END);

    await openSession(page, product.service, sessionId, LONG_RESULT_AT);
    await page.keyboard.press('Enter');
    const inspector = page.getByRole('complementary', { name: 'Inspector' });
    await inspector.getByRole('tab', { name: 'output' }).click();
    await inspector.getByRole('button', { name: 'Show the end' }).first().click();
    await inspector.getByText(LONG_LINE_END).waitFor();
    await picture(tab, 'hostile-long-line');
  });
});

test('content that fails to render does not affect the rest of the page', async () => {
  const broken = await product.open();
  broken.allow(/of this one address/);
  await broken.page.addInitScript(() => {
    const parse = URL.parse;
    URL.parse = (address, base) => {
      if (String(address).includes('breaks.example')) throw new Error('of this one address');
      return parse.call(URL, address, base);
    };
  });
  const { page } = broken;
  await page.goto(product.service.url);
  await signIn(page, ADA);
  await page.getByRole('navigation', { name: 'Main' }).waitFor();
  await openSession(page, product.service, breakingId);
  await rowOfEvent(page, 1).getByText('See [this](https://breaks.example) first.').waitFor();
  await rowOfEvent(page, 2).getByText('All is well.').waitFor();
  await product.close(broken);
});

/** Moves to the next row. @returns its index, or undefined at the end */
async function walk(page: Page): Promise<number | undefined> {
  const place = () => currentRow(page).evaluate((row) => Number(row.ariaPosInSet));
  const before = await place();
  if (before === (await currentRow(page).evaluate((row) => Number(row.ariaSetSize)))) return undefined;
  await page.keyboard.press('j');
  await expect.poll(place).toBe(before + 1);
  return before + 1;
}

/** Proves that the harness notices errors. */
describe('the harness notices', () => {
  let aside: Tab;
  beforeAll(async () => {
    aside = await product.open();
    aside.allow(/./);
  });

  test.each<[string, RegExp, () => unknown]>([
    ['an error in the console', /an error/, () => console.error('an error')],
    ['a rejection', /a rejection/, () => void Promise.reject(new Error('a rejection'))],
    ['a dialog', /dialog/, () => alert('hello')],
    ['a style in the markup', /style-src/, () => document.body.insertAdjacentHTML('beforeend', '<p style="top: 0">')],
    [
      'a foreign picture',
      /img-src/,
      () => document.body.append(Object.assign(new Image(), { src: '//elsewhere.example' })),
    ],
    ['a foreign address', /foreign request/, () => location.assign('https://elsewhere.example/')],
  ])('%s', async (_, expected, provoke) => {
    const before = aside.console.length;
    await aside.page.goto(product.service.url);
    await aside.page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await aside.page.evaluate(provoke).catch(() => {});
    await expect
      .poll(() =>
        aside.console
          .slice(before)
          .filter((line) => line.startsWith('!'))
          .join('\n'),
      )
      .toMatch(expected);
  });

  test('a picture without words', async () => {
    await tab.page.goto(`${product.service.url}/nowhere`);
    await tab.page.getByRole('heading', { name: 'Page not found' }).waitFor();
    await tab.page.evaluate(() => document.querySelector('main')?.append(document.createElement('img')));
    expect(await violationsOf(tab.page)).toEqual([expect.stringContaining('image-alt')]);
  });
});
