import type { Page } from '../../dashboard/e2e/harness/browser.ts';
import { traceOf } from '../../dashboard/e2e/steps/styling.ts';

/** Times of loading a page in milliseconds, measured inside the page. */

export interface Loading {
  firstRow: number;
  complete: number;
  longestTask: number;
  /** Processor time of the page's thread. */
  cpu: number;
}

/** Records long tasks and interactions from the first moment on. Call it before the page opens. */
export const watchPage = (page: Page) =>
  page.addInitScript(`
    window.longTasks = [];
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) longTasks.push(duration);
    }).observe({ type: 'longtask', buffered: true });
    window.interactions = new Map();
    new PerformanceObserver((list) => {
      for (const { interactionId, duration } of list.getEntries()) {
        if (interactionId) interactions.set(interactionId, Math.max(duration, interactions.get(interactionId) ?? 0));
      }
    }).observe({ type: 'event', durationThreshold: ${SHORTEST}, buffered: true });
  `);

/** The browser does not report shorter interactions. */
const SHORTEST = 16;

export const NEXT_FRAME = 'new Promise((resolve) => requestAnimationFrame(() => resolve()))';

/** Opens a session and waits until it is complete. */
export async function measureLoading(page: Page, address: string): Promise<Loading> {
  await page.goto('about:blank');
  const cpu = await processorTime(page, () => openSession(page, address));
  const tasks = await page.evaluate<number[]>('longTasks');
  return { ...cpu.result, longestTask: Math.max(0, ...tasks), cpu: cpu.ms };
}

/** @returns the times of the first row and of the last one */
export async function openSession(page: Page, address: string): Promise<Pick<Loading, 'firstRow' | 'complete'>> {
  await page.goto(address, { waitUntil: 'commit' });
  const now = () => page.evaluate<number>('performance.now()');
  const timeline = page.getByRole('region', { name: 'Timeline' });
  await timeline.getByRole('listitem').first().waitFor();
  const firstRow = await now();
  await page.locator('[data-complete="true"]').waitFor({ state: 'attached', timeout: 120_000 });
  return { firstRow, complete: await now() };
}

export const TURNS = 60;

/** The percentage of late frames while the area scrolls by the mouse wheel. */
export const measureScrolling = (page: Page, selector: string, step: number): Promise<number> =>
  measureFrames(page, selector, async () => {
    for (let turn = 0; turn < TURNS; turn++) {
      await page.mouse.wheel(0, step);
      await page.evaluate(NEXT_FRAME);
    }
  });

const READING_MS = 4_000;

/** The same while the area scrolls at a steady speed in pixels a millisecond, as for a person who reads. */
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

/** The percentage of late frames while something happens in the area. */
export async function measureFrames(page: Page, selector: string, scroll: Scroll): Promise<number> {
  const box = await page.locator(selector).boundingBox();
  if (!box) throw new Error(`the page has no ${selector}`);
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
 * The same for a list of plain paragraphs, which is the best that a page can reach. Without a background, Chromium would redraw
 * the area for each frame, and a fifth of the frames would be late.
 * @param rate how many times slower the processor is
 */
export async function measureFloor(
  page: Page,
  rate: number,
  scroll: (page: Page, selector: string) => Promise<number>,
): Promise<number> {
  const other = await page.context().newPage();
  try {
    await other.setContent(
      `<div id="floor" style="height: 600px; overflow: auto; background: white">${'<p>A line of text as rows have it.</p>'.repeat(4000)}</div>`,
    );
    return await throttled(other, rate, () => scroll(other, '#floor'));
  } finally {
    await other.close();
  }
}

export const countNodes = (page: Page): Promise<number> =>
  page.evaluate<number>("document.querySelectorAll('*').length");

/** KiB of compressed JavaScript that the page has loaded, and the part of the plots, which no paint waits for. */
export const measureScripts = (page: Page): Promise<{ all: number; plots: number }> =>
  page.evaluate(`
    const scripts = performance.getEntriesByType('resource').filter(({ name }) => new URL(name).pathname.endsWith('.js'));
    const weigh = (of) => of.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0) / 1024;
    ({ all: weigh(scripts), plots: weigh(scripts.filter(({ name }) => name.includes('/plot-area-'))) })
  `);

/** Runs something with a processor that is `rate` times slower. */
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

/**
 * Measures the time from each key and click to the frame with its result. These are the interactions for INP, which is a
 * quantile of them.
 */
export async function measureInteractions(page: Page, act: () => Promise<void>): Promise<number[]> {
  const before = await page.evaluate<number>('interactions.clear(), performance.interactionCount');
  await act();
  // The browser reports interactions a little later.
  await page.waitForTimeout(300);
  const done = (await page.evaluate<number>('performance.interactionCount')) - before;
  const told = await page.evaluate<number[]>('[...interactions.values()]');
  return [...told, ...Array.from({ length: Math.max(0, done - told.length) }, () => SHORTEST)];
}

/** Processor time of the page's thread for something. The machine's load has little effect on it. */
export async function processorTime<Result>(
  page: Page,
  act: () => Promise<Result>,
): Promise<{ ms: number; result: Result }> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const read = async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return 1_000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN);
  };
  try {
    const before = await read();
    const result = await act();
    return { ms: (await read()) - before, result };
  } finally {
    await session.detach();
  }
}

/** The longest task of the page's thread, in ms of processor time. */
export async function longestTask(page: Page, act: () => Promise<unknown>): Promise<number> {
  const events = await traceOf(page, ['toplevel'], act);
  const threads = new Set(
    events.flatMap(({ name, pid, tid, args }) =>
      name === 'thread_name' && args?.name === 'CrRendererMain' ? [`${pid} ${tid}`] : [],
    ),
  );
  const tasks = events.filter(
    ({ name, pid, tid }) => name === 'ThreadControllerImpl::RunTask' && threads.has(`${pid} ${tid}`),
  );
  return Math.max(...tasks.map(({ tdur = 0 }) => tdur)) / 1_000;
}

/** The heap after a garbage collection, in MB. */
export async function measureHeap(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  await session.detach();
  return usedSize / 1e6;
}
