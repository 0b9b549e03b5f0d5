import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { picture, shareProduct } from './harness/product.ts';
import type { Tab } from './harness/tab.ts';
import { openAsAda, prepareOrganization } from './steps/organization.ts';
import { createRecorder, event } from './steps/recording.ts';
import { expectAt, openSession, rowOfEvent, timelineOf } from './steps/timeline.ts';

const ANSWERS = 1_500;
const product = shareProduct();
let tab: Tab;
let page: Page;
let sessionId: string;

beforeAll(async () => {
  const { machine } = await prepareOrganization(product.service);
  const recorder = await createRecorder(machine);
  sessionId = await recorder.openSession('A long one');
  const answer = (_: unknown, index: number) =>
    event('assistant.message', { text: `Answer **${index + 1}**\n\n${'- some words\n'.repeat(8)}` });
  await recorder.append(sessionId, [
    event('user.message', { text: 'Go on.' }),
    ...Array.from({ length: ANSWERS }, answer),
  ]);
  tab = await openAsAda(product);
  page = tab.page;
});

/** Scrolls the timeline by a few screens in each frame. @returns the numbers of rows drawn in brief and of texts drawn in full */
const scrollFast = (frames: number) =>
  timelineOf(page).evaluate(async (area, count) => {
    const drawn = { brief: 0, full: 0 };
    const watch = new MutationObserver((changes) => {
      for (const { addedNodes } of changes)
        for (const node of addedNodes) {
          if (!(node instanceof HTMLElement)) continue;
          drawn.brief += node.querySelectorAll('.timeline-passing').length;
          drawn.full += node.querySelectorAll('.prose').length;
        }
    });
    watch.observe(area, { childList: true, subtree: true });
    for (let frame = 0; frame < count; frame++) {
      area.scrollBy(0, 4_000);
      await new Promise((resolve) => requestAnimationFrame(resolve));
    }
    watch.disconnect();
    return drawn;
  }, frames);

test('rows are drawn in brief during fast scrolling, and in full after it', async () => {
  await openSession(page, product.service, sessionId);
  await page.locator('[data-complete="true"]').waitFor({ state: 'attached' });
  const { brief, full } = await scrollFast(20);
  await picture(tab, 'scrolling-fast');
  expect(brief).toBeGreaterThan(100);
  expect(full).toBeLessThan(brief / 2);
  await expect.poll(() => page.locator('.timeline-passing').count()).toBe(0);
  expect(await timelineOf(page).locator('.prose strong').count()).toBeGreaterThan(2);
});

test('a link into the middle shows its row in full at once and focuses it', async () => {
  await openSession(page, product.service, sessionId, 900);
  await expectAt(page, 900);
  await rowOfEvent(page, 900).getByText('Answer 899').waitFor();
  await expect.poll(() => rowOfEvent(page, 900).evaluate((row) => row === document.activeElement)).toBe(true);
});

test('a reload returns to the place that the reader scrolled to, although the address names another event', async () => {
  const top = () =>
    timelineOf(page).evaluate((area) => {
      const rows = [...area.querySelectorAll<HTMLElement>('.timeline-row')];
      const first = rows.find((row) => row.getBoundingClientRect().bottom > area.getBoundingClientRect().top);
      return first?.querySelector<HTMLElement>('.timeline-time')?.title;
    });
  await openSession(page, product.service, sessionId, 900);
  await expectAt(page, 900);
  // The wheel ends the jump to the event, which a script's scrolling does not.
  await timelineOf(page).hover();
  await page.mouse.wheel(0, 5_000);
  // A row has the title of its time only once the scrolling has ended.
  await expect.poll(top).toMatch(/^Event (?!900|89\d)/);
  const before = await top();
  await page.reload();
  await expect.poll(top).toBe(before);
  expect(new URL(page.url()).searchParams.get('e')).toBe('900');
  await openSession(page, product.service, sessionId, 901);
  await expectAt(page, 901);
});

test('the time of a row selects the row, and is a link that can be opened or copied', async () => {
  await openSession(page, product.service, sessionId, 20);
  const time = rowOfEvent(page, 22).getByTitle(/^Event 22,/);
  expect(await time.getAttribute('href')).toContain(`/sessions/${sessionId}?e=22`);
  await time.click();
  await expectAt(page, 22);
  await expect.poll(() => new URL(page.url()).searchParams.get('e')).toBe('22');
});
