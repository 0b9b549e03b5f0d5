import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '../../contract/client.ts';
import { MAX_BATCH_EVENTS } from '../../contract/event.ts';
import { launchBrowser, type Page } from '../../dashboard/e2e/harness/browser.ts';
import { buildDashboard } from '../../dashboard/e2e/harness/build.ts';
import { startService } from '../../dashboard/e2e/harness/service.ts';
import { signIn, signUp } from '../../script/demo/sign-in.ts';
import { withFolder } from '../process.ts';
import { median, quantile, type Row } from '../report.ts';
import { measureList, type Seeding, seedList, startSeeding } from './list.ts';
import {
  countNodes,
  measureFloor,
  measureHeap,
  measureKey,
  measureLoading,
  measureReading,
  measureScrolling,
  throttled,
  watchTasks,
} from './measure.ts';
import { makeSession } from './session.ts';

const OWNER = { email: 'reader@example.com', password: 'three quiet harbours' };
const SIZES = (process.env.BENCH_EVENTS ?? '5000,50000,200000').split(',').map(Number);
const ROUNDS = 3;
const KEYS = 40;

/** Long sessions and a long list of them in Chromium, from the real service; beside them a list of plain paragraphs, which is the floor. */
export function benchDashboard(): Promise<Row[]> {
  return withFolder(async (folder) => {
    buildDashboard();
    const dataDir = join(folder, 'data');
    mkdirSync(dataDir);
    const service = await startService(dataDir);
    const browser = await launchBrowser();
    try {
      await signUp(service.welcomeLink, OWNER);
      const seeding = await startSeeding(service.url, await signIn(service.url, OWNER));
      const sessions = await seedSessions(seeding);
      const page = await (await browser.newContext({ viewport: { width: 1440, height: 900 } })).newPage();
      await watchTasks(page);
      await page.goto(service.url);
      await page.getByLabel('E-mail').fill(OWNER.email);
      await page.getByLabel('Password').fill(OWNER.password);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await page.getByRole('navigation', { name: 'Main' }).waitFor({ state: 'attached' });
      const rows: Row[] = [];
      for (const { events, sessionId } of sessions) {
        rows.push(...(await measureSession(page, `${service.url}/sessions/${sessionId}`, events)));
      }
      await seedList(seeding);
      return [...rows, ...(await measureList(page, service.url))];
    } finally {
      await browser.close();
      await service.stop();
    }
  });
}

async function seedSessions({ owner, machine, ...place }: Seeding): Promise<{ events: number; sessionId: string }[]> {
  const made: { events: number; sessionId: string }[] = [];
  for (const events of SIZES) {
    const { sessionId } = (await machine.openSession({ body: { ...place, title: `${events} events` } })).body;
    const all = makeSession(events);
    for (let first = 0; first < all.length; first += MAX_BATCH_EVENTS) {
      await machine.appendEvents({ sessionId, body: { events: all.slice(first, first + MAX_BATCH_EVENTS) } });
    }
    await waitUntilDerived(owner, sessionId, events);
    made.push({ events, sessionId });
  }
  return made;
}

