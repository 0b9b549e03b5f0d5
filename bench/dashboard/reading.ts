import type { Page } from '../../dashboard/e2e/harness/browser.ts';
import { median, quantile } from '../report.ts';
import {
  countNodes,
  longestTask,
  measureFloor,
  measureHeap,
  measureInteractions,
  measureLoading,
  measureReading,
  measureScrolling,
  NEXT_FRAME,
  openSession,
  processorTime,
  throttled,
} from './measure.ts';
import type { Parts, Tell } from './parts.ts';

const TIMELINE = 'section[aria-label="Timeline"]';
const ROUNDS = 3;
const KEYS = 30;
/** Speeds at which a person can still read, in pixels a millisecond. */
const READING = [1.5, 3];
/** The processor of a laptop that is some years old. */
const SLOWER = 4;

/** Measures opening, reading and navigating a session with this number of events. */
export async function measureSession({ run }: Parts, page: Page, address: string, events: number): Promise<void> {
  const name = `session of ${events.toLocaleString('en')} events`;
  const part = (what: string, measure: (tell: Tell) => Promise<void>) =>
    run(`${name}, ${what}`, (tell) => measure((figure, ...rest) => tell(`${name}, ${figure}`, ...rest)));

  await part('openings', async (tell) => {
    const loadings = [await measureLoading(page, address)];
    // Chromium draws the first opening of a page in another way than reloads.
    await tellReading(page, 1, tell, 'first opening');
    for (let round = 1; round < ROUNDS; round++) loadings.push(await measureLoading(page, address));
    const of = (each: keyof (typeof loadings)[number]) => loadings.map((loading) => loading[each]);
    const all = (values: readonly number[]) => values.map(Math.round).join(', ');
    tell('first row', median(of('firstRow')), 'ms', '≤ 800', all(of('firstRow')));
    tell('all navigable', median(of('complete')), 'ms', '≤ 1,500', all(of('complete')));
    tell('longest task', median(of('longestTask')), 'ms', '≤ 100', all(of('longestTask')));
    tell("opening, page's thread", median(of('cpu')), 'ms CPU', '', all(of('cpu')));
  });
  await part('longest task', async (tell) => {
    await page.goto('about:blank');
    tell('longest task of an opening', await longestTask(page, () => openSession(page, address)), 'ms CPU', '≤ 100');
  });
  await part('wheel', async (tell) => {
    for (const step of [240, 3000]) {
      const late = await measureScrolling(page, TIMELINE, step);
      const floor = await measureFloor(page, 1, (each, area) => measureScrolling(each, area, step));
      tellLate(tell, `wheel ${step.toLocaleString('en')}`, late, floor);
    }
  });
  await part('keys and clicks', (tell) => tellInteractions(page, tell, '≤ 100'));
  await part('heap', async (tell) => {
    tell('heap', await measureHeap(page), 'MB', events > 100_000 ? '≤ 150' : '≤ 100');
  });
  await part(`${SLOWER} times slower`, (tell) =>
    throttled(page, SLOWER, async () => {
      const slow: Tell = (what, ...rest) => tell(`${what}, ${SLOWER} times slower`, ...rest);
      const { firstRow, complete } = await measureLoading(page, address);
      slow('first row', firstRow, 'ms', '');
      slow('all navigable', complete, 'ms', '');
      await tellReading(page, SLOWER, slow);
      await tellInteractions(page, slow, '≤ 200');
    }),
  );
}

const tellLate = (tell: Tell, what: string, late: number, floor: number) =>
  tell(`late frames, ${what}`, late, '%', '≤ floor + 5', `floor ${floor.toFixed(1)} %`);

/** @param rate how many times slower the page's processor already is */
async function tellReading(page: Page, rate: number, tell: Tell, what = ''): Promise<void> {
  let nodes = await countNodes(page);
  for (const speed of READING) {
    const { ms, result } = await processorTime(page, () => measureReading(page, TIMELINE, speed));
    const floor = await measureFloor(page, rate, (each, area) => measureReading(each, area, speed));
    const name = [`${speed} px/ms`, what].filter(Boolean).join(', ');
    tellLate(tell, name, result, floor);
    if (rate === 1) tell(`4 s of ${name}, page's thread`, ms, 'ms CPU', '');
    nodes = Math.max(nodes, await countNodes(page));
  }
  if (rate === 1)
    tell('nodes in the document', nodes, '', '≤ 2,000', 'the maximum, counted after each stretch of reading');
}

async function tellInteractions(page: Page, tell: Tell, goal: string): Promise<void> {
  const times = await measureInteractions(page, () => walk(page));
  const most = `${times.length} keys and clicks, p50 ${median(times).toFixed(0)}, most ${Math.max(...times)} ms`;
  tell('INP, p95', quantile(times, 0.95), 'ms', goal, most);
}

/** The keys and clicks of a person who looks around in a session. */
async function walk(page: Page): Promise<void> {
  const rest = async () => {
    for (let frame = 0; frame < 3; frame++) await page.evaluate(NEXT_FRAME);
  };
  const press = async (key: string, times: number) => {
    for (let each = 0; each < times; each++) {
      await page.keyboard.press(key);
      await rest();
    }
  };
  await press('g', 2);
  await press('j', KEYS);
  await press('n', KEYS);
  await press(']', 10);
  await press('o', 10);
  const prompts = page.getByRole('navigation', { name: 'Prompts' }).getByRole('button');
  for (let each = 0; each < 5; each++) {
    await prompts.nth(each).click();
    await rest();
  }
  for (let each = 0; each < 2; each++) {
    await page.getByRole('button', { name: /^Failures \d/ }).click();
    await rest();
  }
}
