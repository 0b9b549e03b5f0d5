import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { picture, setUpProduct } from './harness/product.ts';
import type { Tab } from './harness/tab.ts';
import { violationsOf } from './steps/accessibility.ts';
import { beginSession } from './steps/machine.ts';
import { ADA, createFirstAccount } from './steps/person.ts';
import { RATE_LIMIT } from './steps/samples.ts';
import { openTerminal, type Terminal } from './steps/terminal.ts';
import { createOrganization, lineOf, openFirstSession, tick } from './steps/welcome.ts';

const product = setUpProduct();

/** The steps of a person, from the link that an empty service prints to their first session. */
describe('the first minute', () => {
  let tab: Tab;
  let page: Page;
  let terminal: Terminal;
  let variables: Record<string, string>;
  let failed = false;
  let started = 0;
  const laps: string[] = [];
  const lap = (what: string) =>
    laps.push(`${((performance.now() - started) / 1000).toFixed(1).padStart(5)} s  ${what}`);

  beforeAll(async () => {
    const home = join(product.folder, 'home');
    // An agent is installed, but has not been used yet.
    mkdirSync(join(home, '.claude/projects'), { recursive: true });
    variables = { HOME: home, PATH: '/usr/bin:/bin' };
    tab = await product.open();
    page = tab.page;
  });

  beforeEach(({ skip, onTestFailed }) => {
    skip(failed, 'a step before failed');
    onTestFailed(() => {
      failed = true;
    });
  });

  afterAll(async () => {
    console.log(laps.join('\n'));
    await openTerminal(`${variables.HOME}/.local/bin/capture stop`, variables).ended;
  });

  test('the link creates an account, and creating the organization does not move the page', async () => {
    started = performance.now();
    await createFirstAccount(page, product.service, ADA);
    const heading = page.getByRole('heading', { name: 'Connect a machine' });
    await heading.waitFor();
    lap('account');
    const before = await heading.boundingBox();
    expect(await violationsOf(page)).toEqual([]);
    await createOrganization(page, 'Harbour Works');
    lap('organization');
    expect(await heading.boundingBox()).toEqual(before);
    await page.getByRole('heading', { name: 'Run this on the machine' }).and(page.locator(':focus')).waitFor();
    expect(await page.title()).toBe('Connect a machine · Session Capture');
    await picture(tab, 'welcome-organization');
  });

  test('the command on the page installs capture and prints the address to confirm the machine', async () => {
    const line = await lineOf(page, 'Linux');
    const script = await (await fetch(`${product.service.url}/install`)).text();
    const sum = createHash('sha256').update(script).digest('hex');
    await page.getByText(`SHA-256 of the script: ${sum}`).waitFor();
    terminal = openTerminal(line, variables);
    await terminal.read(/Installed capture \S+ as \S+/);
    lap('installed');
    const [, address = ''] = await terminal.read(/\n +(http\S+\/device\?code=\S+)/);
    tab.allow(/^window: /);
    const confirm = await page.context().newPage();
    await confirm.goto(address);
    await confirm.getByLabel('The last four characters of the code').fill(address.slice(-4));
    expect(await violationsOf(confirm)).toEqual([]);
    await picture({ ...tab, page: confirm }, 'device');
    await confirm.getByRole('button', { name: 'Sign in this machine' }).click();
    await terminal.read(/Signed in to Harbour Works \(live plane\)/);
    lap('signed in');
    await confirm.getByText(/is signed in\./).waitFor();
    await confirm.close();
    await tick(page, 'Secret').waitFor();
  });

  test('the machine is set up once the person confirms it', async () => {
    await terminal.read(/Continue\? \[y\/N\]/);
    expect(await tick(page, 'Machine').count()).toBe(0);
    terminal.type('y\n');
    await Promise.race([terminal.ended, terminal.read(/Add a hook .*\[y\/N\]/s).then(() => terminal.type('n\n'))]);
    expect(await terminal.ended).toBe(0);
    lap('set up');
    await tick(page, 'Machine').waitFor();
    await tick(page, 'Agent').getByText('Claude Code').waitFor();
    lap('machine and agent shown');
  });

  test('a reload keeps all steps', async () => {
    await page.reload();
    for (const title of ['Organization', 'Secret', 'Machine', 'Agent']) await tick(page, title).waitFor();
    expect(await page.getByText('shown only once').count()).toBe(0);
  });

  test('the first session of the agent appears by itself', async () => {
    const projects = join(String(variables.HOME), '.claude/projects');
    beginSession({ projects }, RATE_LIMIT.project, RATE_LIMIT.begun, true);
    await tick(page, 'The first session is here').waitFor();
    lap('first session shown');
    await picture(tab, 'welcome-done');
    await openFirstSession(page);
    await page.getByText(RATE_LIMIT.words).first().waitFor();
    lap('its timeline shown');
  });

  test('running the command again upgrades capture and restarts the daemon with the new program', async () => {
    const again = openTerminal(`curl -fsSL ${product.service.url}/install | sh`, variables);
    await again.read(/This machine is signed in: Harbour Works, live plane/);
    await again.read(/The daemon is running/);
    expect(await again.ended).toBe(0);
  });
});