/** What is derived comes after the commit; a page that is opened sooner reads the events themselves. */
async function waitUntilDerived(owner: Client, sessionIds: string, events: number): Promise<void> {
  for (;;) {
    const { summaries } = (await owner.listSessionSummaries({ query: { sessionIds } })).body;
    if (summaries[0]?.summarizedThrough === events) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

const TIMELINE = 'section[aria-label="Timeline"]';
/** Pixels a millisecond at which a person still reads. */
const READING = [1.5, 3];
/** A laptop of some years ago. */
const SLOWER = 4;

async function measureSession(page: Page, address: string, events: number): Promise<Row[]> {
  const row = (what: string, figure: number, unit: string, goal: string, detail = ''): Row => ({
    what: `session of ${events.toLocaleString('en')} events, ${what}`,
    ...{ figure, unit, goal, detail },
  });
  const loadings = [await measureLoading(page, address)];
  // The first opening of a page is drawn in another way than those after a reload.
  const reading = await measureReadings(page);
  for (let round = 1; round < ROUNDS; round++) loadings.push(await measureLoading(page, address));
  const of = (name: 'firstRow' | 'complete' | 'longestTask' | 'tasks') => loadings.map((each) => each[name]);
  const all = (values: readonly number[]) => values.map(Math.round).join(', ');
  const late: Late[] = [];
  for (const step of [240, 3000])
    late.push(await besideFloor(page, (each, area) => measureScrolling(each, area, step)));
  const keys = await measureKeys(page);
  const heap = await measureHeap(page);
  const slow = await throttled(page, SLOWER, async () => ({
    loading: await measureLoading(page, address),
    readings: await measureReadings(page),
    keys: await measureKeys(page),
  }));
  const lateRow = (what: string, { figure, floor }: Late) =>
    row(`late frames, ${what}`, figure, '%', '≤ floor + 5', `floor ${floor.toFixed(1)} %`);
  const readingRows = (what: string, { late: each }: Readings) =>
    READING.map((speed, index) => lateRow(`${speed} px/ms${what}`, each[index] as Late));
  return [
    row('first row', median(of('firstRow')), 'ms', '≤ 800', all(of('firstRow'))),
    row('all navigable', median(of('complete')), 'ms', '≤ 1,500', all(of('complete'))),
    row('longest task', median(of('longestTask')), 'ms', '≤ 100', `together ${all(of('tasks'))}`),
    ...readingRows(', first opening', reading),
    lateRow('wheel 240', late[0] as Late),
    lateRow('wheel 3,000', late[1] as Late),
    row('j to paint, p95', quantile(keys.j, 0.95), 'ms', '≤ 100', `p50 ${median(keys.j).toFixed(0)} ms`),
    row('n to paint, p95', quantile(keys.n, 0.95), 'ms', '≤ 100', `p50 ${median(keys.n).toFixed(0)} ms`),
    row('nodes in the document', reading.nodes, '', '≤ 2,000', 'the most, after a screen of reading'),
    row('heap', heap, 'MB', events > 100_000 ? '≤ 150' : '≤ 100'),
    row(`first row, ${SLOWER} times slower`, slow.loading.firstRow, 'ms', ''),
    row(`all navigable, ${SLOWER} times slower`, slow.loading.complete, 'ms', ''),
    ...readingRows(`, ${SLOWER} times slower`, slow.readings),
    row(`j to paint, p95, ${SLOWER} times slower`, quantile(slow.keys.j, 0.95), 'ms', '≤ 200'),
    row(`n to paint, p95, ${SLOWER} times slower`, quantile(slow.keys.n, 0.95), 'ms', '≤ 200'),
  ];
}

/** A share of frames beside that of a plain list. */
interface Late {
  figure: number;
  floor: number;
}

async function besideFloor(page: Page, scroll: (page: Page, area: string) => Promise<number>): Promise<Late> {
  return { figure: await scroll(page, TIMELINE), floor: await measureFloor(page, scroll) };
}

interface Readings {
  /** For each speed. */
  late: Late[];
  nodes: number;
}

async function measureReadings(page: Page): Promise<Readings> {
  const late: Late[] = [];
  let nodes = await countNodes(page);
  for (const speed of READING) {
    late.push(await besideFloor(page, (each, area) => measureReading(each, area, speed)));
    nodes = Math.max(nodes, await countNodes(page));
  }
  return { late, nodes };
}

async function measureKeys(page: Page): Promise<{ j: number[]; n: number[] }> {
  await page.keyboard.press('g');
  await page.keyboard.press('g');
  return { j: await measureKey(page, 'j', KEYS), n: await measureKey(page, 'n', KEYS) };
}
