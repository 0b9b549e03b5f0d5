import type { Page } from '../../dashboard/e2e/harness/browser.ts';

/** What a page is asked, run inside of it. Times in milliseconds. */

export interface Loading {
  firstRow: number;
  complete: number;
  longestTask: number;
  tasks: number;
}

/** Notes long tasks from the first moment on; before the page is opened. */
export const watchTasks = (page: Page) =>
  page.addInitScript(`
    window.longTasks = [];
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) longTasks.push(duration);
    }).observe({ type: 'longtask', buffered: true });
  `);

export const NEXT_FRAME = 'new Promise((resolve) => requestAnimationFrame(() => resolve()))';

/** Opens a session and waits until all of it is there. */
export async function measureLoading(page: Page, address: string): Promise<Loading> {
  await page.goto('about:blank');
  await page.goto(address, { waitUntil: 'commit' });
  const now = () => page.evaluate<number>('performance.now()');
  const timeline = page.getByRole('region', { name: 'Timeline' });
  await timeline.getByRole('listitem').first().waitFor();
  const firstRow = await now();
  await page.locator('[data-complete="true"]').waitFor({ state: 'attached', timeout: 120_000 });
  const complete = await now();
  const tasks = await page.evaluate<number[]>('longTasks');
  return { firstRow, complete, longestTask: Math.max(0, ...tasks), tasks: tasks.reduce((sum, each) => sum + each, 0) };
}

export const TURNS = 60;

/** The share of frames that came late while the area is turned by the wheel, in percent. */
export const measureScrolling = (page: Page, selector: string, step: number): Promise<number> =>
  measureFrames(page, selector, async () => {
    for (let turn = 0; turn < TURNS; turn++) {
      await page.mouse.wheel(0, step);
      await page.evaluate(NEXT_FRAME);
    }
  });

const READING_MS = 4_000;

/** The same while it moves at a steady speed, in pixels a millisecond, as under the hand of somebody who reads. */
export const measureReading = (page: Page, selector: string, speed: number): Promise<number> =>
  measureFrames(page, selector, async ({ x, y }) => {
    const session = await page.context().newCDPSession(page);
    await session.send('Input.synthesizeScrollGesture', {
      ...{ x, y, yDistance: -speed * READING_MS, speed: speed * 1_000 },
      ...{ gestureSourceType: 'mouse', preventFling: true },
    });
    await session.detach();
  });

type Scroll = (middle: { x: number; y: number }) => Promise<void>;

async function measureFrames(page: Page, selector: string, scroll: Scroll): Promise<number> {
  const box = await page.locator(selector).boundingBox();
  if (!box) throw new Error(`there is no ${selector}`);
  const middle = { x: Math.round(box.x + box.width / 2), y: Math.round(box.y + box.height / 2) };
  await page.mouse.move(middle.x, middle.y);
  await page.evaluate(`
    window.frameTimes = [];
    window.isWatching = true;
    let last = performance.now();
    const onFrame = (time) => {
      frameTimes.push(time - last);
      last = time;
      if (isWatching) requestAnimationFrame(onFrame);
    };
    requestAnimationFrame(onFrame);
  `);
  await scroll(middle);
  await page.evaluate('window.isWatching = false');
  const frames = (await page.evaluate<number[]>('frameTimes')).slice(2);
  return (100 * frames.filter((each) => each > 25).length) / frames.length;
}

/**
 * The same of a list of plain paragraphs, which no page can do better than. Without a background of its own Chromium draws
 * such an area anew for each frame, and a fifth of them come late.
 */
export async function measureFloor(page: Page, scroll: (page: Page, selector: string) => Promise<number>) {
  const other = await page.context().newPage();
  await other.setContent(
    `<div id="floor" style="height: 600px; overflow: auto; background: white">${'<p>A line of text as rows have it.</p>'.repeat(4000)}</div>`,
  );
  const late = await scroll(other, '#floor');
  await other.close();
  return late;
}

export const countNodes = (page: Page): Promise<number> =>
  page.evaluate<number>("document.querySelectorAll('*').length");

/** KiB of JavaScript that the page has fetched, compressed. */
export const measureScripts = (page: Page): Promise<number> =>
  page.evaluate<number>(`
    performance.getEntriesByType('resource')
      .filter(({ name }) => new URL(name).pathname.endsWith('.js'))
      .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0) / 1024
  `);

/** Runs something with a processor that is so many times slower. */
export async function throttled<Result>(page: Page, rate: number, run: () => Promise<Result>): Promise<Result> {
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate });
  try {
    return await run();
  } finally {
    await session.send('Emulation.setCPUThrottlingRate', { rate: 1 });
    await session.detach();
  }
}

/** From a key to the frame in which its row is marked, for each of the presses. */
export async function measureKey(page: Page, key: string, presses: number): Promise<number[]> {
  const times: number[] = [];
  for (let press = 0; press < presses; press++) {
    const waiting = page.evaluate<number>(`new Promise((resolve) => addEventListener(
      'keydown',
      ({ timeStamp }) => requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - timeStamp))),
      { once: true, capture: true },
    ))`);
    await page.evaluate(NEXT_FRAME);
    await page.keyboard.press(key);
    times.push(await waiting);
  }
  return times;
}

/** After a collection, in MB. */
export async function measureHeap(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  return usedSize / 1e6;
}
