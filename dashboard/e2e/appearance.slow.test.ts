import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { picture, shareProduct } from './harness/product.ts';
import type { Tab } from './harness/tab.ts';
import { violationsOf } from './steps/accessibility.ts';
import { openAsAda, prepareOrganization } from './steps/organization.ts';
import { ADA, signIn } from './steps/person.ts';
import { captureSample } from './steps/samples.ts';
import { find, timelineOf } from './steps/timeline.ts';

const product = shareProduct();
const THEMES = ['light', 'dark'] as const;
let tab: Tab;
let sessionId: string;

beforeAll(async () => {
  const organization = await prepareOrganization(product.service);
  sessionId = await captureSample(product, organization);
  await organization.owner.inviteMember({ body: { email: 'cleo@example.com', role: 'admin' } });
  const held = { kind: 'session', id: sessionId } as const;
  await organization.owner.placeHold({ body: { target: held, reason: 'a lawsuit' } });
  tab = await openAsAda(product);
});

const title = (name: string) => (page: Page) => page.getByRole('heading', { level: 1, name }).waitFor();

/** The address of each page, and the content that shows that it is complete. */
const PAGES: Record<string, { path: string; ready: (page: Page) => Promise<unknown> }> = {
  overview: { path: '/', ready: title('Overview') },
  sessions: { path: '/sessions', ready: (page) => page.getByRole('grid').waitFor() },
  'no sessions': {
    path: '/sessions?plane=test',
    ready: (page) => page.getByText('No session on the test plane yet').waitFor(),
  },
  environments: { path: '/environments', ready: title('Machines') },
  agents: { path: '/agents', ready: title('Agents') },
  members: { path: '/members', ready: title('Members') },
  secrets: { path: '/secrets', ready: title('Secrets') },
  organization: { path: '/organization', ready: title('Organization') },
  policy: { path: '/policy', ready: (page) => page.getByRole('radio').first().waitFor() },
  'the audit log': { path: '/audit', ready: (page) => page.getByRole('table').waitFor() },
  'legal holds': { path: '/holds', ready: (page) => page.getByRole('table').waitFor() },
  'add-ons': { path: '/add-ons', ready: title('Add-ons') },
  welcome: { path: '/welcome', ready: (page) => page.getByRole('heading', { level: 1 }).waitFor() },
  device: { path: '/device', ready: title('Sign in a machine') },
  'an unknown address': { path: '/nowhere', ready: title('Page not found') },
};

/** The other views of a session. */
const VIEWS = ['Changes', 'Sub-agents'];

const openTimeline = async (page: Page) => {
  await page.goto(`${product.service.url}/sessions/${sessionId}`);
  await timelineOf(page).getByRole('listitem').first().waitFor();
};

describe.each(THEMES)('in the %s theme', (theme) => {
  beforeAll(async () => {
    await tab.page.emulateMedia({ colorScheme: theme });
  });

  test.each(Object.keys(PAGES))('the page of %s has no accessibility violation', async (name) => {
    const { path, ready } = PAGES[name] ?? { path: '', ready: async () => {} };
    await tab.page.goto(product.service.url + path);
    await ready(tab.page);
    expect(await violationsOf(tab.page)).toEqual([]);
    await picture(tab, `page-${name.replaceAll(' ', '-')}-${theme}`);
  });

  test('a session has no accessibility violation, including its panels and dialogs', async () => {
    const { page } = tab;
    await openTimeline(page);
    expect(await violationsOf(page)).toEqual([]);
    await find(page, 'limit.ts');
    await page.keyboard.press('Enter');
    await page.getByRole('complementary', { name: 'Inspector' }).waitFor();
    await page.keyboard.press('e');
    await page.getByRole('figure').first().waitFor();
    // Colours come from a worker, which the content security policy has to allow.
    await page.locator('[style*="--code-token"]').first().waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await picture(tab, `session-inspected-${theme}`);
    await page.keyboard.press('Escape');
    for (const view of VIEWS) {
      await page.getByRole('button', { name: view, exact: true }).click();
      await page.getByRole('region', { name: view }).waitFor();
      expect(await violationsOf(page)).toEqual([]);
    }
    await openTimeline(page);
    await page.keyboard.press('?');
    await page.getByRole('dialog').waitFor();
    expect(await violationsOf(page)).toEqual([]);
  });

  test('the comparison of two sessions has no accessibility violation', async () => {
    await tab.page.goto(`${product.service.url}/compare?one=${sessionId}&other=${sessionId}`);
    await tab.page.getByRole('columnheader', { name: /^Files/ }).waitFor();
    expect(await violationsOf(tab.page)).toEqual([]);
    await picture(tab, `compare-${theme}`);
  });

  test('the sign-in pages have no accessibility violation', async () => {
    const visitor = await product.open({ colorScheme: theme });
    const { page } = visitor;
    await page.goto(product.service.url);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await picture(visitor, `sign-in-${theme}`);
    await page.getByRole('link', { name: 'Create one' }).click();
    await page.getByRole('heading', { name: 'Create an account' }).waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await page.goBack();
    visitor.allow(/status of 422/);
    await signIn(page, { ...ADA, password: 'not this one' });
    await page.getByRole('alert').waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await product.close(visitor);
  });

  test.each([400, 900, 1440])('nothing scrolls sideways at a width of %i', async (width) => {
    const { page } = tab;
    await page.setViewportSize({ width, height: 900 });
    await page.goto(`${product.service.url}/sessions`);
    await page.getByRole('grid').waitFor();
    await picture(tab, `sessions-${width}-${theme}`);
    expect(await sideways(page)).toBe(0);
    await openTimeline(page);
    await picture(tab, `session-${width}-${theme}`);
    expect(await sideways(page)).toBe(0);
    await page.setViewportSize({ width: 1440, height: 900 });
  });
});

/** By how many pixels the page is wider than its window. */
const sideways = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
