import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { shareProduct } from './harness/product.ts';
import type { Tab } from './harness/tab.ts';
import { joinByMail } from './steps/mail.ts';
import { openAsAda, prepareOrganization } from './steps/organization.ts';
import { ADA, BEN, signIn, signOut } from './steps/person.ts';
import { createRecorder, event } from './steps/recording.ts';

const product = shareProduct();
const WORDS = 'the harbour is deep';
let tab: Tab;
let address: string;

beforeAll(async () => {
  const { machine, owner } = await prepareOrganization(product.service);
  const recorder = await createRecorder(machine, 'ada-mbp');
  const sessionId = await recorder.openSession('Depth');
  await recorder.append(sessionId, [event('user.message', { text: WORDS, occurredAt: new Date().toISOString() })]);
  await owner.inviteMember({ body: { email: BEN.email, role: 'member' } });
  await joinByMail(product, BEN);
  address = `${product.service.url}/sessions/${sessionId}`;
  tab = await openAsAda(product);
  tab.allow(/^window: /);
});

const heading = (page: Page, name: string) => page.getByRole('heading', { name });
const tokens = (page: Page) =>
  page.evaluate(() => Object.keys(sessionStorage).filter((key) => key.startsWith('oidc.user')).length);

/** Opens the session in another tab of the same browser, which signs in by itself. */
async function openSession(): Promise<Page> {
  const page = await tab.page.context().newPage();
  await page.goto(address);
  await page.getByText(WORDS).first().waitFor();
  return page;
}

describe('in two tabs of a browser', () => {
  test('a sign-out in one tab empties the other at once, and it asks for nothing more', async () => {
    const other = await openSession();
    await signOut(tab.page);
    await heading(other, 'You are signed out').waitFor();
    expect(await other.content()).not.toContain(WORDS);
    expect(await tokens(other)).toBe(0);
    expect(other.url()).toContain(new URL(address).pathname);
    const asked: string[] = [];
    other.on('request', (request) => asked.push(request.url()));
    await other.evaluate(() => dispatchEvent(new Event('focus')));
    await other.evaluate(() => new Promise(requestAnimationFrame));
    expect(asked).toEqual([]);

    await other.getByRole('button', { name: 'Sign in' }).click();
    await signIn(other, ADA);
    await other.getByText(WORDS).first().waitFor();
    await other.close();
  });

  test('a tab that comes back with a token from before the sign-out has to sign in', async () => {
    const other = await openSession();
    const stored = await other.evaluate(() => ({ ...sessionStorage }));
    await tab.page.goto(product.service.url);
    await signOut(tab.page);
    await other.evaluate((items) => {
      sessionStorage.clear();
      for (const [name, value] of Object.entries(items)) sessionStorage.setItem(name, String(value));
    }, stored);
    await other.reload();
    await heading(other, 'Sign in').waitFor();
    await signIn(other, ADA);
    await other.close();
  });

  test('another person who signs in in one tab empties the tabs of the first', async () => {
    await tab.page.goto(address);
    await tab.page.getByText(WORDS).first().waitFor();
    await tab.page.context().clearCookies();
    const other = await tab.page.context().newPage();
    await other.goto(product.service.url);
    await signIn(other, BEN);
    await tab.page.getByText('Another person has signed in in this browser.').waitFor();
    expect(await tab.page.content()).not.toContain(WORDS);
    expect(await tokens(tab.page)).toBe(0);
  });
});
