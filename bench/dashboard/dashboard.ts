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
  type Loading,
  measureFloor,
  measureHeap,
  measureKey,
  measureLoading,
  measureScrolling,
  watchTasks,
} from './measure.ts';
import { makeSession } from './session.ts';

const OWNER = { email: 'reader@example.com', password: 'three quiet harbours' };
const SIZES = (process.env.BENCH_EVENTS ?? '5000,50000').split(',').map(Number);
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

async function measureSession(page: Page, address: string, events: number): Promise<Row[]> {
  const row = (what: string, figure: number, unit: string, goal: string, detail = ''): Row => ({
    what: `session of ${events.toLocaleString('en')} events, ${what}`,
    ...{ figure, unit, goal, detail },
  });
  const loadings: Loading[] = [];
  for (let round = 0; round < ROUNDS; round++) loadings.push(await measureLoading(page, address));
  const of = (name: 'firstRow' | 'complete' | 'longestTask' | 'tasks') => loadings.map((each) => each[name]);
  const all = (values: readonly number[]) => values.map(Math.round).join(', ');
  const timeline = 'section[aria-label="Timeline"]';
  const late: number[] = [];
  const floor: number[] = [];
  for (const step of [240, 3000]) {
    late.push(await measureScrolling(page, timeline, step));
    floor.push(await measureFloor(page, step));
  }
  await page.keyboard.press('g');
  await page.keyboard.press('g');
  const keys = await measureKey(page, 'j', KEYS);
  const failures = await measureKey(page, 'n', KEYS);
  return [
    row('first row', median(of('firstRow')), 'ms', '≤ 1,000', all(of('firstRow'))),
    row('all navigable', median(of('complete')), 'ms', '≤ 2,000', all(of('complete'))),
    row('longest task', median(of('longestTask')), 'ms', '≤ 100', `together ${all(of('tasks'))}`),
    row('late frames, wheel 240', late[0] ?? 0, '%', '≤ floor + 5', `floor ${floor[0]?.toFixed(1)} %`),
    row('late frames, wheel 3,000', late[1] ?? 0, '%', '≤ floor + 5', `floor ${floor[1]?.toFixed(1)} %`),
    row('j to paint, p95', quantile(keys, 0.95), 'ms', '≤ 50', `p50 ${median(keys).toFixed(0)} ms`),
    row('n to paint, p95', quantile(failures, 0.95), 'ms', '≤ 100', `p50 ${median(failures).toFixed(0)} ms`),
    row('heap', await measureHeap(page), 'MB', '≤ 100'),
  ];
}
