import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { ENGINES } from '../../test/engines.ts';
import { createPasswords, type Passwords } from '../embedded/passwords.ts';
import type { Reply } from './browser.ts';
import {
  authorize,
  type Browser,
  createFirstAccount,
  exchange,
  PASSWORD,
  type Service,
  signIn,
  startService,
  tokensOf,
} from './embedded.ts';

const EMAIL = 'ada@example.com';
const OTHER = 'another battery staple';
const title = (page: Reply) => /<h1>(.*)<\/h1>/.exec(page.text)?.[1];

/** Checks passwords, but a test may hold back the answers. */
function createHeldPasswords() {
  const passwords = createPasswords({ log2N: 10, r: 8, p: 1 });
  const held = { until: Promise.resolve(), reached: () => {}, release: () => {} };
  const matches: Passwords['matches'] = async (...attempt) => {
    const isMatch = await passwords.matches(...attempt);
    held.reached();
    await held.until;
    return isMatch;
  };
  return { held, passwords: { ...passwords, matches } };
}

describe.each(ENGINES)('the end of a sign-in on %s', (engine) => {
  const { held, passwords } = createHeldPasswords();
  let service: Service;
  let browser: Browser;
  beforeAll(async () => {
    service = await startService(engine, {}, passwords);
  });
  beforeEach(async () => {
    await service.clear();
    browser = await createFirstAccount(service, EMAIL);
  });
  // Otherwise the service waits for the answers of a failed test until their connections time out.
  afterEach(() => {
    held.release();
    Object.assign(held, { until: Promise.resolve(), reached: () => {}, release: () => {} });
  });
  afterAll(() => service.dispose());

  const cookieOf = ({ cookies }: Browser) => cookies.get('capture-session')?.value;
  const isSignedIn = async (someone: Browser) =>
    (await authorize(service, someone)).page.location?.includes('/signed-in?code=') ?? false;

  async function replacePassword(): Promise<void> {
    await browser.submit(await browser.open('/oidc/forgot'), { email: EMAIL });
    // The link works once its mail is on its way.
    const page = await vi.waitFor(async () => {
      const [mail] = service.mails();
      expect(mail).toBeDefined();
      const opened = await browser.open(mail?.link ?? '');
      expect(opened.status).toBe(200);
      return opened;
    }, 10_000);
    expect(await service.browser().submit(page, { password: OTHER })).toMatchObject({ status: 303 });
  }

  test('by a new password includes a sign-in with the earlier password that had begun before', async () => {
    const thief = service.browser();
    const { page } = await authorize(service, thief);
    const reached = new Promise<void>((resolve) => {
      held.reached = resolve;
    });
    held.until = new Promise((resolve) => {
      held.release = resolve;
    });
    const answer = thief.submit(page, { email: EMAIL, password: PASSWORD });
    await reached;
    await replacePassword();
    held.release();
    expect(title(await answer)).toBe('Sign in');
    expect(await isSignedIn(thief)).toBe(false);
    const tokens = await signIn(service, thief, EMAIL, OTHER);
    expect(await service.identity.verify(tokens.id_token)).toMatchObject({ email: EMAIL });
  });

  test('by a new password takes effect on sessions, tokens and the ID token at once', async () => {
    const tokens = await tokensOf(service, browser);
    await replacePassword();
    expect(await isSignedIn(browser)).toBe(false);
    const form = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token };
    expect(await exchange(service, form)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    await expect(service.identity.verify(tokens.id_token)).rejects.toMatchObject({ code: 'token_expired' });
  });

  test('by signing out includes a copy of the cookie', async () => {
    const tokens = await tokensOf(service, browser);
    const copy = service.browser();
    for (const [name, cookie] of browser.cookies) copy.cookies.set(name, cookie);
    expect(await isSignedIn(copy)).toBe(true);
    const query = new URLSearchParams({ id_token_hint: tokens.id_token });
    await browser.open(`/oidc/session/end?${query}`);
    expect(await isSignedIn(copy)).toBe(false);
  });

  test('needs an answer of the person if another site asks for it', async () => {
    const page = await browser.open('/oidc/session/end');
    expect(page.text).toContain('<form');
    expect(await isSignedIn(browser)).toBe(true);
  });

  test('leads to no foreign address', async () => {
    const { id_token } = await tokensOf(service, browser);
    const query = new URLSearchParams({
      id_token_hint: id_token,
      post_logout_redirect_uri: 'https://evil.example.com/',
    });
    const page = await browser.open(`/oidc/session/end?${query}`);
    expect(page).toMatchObject({ status: 400, location: undefined });
    expect(await isSignedIn(browser)).toBe(true);
  });

  test('precedes each new sign-in, so that nobody can plant a session', async () => {
    const { id_token } = await tokensOf(service, browser);
    const planted = cookieOf(browser);
    await browser.open(`/oidc/session/end?${new URLSearchParams({ id_token_hint: id_token })}`);
    const victim = service.browser();
    for (const [name, cookie] of browser.cookies) victim.cookies.set(name, cookie);
    const { page } = await authorize(service, victim);
    const before = cookieOf(victim);
    await victim.submit(page, { email: EMAIL, password: PASSWORD });
    expect([planted, before]).not.toContain(cookieOf(victim));
    expect(await isSignedIn(victim)).toBe(true);
  });

  test('by deleting the account is all or nothing', async () => {
    const { id_token } = await tokensOf(service, browser);
    const call = (method: string, path: string, body?: object) =>
      fetch(`${service.origin}/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${id_token}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      });
    expect((await call('GET', '/me')).status).toBe(200);
    const people = () => service.store.db.selectFrom('users').selectAll().execute();
    const before = await people();
    const { schema } = service.store.db;
    await schema.alterTable('links').renameTo('elsewhere').execute();
    expect((await call('DELETE', '/me')).status).toBe(500);
    await schema.alterTable('elsewhere').renameTo('links').execute();
    expect(await people()).toEqual(before);
    expect((await call('DELETE', '/me')).status).toBe(200);
    expect(await people()).toEqual([]);
    expect(await isSignedIn(browser)).toBe(false);
  });
});
