import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClient } from '../../contract/client.ts';
import { signIn as signInByRequests } from '../../script/demo/sign-in.ts';
import { type ForeignProvider, startForeignProvider } from '../../server/identity/test/foreign-provider.ts';
import { setUpProduct } from './harness/product.ts';
import { type ReverseProxy, startProxy } from './harness/proxy.ts';
import { type Service, startService } from './harness/service.ts';
import type { Tab } from './harness/tab.ts';
import { beginSession } from './steps/machine.ts';
import { ADA, createFirstAccount, signIn, signOut } from './steps/person.ts';
import { openTabAt, signInThere } from './steps/provider.ts';
import { RATE_LIMIT } from './steps/samples.ts';
import { openTerminal } from './steps/terminal.ts';
import { currentRow, find, timelineOf } from './steps/timeline.ts';
import { createOrganization, lineOf, openFirstSession, tick } from './steps/welcome.ts';

/** Passes the path on. It has two parts, like a path behind a shared gateway. */
const PASSED = '/tools/capture';
const REMOVED = '/second';
/** Signs people in at another provider. */
const FOREIGN = '/third';

/** A host with three services, each below a path. The proxy answers 418 at every other address. */
let proxy: ReverseProxy;
let removed: Service;
let foreign: Service;
let provider: ForeignProvider;

const folder = mkdtempSync(join(tmpdir(), 'capture-below-'));
const folderOf = (path: string) => {
  const data = join(folder, path);
  mkdirSync(data);
  return data;
};

const product = setUpProduct({
  async configure(ours) {
    const targets = new Map([[PASSED, `${ours}${PASSED}`]]);
    proxy = await startProxy(({ url = '' }) => {
      const found = [...targets].find(([path]) => url === path || url.startsWith(`${path}/`));
      return found && found[1] + url.slice(found[0].length);
    });
    const host = `http://127.0.0.1:${proxy.port}`;
    removed = await startService(folderOf(REMOVED), (address) => {
      targets.set(REMOVED, address);
      return { PUBLIC_URL: host + REMOVED };
    });
    provider = await startForeignProvider({ publicUrl: host + FOREIGN });
    foreign = await startService(folderOf(FOREIGN), (address) => {
      targets.set(FOREIGN, address);
      return { PUBLIC_URL: host + FOREIGN, ...provider.variables };
    });
    return { PUBLIC_URL: host + PASSED };
  },
});
afterAll(async () => {
  await Promise.all([removed?.stop(), foreign?.stop(), provider?.stop()]);
  proxy?.close();
  rmSync(folder, { recursive: true });
});

/** Links of the page that leave the path of its service. */
const strayLinks = (page: Page, { url }: Service) =>
  page.evaluate(
    (base) =>
      [...document.links]
        .map(({ href }) => href)
        .filter((href) => href.startsWith(location.origin) && href !== base && !href.startsWith(`${base}/`)),
    url,
  );

/** Each page with its heading, and a link of its content that is waited for. */
const PAGES = [
  ['/', 'Overview', '.plot a'],
  ['/sessions', 'Sessions', '[data-session] a'],
  ['/add-ons', 'Add-ons', 'nav a'],
  ['/environments', 'Machines', 'nav a'],
  ['/agents', 'Agents', 'nav a'],
  ['/members', 'Members', 'table a'],
  ['/secrets', 'Secrets', 'nav a'],
  ['/organization', 'Organization', 'nav a'],
  ['/policy', 'Policy', 'nav a'],
  ['/audit', 'Audit log', 'nav a'],
  ['/holds', 'Legal holds', 'nav a'],
] as const;

