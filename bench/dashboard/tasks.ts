import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '../../contract/client.ts';
import { launchBrowser, type Page } from '../../dashboard/e2e/harness/browser.ts';
import { buildDashboard } from '../../dashboard/e2e/harness/build.ts';
import { type Service, startService } from '../../dashboard/e2e/harness/service.ts';
import { linkTo } from '../../dashboard/e2e/steps/outbox.ts';
import { signIn, signUp } from '../../script/demo/sign-in.ts';
import { buildService } from '../../test/built-service.ts';
import { withFolder } from '../process.ts';
import type { Row } from '../report.ts';
import { createHand, type Hand } from './hand.ts';
import { importTranscripts } from './import.ts';
import { createParts } from './parts.ts';
import { sendFortnight, TEAM } from './team.ts';

const LEAD = { email: 'lead@example.com', password: 'three quiet harbours' };
const GRACE = { email: 'grace@example.com', password: 'seven loud mountains' };

/** The longest time that a task should take. */
const MAX_MS = 10_000;

/** A lead's question and the steps to answer it. */
interface Task {
  ask: string;
  /** The page on which the task starts. */
  from: string;
  /** @returns the answer on the screen */
  find: (hand: Hand, team: { now: number }) => Promise<string>;
}

const listOf = (page: Page) => page.getByRole('grid', { name: 'Sessions' }).locator('[data-session]');
const outcomeOf = (page: Page) => page.getByRole('list', { name: 'Outcome' });

/** Types a query into the list. */
async function search({ press, type, page }: Hand, query: string): Promise<void> {
  await page.getByRole('combobox', { name: 'Find sessions' }).waitFor();
  await press('/');
  await type(query);
  await press('Enter');
}

async function openFirst(hand: Hand, title: string): Promise<void> {
  await hand.click(listOf(hand.page).filter({ hasText: title }).getByRole('link').first());
}

const dayOf = (time: number) => new Date(time).toISOString().slice(0, 10);
const DAY_MS = 86_400_000;

