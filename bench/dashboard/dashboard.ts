import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '../../contract/client.ts';
import { MAX_BATCH_EVENTS } from '../../contract/event.ts';
import { launchBrowser } from '../../dashboard/e2e/harness/browser.ts';
import { buildDashboard } from '../../dashboard/e2e/harness/build.ts';
import { startService } from '../../dashboard/e2e/harness/service.ts';
import { signIn, signUp } from '../../script/demo/sign-in.ts';
import { buildService } from '../../test/built-service.ts';
import { withFolder } from '../process.ts';
import type { Row } from '../report.ts';
import { measureList, type Seeding, seedList, startSeeding } from './list.ts';
import { measureLive } from './live.ts';
import { watchPage } from './measure.ts';
import { createParts } from './parts.ts';
import { measureSession } from './reading.ts';
import { makeSession } from './session.ts';

const OWNER = { email: 'reader@example.com', password: 'three quiet harbours' };
const SIZES = (process.env.BENCH_EVENTS ?? '5000,50000,200000').split(',').map(Number);
/** The number of events that a live session gets. */
const NEWS = 60;
/** A long timeout, since a slow page on a busy machine is not a failure. */
const PATIENCE_MS = 120_000;

/** Long sessions and a long list of sessions in Chromium with the real service, compared with a list of plain paragraphs. */
export function benchDashboard(): Promise<readonly Row[]> {
  return withFolder(async (folder) => {
    buildDashboard();
    await buildService();
    const dataDir = join(folder, 'data');
    mkdirSync(dataDir);
    const service = await startService(dataDir);
    const browser = await launchBrowser();
    try {
      await signUp(service.welcomeLink, OWNER);
      const seeding = await startSeeding(service.url, await signIn(service.url, OWNER));
      const page = await (await browser.newContext({ viewport: { width: 1440, height: 900 } })).newPage();
      page.setDefaultTimeout(PATIENCE_MS);
      page.setDefaultNavigationTimeout(PATIENCE_MS);
      await watchPage(page);
      await page.goto(service.url);
      await page.getByLabel('E-mail').fill(OWNER.email);
      await page.getByLabel('Password').fill(OWNER.password);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await page.getByRole('navigation', { name: 'Main' }).waitFor({ state: 'attached' });
      const parts = createParts();
      for (const events of SIZES) {
        let sessionId = '';
        await parts.run(`sending ${events.toLocaleString('en')} events`, async () => {
          sessionId = await seedSession(seeding, events);
        });
        const address = `${service.url}/sessions/${sessionId}`;
        await measureSession(parts, page, address, events);
        await measureLive(parts, page, {
          address,
          events,
          news: makeSession(events + NEWS).slice(events),
          append: (event) => seeding.machine.appendEvents({ sessionId, body: { events: [event] } }),
        });
      }
      await parts.run('sending the sessions of the list', () => seedList(seeding));
      await measureList(parts, page, service.url);
      return parts.rows;
    } finally {
      await browser.close();
      await service.stop();
    }
  });
}

async function seedSession({ owner, machine, ...place }: Seeding, events: number): Promise<string> {
  const { sessionId } = (await machine.openSession({ body: { ...place, title: `${events} events` } })).body;
  const all = makeSession(events);
  for (let first = 0; first < all.length; first += MAX_BATCH_EVENTS) {
    await machine.appendEvents({ sessionId, body: { events: all.slice(first, first + MAX_BATCH_EVENTS) } });
  }
  await waitUntilDerived(owner, sessionId, events);
  return sessionId;
}

/** Deriving follows the commit. A page opened before its end reads the events themselves. */
async function waitUntilDerived(owner: Client, sessionIds: string, events: number): Promise<void> {
  for (;;) {
    const { summaries } = (await owner.listSessionSummaries({ query: { sessionIds } })).body;
    if (summaries[0]?.summarizedThrough === events) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
