import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import type { RunningService } from '../harness/service.ts';

export const timelineOf = (page: Page): Locator => page.getByRole('region', { name: 'Timeline' });
export const currentRow = (page: Page): Locator => timelineOf(page).locator('[data-current]');
export const rowOfEvent = (page: Page, sequence: number): Locator =>
  timelineOf(page)
    .getByRole('listitem')
    .filter({ has: page.getByTitle(new RegExp(`^Event ${sequence},`)) });

/** The event of the current row. */
export async function currentSequence(page: Page): Promise<number> {
  const title = await currentRow(page)
    .getByTitle(/^Event/)
    .getAttribute('title');
  return Number(/^Event (\d+)/.exec(title ?? '')?.[1]);
}

export async function openSession(
  page: Page,
  service: RunningService,
  sessionId: string,
  sequence?: number,
): Promise<void> {
  const query = sequence === undefined ? '' : `?e=${sequence}`;
  await page.goto(`${service.url}/sessions/${sessionId}${query}`);
  await timelineOf(page).getByRole('listitem').first().waitFor();
}

/** Searches the whole timeline, not only its drawn part. */
export async function find(page: Page, words: string): Promise<void> {
  await page.keyboard.press('/');
  const field = page.getByRole('textbox', { name: 'Find in the session' });
  await field.fill(words);
  await expect.poll(() => page.getByRole('search').textContent()).toMatch(/[1-9]/);
  await field.press('Enter');
  await field.press('Escape');
}

/** Waits until the event is the current one and at least mostly visible. */
export async function expectAt(page: Page, sequence: number): Promise<void> {
  const row = rowOfEvent(page, sequence).and(currentRow(page));
  await row.waitFor();
  await expect.poll(() => isInSight(page, row)).toBe(true);
}

export async function isInSight(page: Page, row: Locator): Promise<boolean> {
  const [outer, inner] = await Promise.all([timelineOf(page).boundingBox(), row.boundingBox()]);
  if (!outer || !inner) return false;
  const seen = Math.min(outer.y + outer.height, inner.y + inner.height) - Math.max(outer.y, inner.y);
  return seen > Math.min(inner.height, outer.height) / 2;
}

/** Scrolls down to the end step by step. @returns all text on the way */
export async function readToEnd(page: Page, look = async (): Promise<void> => {}): Promise<string> {
  const timeline = timelineOf(page);
  const met = new Set<string>();
  for (let before = -1, at = 0; at !== before; ) {
    before = at;
    // Rows are drawn in brief until scrolling stops.
    await expect.poll(() => timeline.locator('.timeline-passing').count()).toBe(0);
    for (const text of await timeline.getByRole('listitem').allInnerTexts()) met.add(text);
    await look();
    at = await timeline.evaluate(async (element) => {
      element.scrollBy(0, element.clientHeight * 0.8);
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
      return element.scrollTop;
    });
  }
  return [...met].join('\n');
}
