import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Config } from '../../config.ts';
import { createPasswords, type Passwords } from '../embedded/passwords.ts';
import type { Reply } from './browser.ts';
import {
  authorize,
  createFirstAccount,
  exchange,
  firstLink,
  PASSWORD,
  type Service,
  signIn,
  startService,
  tokensOf,
} from './embedded.ts';

const EMAIL = 'ada@example.com';
const OTHER = 'another battery staple';
const title = (page: Reply) => /<h1>(.*)<\/h1>/.exec(page.text)?.[1];
const alert = (page: Reply) => /role="alert"[^>]*>([^<]*)/.exec(page.text)?.[1];

let service: Service;
const start = async (overrides: Partial<Config> = {}, passwords?: Passwords) => {
  service = await startService('sqlite', overrides, passwords);
};
afterEach(() => service.dispose());

describe('signing in', () => {
  beforeEach(async () => {
    await start();
    await createFirstAccount(service, EMAIL);
  });

  test('gives the same answer for a wrong password and an unknown account', async () => {
    const attempts = [EMAIL, 'nobody@example.com', 'not an e-mail', '\0'].map(async (email) => {
      const browser = service.browser();
      const { page } = await authorize(service, browser);
      const answer = await browser.submit(page, { email, password: 'wrong password' });
      return [answer.status, alert(answer), answer.location];
    });
    for (const answer of await Promise.all(attempts)) {
      expect(answer).toEqual([422, 'E-mail and password do not match.', undefined]);
    }
  });

  test('is recorded once in the audit log, and a refused one is not', async () => {
    const token = (await signIn(service, service.browser(), EMAIL, PASSWORD)).id_token;
    const call = (method: string, path: string, body?: object) =>
      fetch(`${service.origin}${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      });
    expect((await call('POST', '/v1/organizations', { name: 'Ada' })).status).toBe(201);
    const browser = service.browser();
    const { page } = await authorize(service, browser);
    const refused = await browser.submit(page, { email: EMAIL, password: 'wrong password' });
    await browser.submit(refused, { email: EMAIL, password: PASSWORD });
    const { entries } = (await (await call('GET', '/v1/organizations/me/audit')).json()) as {
      entries: { action: string }[];
    };
    expect(entries.map(({ action }) => action)).toEqual(['member.signed_in', 'organization.created']);
  });

  test('takes as long for an unknown account as for a known one', async () => {
    await service.dispose();
    await start({}, createPasswords());
    await createFirstAccount(service, EMAIL);
    const time = async (email: string) => {
      const browser = service.browser();
      const { page } = await authorize(service, browser);
      const started = performance.now();
      await browser.submit(page, { email, password: 'wrong password' });
      return performance.now() - started;
    };
    const known = Math.min(await time(EMAIL), await time(EMAIL), await time(EMAIL));
    const unknown = Math.min(await time('a@example.com'), await time('b@example.com'), await time('c@example.com'));
    expect(unknown / known).toBeGreaterThan(0.25);
    expect(unknown / known).toBeLessThan(4);
  });

  test('is refused for a quarter of an hour after ten wrong passwords, even with the right one', async () => {
    const browser = service.browser();
    const { page } = await authorize(service, browser);
    const guess = (password: string) => browser.submit(page, { email: EMAIL, password });
    const guesses = await Promise.all(Array.from({ length: 14 }, (_, index) => guess(`wrong ${index}`)));
    expect(guesses.filter(({ status }) => status === 429)).toHaveLength(4);
    const refused = await guess(PASSWORD);
    expect(refused).toMatchObject({ status: 429 });
    expect(alert(refused)).toBe('Too many attempts. Try again in 15 minutes.');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(890);
  });

  test('shows typed text as text, not as HTML', async () => {
    const hostile = `"><script>alert(1)</script><img src=x onerror='alert(2)'>&amp;`;
    const browser = service.browser();
    const { page } = await authorize(service, browser, { login_hint: hostile });
    const answers = [page, await browser.submit(page, { email: hostile, password: 'x' })];
    answers.push(await browser.submit(await browser.open('/oidc/forgot'), { email: `${hostile}@example.com` }));
    for (const { text } of answers) {
      expect(text).toContain('&quot;&gt;&lt;script&gt;');
      expect(text).not.toMatch(/<script|<img/);
    }
  });

  test.each([
    [{ origin: 'https://evil.example.com' }, 400],
    [{ origin: 'null' }, 400],
    [{ 'sec-fetch-site': 'cross-site' }, 400],
    [{ 'sec-fetch-site': 'same-site' }, 400],
    [{ 'sec-fetch-site': 'none' }, 400],
    [{ 'sec-fetch-site': 'same-origin', origin: 'null' }, 303],
  ])('sent with %j is answered %i', async (headers, status) => {
    const browser = service.browser();
    const { page } = await authorize(service, browser);
    const answer = await browser.submit(page, { email: EMAIL, password: PASSWORD }, headers as Record<string, string>);
    expect(answer.status).toBe(status);
  });

  test('requires the cookie of its own request', async () => {
    const { page } = await authorize(service, service.browser());
    const answer = await service.browser().submit(page, { email: EMAIL, password: PASSWORD });
    expect(title(answer)).toBe('This page has expired');
  });

  test('uses a page that loads nothing and is never cached', async () => {
    const { page } = await authorize(service, service.browser());
    expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'self'; /);
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(page.headers.get('cache-control')).toBe('no-store');
    expect(page.headers.get('x-content-type-options')).toBe('nosniff');
    expect(page.headers.get('referrer-policy')).toBe('same-origin');
    expect(page.text).not.toMatch(/<script|style=|http:\/\/(?!127|www\.w3)/);
    const style = await fetch(new URL(/href="([^"]*style.css[^"]*)"/.exec(page.text)?.[1] ?? '', service.origin));
    expect(style.headers.get('content-type')).toBe('text/css; charset=utf-8');
    expect(await style.text()).toContain('--accent:');
  });

  test.each([
    ['theme=dark', '<html lang="en" data-theme="dark">'],
    ['a=b; theme=light; c=d', '<html lang="en" data-theme="light">'],
    ['theme=system', '<html lang="en">'],
    ['theme="><script>', '<html lang="en">'],
    ['mytheme=dark', '<html lang="en">'],
  ])('has the theme of the dashboard: %s', async (cookie, element) => {
    const answer = await fetch(`${service.origin}/oidc/forgot`, { headers: { cookie } });
    expect(await answer.text()).toContain(element);
  });

  test('by sign-up requires an invitation', async () => {
    const browser = service.browser();
    const { page } = await authorize(service, browser);
    expect(page.text).not.toContain('sign-up');
    const answer = await browser.request(`${page.url}/sign-up`, {
      method: 'POST',
      headers: { origin: service.origin },
      body: new URLSearchParams({ email: 'eve@example.com', password: PASSWORD }),
    });
    expect(answer.status).toBe(404);
    expect(await service.store.db.selectFrom('accounts').selectAll().execute()).toHaveLength(1);
  });

  test('is refused for bodies that are not forms', async () => {
    const browser = service.browser();
    const { page } = await authorize(service, browser);
    const send = (body: string, type: string) =>
      browser.request(page.url, { method: 'POST', body, headers: { origin: service.origin, 'content-type': type } });
    expect((await send('{"email":"a"}', 'application/json')).status).toBe(400);
    expect((await send('x'.repeat(20_000), 'application/x-www-form-urlencoded')).status).toBe(400);
  });
});