const TASKS: readonly Task[] = [
  {
    ask: `which session changed ${TEAM.file}`,
    from: '/sessions',
    async find(hand) {
      await search(hand, `edited:${TEAM.file}`);
      return hand.read(listOf(hand.page), /Take the head apart/);
    },
  },
  {
    ask: `which session made commit ${TEAM.commit}`,
    from: '/sessions',
    async find(hand) {
      await search(hand, TEAM.commit);
      return hand.read(listOf(hand.page), /Take the head apart/);
    },
  },
  {
    ask: 'where the tests stayed red',
    from: '/sessions',
    async find(hand) {
      await search(hand, 'tests:red');
      return hand.read(listOf(hand.page), new RegExp(TEAM.red));
    },
  },
  {
    ask: 'what cost most in the last week',
    from: '/sessions',
    async find(hand) {
      await search(hand, 'after:7d');
      await hand.click(hand.page.getByRole('button', { name: 'Cost', exact: true }));
      return hand.read(listOf(hand.page).and(hand.page.locator('[aria-rowindex="2"]')), new RegExp(TEAM.dear));
    },
  },
  {
    ask: `what ran on ${TEAM.machine} on a day`,
    from: '/sessions',
    async find(hand, { now }) {
      await search(hand, `machine:${TEAM.machine} on:${dayOf(now - 5 * DAY_MS)}`);
      return hand.read(listOf(hand.page), /Take the head apart/);
    },
  },
  {
    ask: 'what 2,000 events did, and how well',
    from: '/sessions',
    async find(hand) {
      await openFirst(hand, TEAM.long);
      await hand.read(hand.page.getByRole('navigation', { name: 'Prompts' }), /\w/);
      return hand.read(outcomeOf(hand.page), /Tests ended green.*1 commit, pushed.*files.*failures/);
    },
  },
  {
    ask: 'a review of its changes: why a hunk is there, and back',
    from: `/sessions?q=commit%3A${TEAM.commit}`,
    async find(hand) {
      const { page } = hand;
      await openFirst(hand, 'Take the head apart');
      await hand.click(page.getByRole('button', { name: 'Changes', exact: true }));
      const reason = await hand.read(page.getByRole('button', { name: /Readers need the description/ }), /Readers/);
      await hand.click(page.getByRole('button', { name: /^#\d+$/ }).first());
      await page.getByRole('region', { name: 'Timeline' }).locator('[data-current]').waitFor();
      await hand.back();
      await hand.read(page.locator('[data-file]'), new RegExp(TEAM.file));
      return reason;
    },
  },
  {
    ask: 'which of two agents did one task better',
    from: `/sessions?q=${encodeURIComponent('rate limit')}`,
    async find(hand) {
      const { page } = hand;
      const rows = listOf(page).filter({ hasText: TEAM.task });
      for (const each of [0, 1]) {
        await rows.nth(each).hover();
        await hand.click(rows.nth(each).getByRole('button', { name: 'More' }));
        await hand.click(page.getByRole('menuitem', { name: /^Compare with/ }));
      }
      await hand.read(page.getByRole('row'), /failures?.*better/i);
      return hand.read(page.getByRole('row'), /^cost.*better/i);
    },
  },
  {
    ask: 'how full the context was, and what was lost',
    from: '/sessions',
    async find(hand) {
      const { page } = hand;
      await openFirst(hand, TEAM.long);
      await page.locator('[data-complete="true"]').waitFor({ state: 'attached' });
      await hand.point(page.getByRole('slider', { name: 'Position in the session' }), 0.5);
      const full = await hand.read(page.locator('.strip-hint'), /context .* of .* full/);
      await hand.click(
        page
          .getByRole('navigation', { name: 'Prompts' })
          .getByRole('button', { name: /compact/i })
          .first(),
      );
      await hand.click(page.getByRole('button', { name: /^summary, / }).first());
      await hand.read(page.locator('.message-body'), /\w{3}/);
      return full;
    },
  },
  {
    ask: 'a link to exactly this',
    from: '/sessions?q=tests%3Ared',
    async find(hand) {
      const { page } = hand;
      await openFirst(hand, TEAM.red);
      await page.locator('[data-complete="true"]').waitFor({ state: 'attached' });
      await hand.press('n');
      await hand.press('y');
      await hand.read(page.getByText('The link is copied.'), /copied/);
      const link = await page.evaluate<string>('navigator.clipboard.readText()');
      const sequence = new URL(link).searchParams.get('e');
      await page.goto(link);
      const row = page.getByRole('region', { name: 'Timeline' }).locator('[data-current]');
      await hand.read(row, /exit 1|failed/);
      return `${new URL(link).search} shows event ${sequence}`;
    },
  },
  {
    ask: 'what is spent, on what, and whether it grows',
    from: '/',
    async find(hand) {
      const { page } = hand;
      await hand.click(page.getByRole('button', { name: '7 days', exact: true }));
      const growth = await hand.read(page.locator('.sentence'), /\$[\d,.]+.*(?:%|times).*before/);
      await hand.click(page.getByRole('button', { name: 'Repository', exact: true }));
      await hand.click(page.getByRole('button', { name: 'Table', exact: true }));
      await hand.read(page.getByRole('row'), /ledger.*\$/);
      return growth;
    },
  },
  {
    ask: 'whether capture is well everywhere',
    from: '/',
    find: (hand) => hand.read(hand.page.locator('.sentence'), /dora-win .*(?:full|waiting)/),
  },
  {
    ask: 'somebody left: end what they had',
    from: '/members',
    async find(hand) {
      const { page } = hand;
      await hand.click(page.getByRole('button', { name: `Remove ${GRACE.email}` }));
      const dialog = page.getByRole('dialog');
      const said = await hand.read(dialog.locator('label'), /active secret/);
      await hand.click(dialog.getByRole('button', { name: 'Remove', exact: true }));
      await dialog.waitFor({ state: 'detached' });
      await hand.click(page.getByRole('link', { name: 'Secrets' }));
      await hand.read(page.getByRole('row').filter({ hasText: "Grace's laptop" }), /revoked/);
      return said;
    },
  },
  {
    ask: 'a password is in a session: find it and take it out',
    from: '/sessions',
    async find(hand) {
      const { page } = hand;
      await search(hand, `"${TEAM.leak}"`);
      const row = listOf(page).filter({ hasText: TEAM.dear });
      await row.locator('mark').first().waitFor();
      await row.hover();
      await hand.click(row.getByRole('button', { name: 'More' }));
      await hand.click(page.getByRole('menuitem', { name: 'Delete…' }));
      await hand.click(page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }));
      return hand.read(page.getByRole('heading'), /No matching sessions/);
    },
  },
];

/**
 * The tasks of a lead in Chromium, only with clicks and keys, on two weeks of a team's sessions. The command line also captures
 * the real transcripts in `BENCH_TRANSCRIPTS`, since finding something among few sessions proves little.
 */
export function benchTasks(): Promise<readonly Row[]> {
  return withFolder(async (folder) => {
    buildDashboard();
    await buildService();
    const dataDir = join(folder, 'data');
    mkdirSync(dataDir);
    const service = await startService(dataDir);
    const browser = await launchBrowser();
    const parts = createParts();
    try {
      await signUp(service.welcomeLink, LEAD);
      const token = await signIn(service.url, LEAD);
      const owner = createClient({ baseUrl: service.url, credential: () => token });
      await owner.createOrganization({ body: { name: 'Harbour Works' } });
      const { value: secret } = (await owner.issueSecret({ body: { name: 'bench' } })).body;
      const machine = createClient({ baseUrl: service.url, credential: () => secret });
      const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
      await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: service.url });
      const page = await context.newPage();
      const now = Date.now();
      await parts.run('sending sessions', async () => {
        await sendFortnight(owner, machine, now);
        await importTranscripts(folder, service.url, secret, owner);
        await addGrace(service, owner, await (await browser.newContext()).newPage());
      });
      await page.goto(service.url);
      await page.getByLabel('E-mail').fill(LEAD.email);
      await page.getByLabel('Password').fill(LEAD.password);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await page.getByRole('navigation', { name: 'Main' }).waitFor({ state: 'attached' });
      for (const [index, { ask, from, find }] of TASKS.entries()) {
        await parts.run(`${index + 1}. ${ask}`, async (tell) => {
          await page.goto(service.url + from);
          await page.getByRole('heading', { level: 1 }).waitFor();
          const hand = createHand(page);
          const began = performance.now();
          const answer = await find(hand, { now });
          const seconds = (performance.now() - began) / 1000;
          const steps = `${hand.clicks} clicks, ${hand.keys} keys: “${answer.slice(0, 160)}”`;
          tell(`${index + 1}. ${ask}`, seconds, 's', `≤ ${MAX_MS / 1000}`, steps);
        });
      }
      return parts.rows;
    } finally {
      await browser.close();
      await service.stop();
    }
  });
}

/** Adds a member who has issued a secret. */
async function addGrace(service: Service, owner: ReturnType<typeof createClient>, page: Page) {
  await owner.inviteMember({ body: { email: GRACE.email, role: 'admin' } });
  await page.goto(linkTo(service, GRACE.email));
  await page.getByLabel('Password').fill(GRACE.password);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('heading', { level: 1 }).waitFor();
  const token = await signIn(service.url, GRACE);
  const grace = createClient({ baseUrl: service.url, credential: () => token });
  const [invitation] = (await grace.getPerson({})).body.invitations ?? [];
  if (invitation) await grace.acceptInvitation({ body: { organizationId: invitation.organizationId } });
  await grace.issueSecret({ body: { name: "Grace's laptop" } });
}
