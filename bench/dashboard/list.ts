import { zstdCompressSync } from 'node:zlib';
import { writeAppends } from '../../contract/appends-body.ts';
import { MAX_SESSIONS_AT_ONCE } from '../../contract/capture.ts';
import { type Client, createClient } from '../../contract/client.ts';
import type { Page } from '../../dashboard/e2e/harness/browser.ts';
import { countStyled } from '../../dashboard/e2e/steps/styling.ts';
import { createPassages } from '../text.ts';
import { measureFloor, measureScripts, measureScrolling, NEXT_FRAME, TURNS } from './measure.ts';
import type { Parts } from './parts.ts';

const SESSIONS = Number(process.env.BENCH_SESSIONS ?? 10_000);
/** A word in one of a thousand sessions. */
const RARE = 'zephyrgate';

/** Clients of a machine that sends sessions and of the person who reads them. */
export interface Seeding {
  owner: Client;
  machine: Client;
  environmentId: string;
  agentInstallationId: string;
}

export async function startSeeding(baseUrl: string, token: string): Promise<Seeding> {
  const owner = createClient({ baseUrl, credential: () => token });
  await owner.createOrganization({ body: { name: 'Bench' } });
  const { value } = (await owner.issueSecret({ body: { name: 'bench' } })).body;
  const machine = createClient({ baseUrl, credential: () => value });
  const body = { hostname: 'bench', platform: 'linux' as const, serviceCliVersion: '0.1.0' };
  const { environmentId } = (await machine.registerEnvironment({ body })).body;
  const agent = await machine.registerAgent({ environmentId, body: { agentId: 'claude-code' } });
  return { owner, machine, environmentId, agentInstallationId: agent.body.installationId };
}

/** Sends many sessions with a prompt and a call each, and waits until all are derived. */
export async function seedList({ owner, machine, ...place }: Seeding): Promise<void> {
  const passage = createPassages(3);
  let last = '';
  for (let at = 0; at < SESSIONS; at += MAX_SESSIONS_AT_ONCE) {
    const numbers = Array.from({ length: MAX_SESSIONS_AT_ONCE }, (_, n) => at + n);
    const sessions = numbers.map((n) => ({ ...place, clientKey: `bench-list-session-${n}` }));
    const { results } = (await machine.captureSessions({ body: { sessions } })).body;
    const appends = results.map(({ session }, index) => {
      const n = numbers[index] as number;
      const text = `${passage(80).replaceAll('\u0000', '')} ${n % 1_000 === 500 ? RARE : ''}`;
      last = session?.sessionId ?? last;
      const events = [
        { eventType: 'session.meta', payload: { cwd: `/home/dev/code/app-${n % 40}` } },
        { eventType: 'user.message', payload: { text } },
        { eventType: 'tool.call', payload: { callId: 'a', name: 'Bash', input: { command: 'npm test' } } },
      ];
      const frame = zstdCompressSync(JSON.stringify({ events }));
      return { sessionId: session?.sessionId ?? '', idempotencyKey: `list-${n}`, frame };
    });
    await machine.appendBatches({ body: writeAppends(appends) });
  }
  for (;;) {
    const { body } = await owner.searchSessions({ query: { q: RARE } });
    if (!body.catchingUp) return;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

/** Measures the first page and the list of sessions with an empty cache, and then the way to the list's end. */
export async function measureList({ run }: Parts, page: Page, url: string): Promise<void> {
  const list = `list of ${SESSIONS.toLocaleString('en')} sessions`;
  const grid = page.getByRole('grid', { name: 'Sessions' });
  const rows = grid.locator('[data-session]');
  const cache = await page.context().newCDPSession(page);
  const now = () => page.evaluate<number>('performance.now()');
  async function open(path: string, isShown: () => Promise<void>): Promise<number> {
    await page.goto('about:blank');
    await cache.send('Network.clearBrowserCache');
    await page.goto(url + path, { waitUntil: 'commit' });
    await isShown();
    return now();
  }
  const openList = () => open('/sessions', () => rows.first().waitFor());

  await run('first load', async (tell) => {
    const overview = await open('/', () => page.getByRole('heading', { name: 'Overview' }).waitFor());
    tell('first load, overview', overview, 'ms', '≤ 2,000', 'nothing in the cache');
    await page.locator('.plot-marks').first().waitFor();
    const { all, plots } = await measureScripts(page);
    tell('first load, JavaScript', all, 'KiB', '≤ 120', `compressed; no paint waits for ${plots.toFixed(1)} of it`);
  });
  await run(`${list}, opening`, async (tell) => {
    tell(`${list}, first row`, await openList(), 'ms', '≤ 1,000', 'nothing in the cache');
  });
  await run(`${list}, to its end`, async (tell) => {
    await rows.first().focus();
    const began = await now();
    // The number of rows is unknown until the last page is loaded.
    while ((await grid.getAttribute('aria-rowcount')) === '-1') {
      if ((await now()) - began > MAX_MS) throw new Error('the list has no end');
      await page.keyboard.press('End');
      await page.evaluate(NEXT_FRAME);
    }
    tell(`${list}, to its end`, (await now()) - began, 'ms', '', 'by the key End');
    tell(`${list}, rows in the document`, await rows.count(), '', '≤ 60');
  });
  await run(`${list}, wheel`, async (tell) => {
    await page.keyboard.press('Home');
    const late = await measureScrolling(page, '#page', 240);
    const floor = await measureFloor(page, 1, (other, area) => measureScrolling(other, area, 240));
    tell(`${list}, late frames, wheel 240`, late, '%', '≤ floor + 5', `floor ${floor.toFixed(1)} %`);
    // A count does not depend on the machine's load.
    const styled = (await countStyled(page, () => measureScrolling(page, '#page', 240))) / TURNS;
    tell(`${list}, elements styled by a turn of the wheel`, styled, '', '≤ 130', '4 to 5 rows');
  });
  await run(`${list}, a rare word`, async (tell) => {
    await openList();
    const asked = await now();
    await page.getByRole('combobox', { name: 'Find sessions' }).fill(RARE);
    await grid.locator('mark').first().waitFor();
    tell(`${list}, a rare word to its first row`, (await now()) - asked, 'ms', '≤ 500', 'typed, the pause included');
  });
}

/** Scrolling through 10,000 sessions takes ten seconds on a quiet machine. */
const MAX_MS = 300_000;