describe('before an account exists', () => {
  test('the sign-in page says where the link to the first account is, and a restart creates a new link', async () => {
    await start();
    const { page } = await authorize(service, service.browser());
    expect(title(page)).toBe('There is no account yet');
    expect(page.text).toMatch(/printed the link .* when it started/);
    expect(page.text).not.toContain('token=');
    const before = await firstLink(service);
    await service.restart();
    const after = await firstLink(service);
    expect(after).not.toBe(before);
    expect(title(await service.browser().open(after))).toBe('Create the first account');
    await createFirstAccount(service, EMAIL);
    expect(title((await authorize(service, service.browser())).page)).toBe('Sign in');
  });

  test('open sign-up creates the first one', async () => {
    await start({ SIGN_UP: 'open' });
    expect((await authorize(service, service.browser())).page.text).toContain('/sign-up');
  });
});

describe('open sign-up', () => {
  beforeEach(() => start({ SIGN_UP: 'open' }));
  const signUp = async (email: string, password = PASSWORD) => {
    const browser = service.browser();
    const { page } = await authorize(service, browser);
    const answer = await browser.submit(await browser.open(`${page.url}/sign-up`), { email, password });
    return { browser, answer };
  };

  test('signs in at once, with an unverified e-mail', async () => {
    const { browser, answer } = await signUp(EMAIL);
    expect(answer.location).toContain('/signed-in?code=');
    const { id_token } = await tokensOf(service, browser);
    expect(await service.identity.verify(id_token)).toMatchObject({ email: EMAIL, emailVerified: false });
  });

  test('asks an invited person before joining; sign-up by invitation does not', async () => {
    const { browser } = await signUp(EMAIL);
    const { id_token } = await tokensOf(service, browser);
    expect(await service.identity.verify(id_token)).toMatchObject({ asksBeforeJoining: true });
    await service.dispose();
    await start({ SIGN_UP: 'invited' });
    const tokens = await tokensOf(service, await createFirstAccount(service, EMAIL));
    expect(await service.identity.verify(tokens.id_token)).toMatchObject({ asksBeforeJoining: false });
  });

  test('is confirmed by the mailed link, whose holder becomes the only owner of the account', async () => {
    const stranger = await signUp(EMAIL, 'the stranger’s password');
    const strangers = await tokensOf(service, stranger.browser);
    const browser = service.browser();
    await browser.submit(await browser.open(service.mails()[0]?.link ?? ''), { password: OTHER });
    const { id_token } = await tokensOf(service, browser);
    expect(await service.identity.verify(id_token)).toMatchObject({ email: EMAIL, emailVerified: true });
    const form = { grant_type: 'refresh_token', refresh_token: strangers.refresh_token };
    expect(await exchange(service, form)).toMatchObject({ body: { error: 'invalid_grant' } });
    expect(title((await authorize(service, stranger.browser)).page)).toBe('Sign in');
  });

  test.each([
    ['not an e-mail', PASSWORD, 'Enter an e-mail address, such as ada@example.com.'],
    ['a@b@c', PASSWORD, 'Enter an e-mail address, such as ada@example.com.'],
    ['a@b\r\nBcc: c@d', PASSWORD, 'Enter an e-mail address, such as ada@example.com.'],
    [EMAIL, 'seven77', 'The password needs at least 8 characters.'],
    [EMAIL, 'é'.repeat(7), 'The password needs at least 8 characters.'],
    [EMAIL, 'x y'.repeat(67), 'The password may have at most 200 characters.'],
    [EMAIL, EMAIL, 'This password is too easy to guess. Choose another.'],
    [EMAIL, 'password123', 'This password is too easy to guess. Choose another.'],
  ])('of %j with %j is refused', async (email, password, reason) => {
    const { answer } = await signUp(email, password);
    expect(answer.status).toBe(422);
    expect(alert(answer)).toBe(reason);
    expect(existsSync(join(service.store.dataDir, 'outbox'))).toBe(false);
  });

  test.each(['12 chars ok!', '🐎🔋📎🐎🔋📎🐎🔋', 'xyz '.repeat(50)])('accepts the password %j', async (password) => {
    const { answer } = await signUp(EMAIL, password);
    expect(answer.location).toContain('/signed-in?code=');
    await signIn(service, service.browser(), EMAIL, password);
  });

  test('with the e-mail of an existing account changes nothing', async () => {
    await signUp(EMAIL);
    const { answer } = await signUp('ADA@example.com', OTHER);
    expect(answer.status).toBe(422);
    await signIn(service, service.browser(), EMAIL);
  });
});