describe.each([
  { proxied: 'passes the path on', serviceOf: () => product.service, path: PASSED },
  { proxied: 'removes the path', serviceOf: () => removed, path: REMOVED },
])('behind a proxy that $proxied', ({ serviceOf, path }) => {
  let service: Service;
  let tab: Tab;
  let page: Page;
  let variables: Record<string, string>;
  let session: string;
  beforeAll(async () => {
    service = serviceOf();
    const home = join(folder, `home${path.replaceAll('/', '-')}`);
    mkdirSync(join(home, '.claude/projects'), { recursive: true });
    variables = { HOME: home, PATH: '/usr/bin:/bin' };
    tab = await product.open();
    // The page that confirms the machine.
    tab.allow(/^window: /);
    ({ page } = tab);
  });
  afterAll(async () => {
    await openTerminal(`${variables.HOME}/.local/bin/capture stop`, variables).ended;
  });

  test('a person creates an account and an organization, and connects a machine with the line of the page', async () => {
    expect(service.welcomeLink).toContain(`${service.url}/oidc/welcome?`);
    await createFirstAccount(page, service, ADA);
    await createOrganization(page, 'Harbour Works');
    expect(new URL(page.url()).pathname).toBe(`${path}/welcome`);
    const line = await lineOf(page, 'Linux');
    expect(line).toContain(`${service.url}/install`);
    await page.getByText('SHA-256 of the script').first().waitFor();
    const terminal = openTerminal(line, variables);
    const [, address = ''] = await terminal.read(/\n +(http\S+\/device\?code=\S+)/);
    expect(address).toContain(`${service.url}/device?`);
    const confirm = await page.context().newPage();
    await confirm.goto(address);
    await confirm.getByLabel('The last four characters of the code').fill(address.slice(-4));
    await confirm.getByRole('button', { name: 'Sign in this machine' }).click();
    await terminal.read(/Continue\? \[y\/N\]/);
    await confirm.close();
    terminal.type('y\n');
    await Promise.race([terminal.ended, terminal.read(/Add a hook .*\[y\/N\]/s).then(() => terminal.type('n\n'))]);
    expect(await terminal.ended).toBe(0);
    await tick(page, 'Agent').getByText('Claude Code').waitFor();
  });

  test('a session appears by itself, opens, and grows while the agent works', async () => {
    const projects = join(String(variables.HOME), '.claude/projects');
    const growing = beginSession({ projects }, RATE_LIMIT.project, RATE_LIMIT.begun, true);
    await tick(page, 'The first session is here').waitFor();
    await openFirstSession(page);
    await page.getByText(RATE_LIMIT.words).first().waitFor();
    session = page.url();
    expect(session).toContain(`${service.url}/sessions/`);
    growing.finish();
    await timelineOf(page).getByRole('listitem').first().waitFor();
    await find(page, RATE_LIMIT.nextWords);
    await currentRow(page).getByText(RATE_LIMIT.nextWords).waitFor();
  });

  test('each page opens by its address and links only within the path', async () => {
    for (const [at, name, link] of PAGES) {
      await page.goto(service.url + at);
      await page.getByRole('heading', { level: 1, name }).waitFor();
      await page.locator(link).first().waitFor({ state: 'attached' });
      expect(await strayLinks(page, service), at).toEqual([]);
    }
  });

  test('links of the list and of the navigation lead to addresses within the path', async () => {
    await page.goto(`${service.url}/sessions`);
    await page.locator('[data-session] a').first().click();
    await page.getByText(RATE_LIMIT.words).first().waitFor();
    expect(page.url()).toContain(session.split('?')[0]);
    expect(await strayLinks(page, service)).toEqual([]);
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Members' }).click();
    await page.getByRole('heading', { level: 1, name: 'Members' }).waitFor();
    expect(page.url()).toBe(`${service.url}/members`);
    await page.goBack();
    await page.getByText(RATE_LIMIT.words).first().waitFor();
  });

  test('a shared session opens at the address of the share', async () => {
    const token = await signInByRequests(service.url, ADA);
    const owner = createClient({ baseUrl: service.url, credential: () => token });
    const sessionId = new URL(session).pathname.split('/').at(-1) ?? '';
    const expiresAt = new Date(Date.now() + 86_400_000).toISOString();
    const share = { audience: 'organization', level: 'full', expiresAt } as const;
    const { url } = (await owner.createShare({ sessionId, body: share })).body;
    expect(url).toContain(`${service.url}/s/`);
    // The page asks without a token first.
    tab.allow(/401/);
    await page.goto(url);
    await page.getByText(RATE_LIMIT.words).first().waitFor();
  });

  test('a person signs out to the start page, and in again', async () => {
    await page.goto(`${service.url}/members?plane=test`);
    await page.getByRole('heading', { level: 1, name: 'Members' }).waitFor();
    await signOut(page);
    expect(page.url()).toBe(`${service.url}/`);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await signIn(page, ADA);
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    expect(page.url()).toBe(`${service.url}/`);
  });
});

test('two services on one host share no cookie, no stored value and no sign-in', async () => {
  const tab = await product.open();
  tab.allow(/^window: /);
  const context = tab.page.context();
  const services = [product.service, removed];
  const pages = [tab.page, await context.newPage()];
  for (const [index, { url }] of services.entries()) {
    const page = pages[index] as Page;
    await page.goto(url);
    await signIn(page, ADA);
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await page.getByRole('button', { name: /sign out/ }).click();
    await page.getByRole('menuitemradio', { name: index === 0 ? 'Dark' : 'Light' }).click();
    await page.keyboard.press('Escape');
  }
  const [one, other] = pages as [Page, Page];
  const paths = services.map(({ url }) => new URL(url).pathname);
  for (const { path, name } of await context.cookies()) {
    expect(
      paths.some((each) => path === each || path.startsWith(`${each}/`)),
      `${name} ${path}`,
    ).toBe(true);
  }
  const names = await one.evaluate(() => [...Object.keys(localStorage), ...Object.keys(sessionStorage)]);
  expect(names.length).toBeGreaterThan(1);
  // The router stores the places of pages in one value for all services, under random names of visits.
  for (const name of names.filter((each) => !each.startsWith('tsr-')))
    expect(
      paths.some((each) => name.startsWith(`${each}:`)),
      name,
    ).toBe(true);

  await signOut(one);
  await other.reload();
  await other.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  expect(await other.evaluate(() => document.documentElement.dataset.theme)).toBe('light');
  await one.reload();
  await one.getByRole('heading', { name: 'Sign in', exact: true }).waitFor();
  expect(await one.evaluate(() => document.documentElement.dataset.theme)).toBe('dark');
  await product.close(tab);
});

test('a person signs in at another provider, reaches a deep link, and signs out', async () => {
  const tab = await openTabAt({ ...product, service: foreign }, provider);
  const { page } = tab;
  await signInThere(page, ADA);
  await createOrganization(page, 'Harbour Works');
  await page.goto(`${foreign.url}/members`);
  await page.getByRole('heading', { level: 1, name: 'Members' }).waitFor();
  await page.getByRole('button', { name: /sign out/ }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('button', { name: 'Yes, sign me out' }).click();
  await page.getByRole('heading', { name: 'You are signed out' }).waitFor();
  expect(page.url()).toBe(`${foreign.url}/`);
  await product.close(tab);
});
