import { setTimeout as wait } from 'node:timers/promises';
import type { NewEvent } from '../../contract/event.ts';
import type { Page } from '../../dashboard/e2e/harness/browser.ts';
import { measureFrames, measureHeap, openSession, processorTime } from './measure.ts';
import type { Parts } from './parts.ts';

/** The pace of a busy agent. */
const EVERY_MS = 250;
/** The browser calls a task long from 50 ms on. */
const LONG_MS = 50;

interface Live {
  address: string;
  /** The number of events before the first new one. */
  events: number;
  news: readonly NewEvent[];
  append: (event: NewEvent) => Promise<unknown>;
}

/** Measures the page of a session that grows event by event, while a person watches its end. */
export async function measureLive({ run }: Parts, page: Page, { address, events, news, append }: Live): Promise<void> {
  const name = `live session of ${events.toLocaleString('en')} events`;
  await run(name, async (tell) => {
    await openSession(page, address);
    await page.getByRole('region', { name: 'Timeline' }).focus();
    await page.keyboard.press('Shift+G');
    await page.waitForTimeout(1_000);
    await page.evaluate('longTasks.length = 0');
    const { ms, result } = await processorTime(page, () =>
      measureFrames(page, 'section[aria-label="Timeline"]', async () => {
        for (const event of news) {
          await append(event);
          await wait(EVERY_MS);
        }
      }),
    );
    const tasks = await page.evaluate<number[]>('longTasks');
    tell(`${name}, late frames`, result, '%', '');
    tell(`${name}, page's thread`, ms / news.length, 'ms CPU an event', '');
    tell(
      `${name}, tasks over ${LONG_MS} ms`,
      tasks.length,
      '',
      '',
      `the longest ${Math.round(Math.max(0, ...tasks))} ms`,
    );
    tell(`${name}, heap`, await measureHeap(page), 'MB', '');
  });
}
