import type { Page } from 'playwright-core';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { shareProduct } from './harness/product.ts';
import { openAsAda, prepareOrganization } from './steps/organization.ts';
import { createFleet, listOf, rowsIn } from './steps/sessions.ts';
import { countStyled } from './steps/styling.ts';

const SESSIONS = 150;
const product = shareProduct();
let page: Page;

beforeAll(async () => {
  const { machine } = await prepareOrganization(product.service);
  const open = await createFleet(machine);
  for (let at = 0; at < SESSIONS; at++) await open({ agentId: 'codex', title: `Errand ${at}` });
  ({ page } = await openAsAda(product));
});

const goTo = async () => {
  await page.goto(`${product.service.url}/sessions`);
  await listOf(page).waitFor();
};

test('a list of many sessions only draws visible rows, and the last row can be reached', async () => {
  await goTo();
  await page.keyboard.press('j');
  const goToEnd = async () => {
    await page.keyboard.press('End');
    return listOf(page).getAttribute('aria-rowcount');
  };
  await expect.poll(goToEnd).toBe(`${SESSIONS + 1}`);
  await page.keyboard.press('End');
  await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toContain('Errand 0');
  expect(await rowsIn(page).count()).toBeLessThan(60);
});

test('hovering over a row only restyles the row and its menu', async () => {
  onTestFinished(() => page.emulateMedia({ reducedMotion: 'no-preference' }));
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await goTo();
  await pointAt(2);
  const styled = await countStyled(page, () => pointAt(4));
  // Two rows and two menus, each with two elements.
  expect(styled).toBeGreaterThan(0);
  expect(styled).toBeLessThan(16);
});

/** Hovers over a row until its menu is shown. Rows may still move under the pointer while the list loads. */
const pointAt = async (at: number) => {
  const row = rowsIn(page).nth(at);
  const showsItsMenu = async () => {
    await row.hover();
    return row.getByRole('button', { name: 'More' }).evaluate(isShown);
  };
  await expect.poll(showsItsMenu, { timeout: 10_000 }).toBe(true);
};

const isShown = (element: Element) => getComputedStyle(element).color !== 'rgba(0, 0, 0, 0)';

test('the dots of live sessions stop pulsing while the list scrolls and pulse again afterwards', async () => {
  await goTo();
  const pulsing = () => listOf(page).evaluate((list) => list.getAnimations({ subtree: true }).length);
  await expect.poll(pulsing).toBeGreaterThan(5);
  const whileScrolled = await listOf(page).evaluate(async (list) => {
    const begun = new Promise((resolve) => new MutationObserver(resolve).observe(list, { attributes: true }));
    document.querySelector('#page')?.scrollBy(0, 300);
    await begun;
    return list.getAnimations({ subtree: true }).length;
  });
  expect(whileScrolled).toBe(0);
  await expect.poll(pulsing).toBeGreaterThan(5);
});
