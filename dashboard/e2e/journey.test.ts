import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { picture, setUpProduct } from './harness/product.ts';
import type { Tab } from './harness/tab.ts';
import { beginSession, createMachine, type GrowingSession, type Machine } from './steps/machine.ts';
import { ADA, createFirstAccount, signIn, signOut } from './steps/person.ts';
import { RATE_LIMIT } from './steps/samples.ts';
import { currentRow, currentSequence, expectAt, find, timelineOf } from './steps/timeline.ts';
import { commandsOf, createOrganization, issueSecret, openFirstSession } from './steps/welcome.ts';

const product = setUpProduct();

/** Each step continues where the previous one ended. */
describe('from the first visit to an event of the first session', () => {
  let tab: Tab;
  let page: Page;
  let machine: Machine;
  let session: GrowingSession;
  let secret: string;
  let link: string;
  let sequence: number;
  let failed = false;

  beforeAll(async () => {
    tab = await product.open();
    page = tab.page;
    machine = createMachine(join(product.folder, 'home'), {});
    session = beginSession(machine, RATE_LIMIT.project, RATE_LIMIT.begun);
  });

  beforeEach(({ skip, onTestFailed }) => {
    skip(failed, 'a step before failed');
    onTestFailed(() => {
      failed = true;
    });
  });

  test('the printed link creates the first account and leads into the dashboard', async () => {
    await createFirstAccount(page, product.service, ADA);
    await page.getByRole('heading', { name: 'Connect a machine' }).waitFor();
    tab.allow(/status of 410/);
    await page.goto(product.service.welcomeLink);
    await page.getByText('This link does not work').waitFor();
    await page.goto(product.service.url);
    await page.waitForURL('**/welcome');
  });

  test('an organization is created and a secret is issued', async () => {
    await createOrganization(page, 'Harbour Works');
    secret = await issueSecret(page);
    expect(secret).toMatch(/^sk_live_\S{20,}$/);
    await picture(tab, 'welcome');
  });

  test('the commands on the page connect the machine, and its first session is announced at once', async () => {
    const [login = [], init = []] = await commandsOf(page);
    expect(await machine.capture([...login, '--secret-stdin'], secret)).toContain('Harbour Works');
    const choices = ['--yes', '--no-daemon', '--history', 'all'];
    expect(await machine.capture([...init, ...choices])).toContain('Registered');
    expect(await machine.capture(['import'])).toContain('masked');
    const acknowledged = performance.now();
    await page.getByText('The first session is here').waitFor();
    console.log(`announced ${since(acknowledged)} after the acknowledgement`);
  });

  test('the value of the secret is never shown again', async () => {
    await page.getByRole('link', { name: 'To the dashboard' }).click();
    await page.getByRole('link', { name: 'Secrets' }).click();
    await page.getByRole('cell', { name: secret.slice(-4) }).waitFor();
    expect(await page.content()).not.toContain(secret);
    await page.goto(`${product.service.url}/welcome`);
    await page.getByText('The first session is here').waitFor();
    expect(await page.content()).not.toContain(secret);
  });

  test('the timeline of the session shows the prompts', async () => {
    await openFirstSession(page);
    await timelineOf(page).getByRole('listitem').first().waitFor();
    const prompts = page.getByRole('navigation', { name: 'Prompts' }).locator('[data-line="prompt"]');
    await expect.poll(() => prompts.count()).toBe(2);
    await prompts.first().click();
    await expect.poll(() => currentRow(page).textContent()).toContain(RATE_LIMIT.words);
    await picture(tab, 'journey-prompt');
  });

  test('an edit that a search finds is open', async () => {
    await find(page, 'src/limit.ts');
    const lines = currentRow(page).getByRole('figure', { name: /limit\.ts$/ });
    await expect.poll(() => lines.textContent()).toContain('export function createLimit');
    await picture(tab, 'journey-edit');
  });

  test('a failed command stands out, and its output shows the reason', async () => {
    await page.keyboard.press('n');
    await expect.poll(() => currentRow(page).textContent()).toMatch(/failed|exit 1/);
    await page.keyboard.press('Enter');
    await inspector(page, 'output').click();
    await expect.poll(() => inspected(page).textContent()).toContain('✖');
    await picture(tab, 'journey-failure');
  });

  test('a secret is replaced by a mark', async () => {
    await find(page, 'cat .env');
    await inspector(page, 'output').click();
    await expect.poll(() => inspected(page).textContent()).toMatch(/\[REDACTED:[a-z0-9-]+:[0-9a-f]{4}\]/);
    expect(await page.content()).not.toMatch(/hunter2|ghp_notAReal/);
    await picture(tab, 'journey-secret');
    await page.keyboard.press('Escape');
  });

  test('new events of the agent appear without a reload', async () => {
    await page.keyboard.press('Shift+G');
    const shown = timelineOf(page).getByText(RATE_LIMIT.nextWords).waitFor();
    session.finish();
    const captured = machine.capture(['import']).then(() => performance.now());
    await shown;
    const appeared = performance.now();
    console.log(`shown ${Math.round(appeared - (await captured))} ms after the command had ended`);
    await picture(tab, 'journey-live');
  });

  test('a clicked event is in the address, and a reload returns to it', async () => {
    await timelineOf(page).getByText(RATE_LIMIT.nextWords).click();
    await currentRow(page).getByText(RATE_LIMIT.nextWords).waitFor();
    sequence = await currentSequence(page);
    await page.waitForURL(`**?e=${sequence}`);
    link = page.url();
    await page.reload();
    await expectAt(page, sequence);
    expect(page.url()).toBe(link);
  });

  test('the raw form of an event is the stored JSON', async () => {
    await page.keyboard.press('Enter');
    const json = await inspected(page).locator('pre').textContent();
    expect(JSON.parse(json ?? '')).toMatchObject({
      source: { agent: 'claude-code' },
      text: expect.stringContaining(RATE_LIMIT.nextWords),
    });
    await page.keyboard.press('Escape');
  });

  test('after signing out, the link requires a sign-in and then opens the event', async () => {
    await signOut(page);
    await page.goto(link);
    await signIn(page, ADA);
    await expectAt(page, sequence);
    expect(page.url()).toBe(link);
    await picture(tab, 'journey-link');
  });
});

const inspector = (page: Page, name: string) =>
  page.getByRole('complementary', { name: 'Inspector' }).getByRole('tab', { name });
const inspected = (page: Page) => page.getByRole('complementary', { name: 'Inspector' }).getByRole('region');
const since = (start: number) => `${Math.round(performance.now() - start)} ms`;
