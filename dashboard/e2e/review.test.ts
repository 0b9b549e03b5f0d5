import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { shareProduct } from './harness/product.ts';
import { openSample } from './steps/samples.ts';
import { currentRow, currentSequence, openSession, timelineOf } from './steps/timeline.ts';

const product = shareProduct();
let page: Page;
let sessionId: string;

beforeAll(async () => {
  ({ page, sessionId } = await openSample(product));
  await openWhole();
});

async function openWhole(): Promise<void> {
  await openSession(page, product.service, sessionId);
  await page.locator('[data-complete="true"]').waitFor({ state: 'attached' });
}

const chip = (name: RegExp) => page.getByRole('button', { name });

test('every changed file is listed once, and its hunks link to their events', async () => {
  await chip(/^Changes$/).click();
  const changes = page.getByRole('region', { name: 'Changes' });
  const name = page.getByRole('button', { name: /^src\/limit\.ts/, expanded: true });
  const file = changes.locator('section', { has: name });
  await expect.poll(() => file.textContent()).toContain('createLimit');
  expect(await name.count()).toBe(1);
  await chip(/^By turn$/).click();
  await changes.getByText('Turn 1').first().waitFor();
  await chip(/^In total$/).click();
  const link = file.getByRole('button', { name: /^#\d+$/ }).first();
  const sequence = Number((await link.textContent())?.slice(1));
  await link.click();
  await timelineOf(page).waitFor();
  await expect.poll(() => currentSequence(page)).toBe(sequence);
});

test('rows can be filtered by kind, and the address has the filter', async () => {
  await chip(/^Edits \d/).click();
  await page.waitForURL(/show=edits/);
  await expect.poll(() => timelineOf(page).locator('[data-kind="message"]').count()).toBe(0);
  const rows = () => timelineOf(page).getByRole('listitem').first().getAttribute('aria-setsize');
  const edits = await rows();
  expect(Number(edits)).toBeGreaterThan(3);
  await page.reload();
  await expect.poll(rows).toBe(edits);
});

test('a link to an event that the filter hides shows the event', async () => {
  await page.goto(`${product.service.url}/sessions/${sessionId}?show=edits&e=1`);
  await expect.poll(() => page.url()).not.toContain('show=edits');
  await currentRow(page).waitFor();
});

test('keys move between turns on the strip, and a range of it is a link', async () => {
  await openWhole();
  const strip = page.getByRole('slider', { name: 'Position in the session' });
  await expect.poll(() => strip.getAttribute('aria-valuemax')).toBe('2');
  await strip.focus();
  await page.keyboard.press('End');
  await expect.poll(() => strip.getAttribute('aria-valuetext')).toMatch(/^turn 2 of 2: Which limit/);
  const box = await strip.boundingBox();
  if (!box) throw new Error('there is no strip');
  await page.mouse.move(box.x + box.width * 0.3, box.y + 30);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.5, box.y + 30, { steps: 4 });
  await page.mouse.up();
  await page.waitForURL(/from=\d+&to=\d+/);
  await timelineOf(page).locator('[data-in-range]').first().waitFor({ state: 'attached' });
  await page.keyboard.press('Escape');
  await expect.poll(() => page.url()).not.toContain('from=');
});

test.each([
  ['Events (JSONL)', /^\{"session":\{"sessionId":"ses_\w+","agent":"Claude Code",.*\}\}\n\{"sessionId"/],
  [
    'Conversation (Markdown)',
    /^# .*\n\n- agent: `Claude Code`\n(?:- .*\n)*- link: <http.*>\n\n\*Not included: .*\n\n> We have a setting/,
  ],
  ['Page (HTML, one file)', /^<!doctype html>/],
])('the session is saved as %s', async (name, beginning) => {
  await page.getByRole('button', { name: 'Download' }).click();
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name }).click()]);
  const saved = join(product.folder, download.suggestedFilename());
  await download.saveAs(saved);
  expect(readFileSync(saved, 'utf8')).toMatch(beginning);
});

test('the tree of sub-agents opens a sub-agent, and leaving it returns to the call that started it', async () => {
  await page.getByRole('button', { name: 'Sub-agents', exact: true }).click();
  const tree = page.getByRole('region', { name: 'Sub-agents' });
  await tree.getByText('started by').first().waitFor();
  await tree.getByRole('listitem').getByRole('button').first().click();
  await page.waitForURL(/lane=/);
  await page.getByRole('button', { name: /^Only .* ✕$/ }).click();
  await expect.poll(() => page.url()).not.toContain('lane=');
  await timelineOf(page).locator('[data-current] [data-kind="subagent"]').first().waitFor();
});

test('words of a search are highlighted', async () => {
  await page.keyboard.press('/');
  await page.keyboard.type('linksPerMinute');
  await expect.poll(() => page.evaluate(() => CSS.highlights.get('found')?.size ?? 0)).toBeGreaterThan(0);
  await page.keyboard.press('Escape');
  await expect.poll(() => page.evaluate(() => CSS.highlights.has('found'))).toBe(false);
});
