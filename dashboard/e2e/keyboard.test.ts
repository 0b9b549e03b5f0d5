import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { shareProduct } from './harness/product.ts';
import { openSample } from './steps/samples.ts';
import { currentRow, currentSequence, expectAt, isInSight, openSession } from './steps/timeline.ts';

const product = shareProduct();
let page: Page;
let sessionId: string;

beforeAll(async () => {
  ({ page, sessionId } = await openSample(product));
  await openSession(page, product.service, sessionId);
});

const position = async () => Number(await currentRow(page).getAttribute('aria-posinset'));

const hasFocus = () => currentRow(page).evaluate((row) => row === document.activeElement);

test('j and k move between rows and move the focus', async () => {
  await page.keyboard.press('j');
  await expect.poll(position).toBe(1);
  for (const _ of [1, 2, 3]) await page.keyboard.press('j');
  await expect.poll(position).toBe(4);
  await page.keyboard.press('k');
  await expect.poll(position).toBe(3);
  await expect.poll(hasFocus).toBe(true);
  expect(await isInSight(page, currentRow(page))).toBe(true);
});

test('the address follows the row and returns to it', async () => {
  const sequence = await currentSequence(page);
  await page.waitForURL(`**/sessions/${sessionId}?e=${sequence}`);
  await page.reload();
  await expectAt(page, sequence);
});

test('the brackets move from prompt to prompt', async () => {
  await page.keyboard.press('g');
  await page.keyboard.press('g');
  await page.keyboard.press(']');
  await expect.poll(() => currentRow(page).locator('article').getAttribute('aria-label')).toBe('Prompt');
  const second = await position();
  await page.keyboard.press('j');
  await page.keyboard.press('[');
  await expect.poll(position).toBe(second);
});

test('t switches between local time, time since start and UTC', async () => {
  const time = () => page.locator('.timeline-time time').last().textContent();
  const clock = await time();
  await page.keyboard.press('t');
  await expect.poll(time).toMatch(/^\+/);
  await page.keyboard.press('t');
  await expect.poll(time).toMatch(/Z$/);
  await page.keyboard.press('t');
  await expect.poll(time).toBe(clock);
});

test('open rows are open after a reload', async () => {
  // The number of drawn rows depends on their heights.
  const open = () => page.locator('[aria-expanded="true"]').count();
  expect(await open()).toBeLessThan(3);
  await page.keyboard.press('e');
  await expect.poll(open).toBeGreaterThan(2);
  await page.reload();
  await expect.poll(open).toBeGreaterThan(2);
  await page.keyboard.press('Shift+E');
  await expect.poll(open).toBe(0);
});

test('folding a parent of the current row makes it the current row, visible and with the focus', async () => {
  await page.keyboard.press('e');
  await page.keyboard.press('g');
  await page.keyboard.press('g');
  const isFolded = () => currentRow(page).evaluate((row) => !row.querySelector('[data-depth="0"]'));
  for (let steps = 0; !(await isFolded()) && steps < 40; steps++) await page.keyboard.press('j');
  const sequence = await currentSequence(page);
  await page.keyboard.press('Shift+E');
  await expect.poll(() => page.locator('[aria-expanded="true"]').count()).toBe(0);
  await expect.poll(hasFocus).toBe(true);
  expect(await isInSight(page, currentRow(page))).toBe(true);
  await page.keyboard.press('e');
  await expect.poll(() => currentSequence(page)).toBe(sequence);
});

test.each(['/', 'Control+f'])('%s opens the search, and Escape returns to the found row', async (key) => {
  await page.keyboard.press(key);
  const field = page.getByRole('textbox', { name: 'Find in the session' });
  await expect.poll(() => field.evaluate((input) => input === document.activeElement)).toBe(true);
  await page.keyboard.type('off-by-one');
  await expect.poll(() => page.getByRole('search').textContent()).toContain('1');
  await page.keyboard.press('Enter');
  await expect.poll(() => currentRow(page).textContent()).toContain('off-by-one');
  await page.keyboard.press('Escape');
  await field.waitFor({ state: 'detached' });
  await expect.poll(hasFocus).toBe(true);
});

test('a session can be opened from the list without the mouse', async () => {
  await page.goto(`${product.service.url}/sessions`);
  await page.getByRole('grid').waitFor();
  await page.getByRole('link', { name: 'Skip to the page' }).focus();
  await page.keyboard.press('Enter');
  const isSession = () => page.evaluate(() => document.activeElement?.hasAttribute('data-session') ?? false);
  for (let stops = 0; !(await isSession()) && stops < 20; stops++) await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/sessions/${sessionId}`);
});
