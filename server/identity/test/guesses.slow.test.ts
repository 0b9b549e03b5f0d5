import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ENGINES } from '../../test/engines.ts';
import type { Reply } from './browser.ts';
import {
  authorize,
  type Browser,
  createFirstAccount,
  PASSWORD,
  type Service,
  signIn,
  startService,
  tokensOf,
} from './embedded.ts';

const EMAIL = 'ada@example.com';
const OTHER = 'another battery staple';

/** The addresses of one customer: as many as a test needs. */
const inNetwork = (index: number) => ({ 'x-forwarded-for': `2001:db8:1:2::${index.toString(16)}` });

describe.each(ENGINES)('guessing passwords on %s', (engine) => {
  let service: Service;
  beforeAll(async () => {
    service = await startService(engine, { TRUST_PROXY: ['127.0.0.1'], SIGN_UP: 'open' });
  });
  beforeEach(async () => {
    await service.clear();
    await createFirstAccount(service, EMAIL);
  });
  afterAll(() => service.dispose());

  const from = (address: number | string) => ({ 'x-forwarded-for': `192.0.2.${address}` });

  /** Makes one attempt in a browser that waits on its sign-in page. */
  async function guess(browser: Browser, password: string, address: number | string) {
    const { page } = await authorize(service, browser, { prompt: 'login' });
    return browser.submit(page, { email: EMAIL, password }, from(address));
  }

  /**
   * Sends wrong passwords from as many addresses as needed.
   * @returns how many of them were compared
   */
  async function attack(count: number): Promise<number> {
    const browser = service.browser();
    const { page } = await authorize(service, browser);
    const statuses: number[] = [];
    for (let index = 0; index < count; index++) {
      const form = { email: EMAIL, password: `wrong ${index}` };
      statuses.push((await browser.submit(page, form, from(1 + Math.floor(index / 5)))).status);
    }
    return statuses.filter((status) => status === 422).length;
  }

  test('from many addresses is refused after fifty attempts, but not in browsers that signed in before', async () => {
    const own = service.browser();
    await signIn(service, own, EMAIL);
    expect(await attack(60)).toBe(50);
    expect((await guess(service.browser(), PASSWORD, 200)).status).toBe(429);
    expect((await guess(own, 'mistyped', 200)).status).toBe(422);
    expect((await guess(own, PASSWORD, 200)).location).toContain('/signed-in?code=');
  });

  test('does not lock out a person who sets a new password; browsers that knew the old one need the new one', async () => {
    const old = service.browser();
    await signIn(service, old, EMAIL);
    await attack(51);
    const fresh = service.browser();
    await fresh.submit(await fresh.open('/oidc/forgot'), { email: EMAIL }, from(201));
    await expect.poll(() => service.logged.join()).toContain('a mail waits');
    await fresh.submit(await fresh.open(service.mails()[0]?.link ?? ''), { password: OTHER }, from(201));
    await tokensOf(service, fresh);
    expect((await guess(fresh, OTHER, 201)).location).toContain('/signed-in?code=');
    expect((await guess(old, OTHER, 202)).status).toBe(429);
  });

  test('in a known browser is refused after ten attempts, from any address', async () => {
    const own = service.browser();
    await signIn(service, own, EMAIL);
    const statuses: number[] = [];
    for (let index = 0; index < 12; index++) statuses.push((await guess(own, 'wrong one', index + 1)).status);
    expect(statuses).toEqual([...Array(10).fill(422), 429, 429]);
  });

  test('a forged cookie does not make a browser known', async () => {
    const own = service.browser();
    await signIn(service, own, EMAIL);
    await attack(50);
    const stranger = service.browser();
    const mark = own.cookies.get('capture-browser');
    expect(mark?.value).toMatch(/^[\w-]{22}\.[\w-]{43}$/);
    const [, signature] = mark?.value.split('.') ?? [];
    stranger.cookies.set('capture-browser', { value: `${'A'.repeat(22)}.${signature}`, path: '/oidc' });
    expect((await guess(stranger, PASSWORD, 203)).status).toBe(429);
  });

  test('password mails requested by one address do not use up the mails of other addresses', async () => {
    const ask = async (address: number) => {
      const browser = service.browser();
      await browser.submit(await browser.open('/oidc/forgot'), { email: EMAIL }, from(address));
    };
    for (let index = 0; index < 8; index++) await ask(1);
    await ask(2);
    await expect.poll(() => service.logged.filter((line) => line.includes('a mail waits')).length).toBe(4);
  });

  if (engine === 'postgres') {
    test('replicas share their counts', async () => {
      const other = await service.replica();
      const browser = service.browser();
      const { page } = await authorize(service, browser);
      const statuses: number[] = [];
      for (let index = 0; index < 14; index++) {
        const url = index % 2 ? page.url.replace(service.origin, other) : page.url;
        const answer = await browser.submit({ ...page, url }, { email: EMAIL, password: `wrong ${index}` }, from(9));
        statuses.push(answer.status);
      }
      expect(statuses).toEqual([...Array(10).fill(422), ...Array(4).fill(429)]);
    });
  }

  describe('from the addresses of one IPv6 network', () => {
    /** How many forms were accepted. Each one is sent from another address. */
    async function taken(count: number, send: (index: number) => Promise<Reply>): Promise<number> {
      let refused = 0;
      for (let index = 0; index < count; index++) {
        if ((await send(index)).status === 429) refused++;
      }
      return count - refused;
    }

    test('passwords for many accounts are refused after a hundred', async () => {
      const browser = service.browser();
      const { page } = await authorize(service, browser);
      const send = (index: number) =>
        browser.submit(page, { email: `person-${index}@example.com`, password: 'wrong' }, inNetwork(index));
      expect(await taken(105, send)).toBe(100);
    });

    test('passwords for one account are refused after ten', async () => {
      const browser = service.browser();
      const { page } = await authorize(service, browser);
      const send = (index: number) =>
        browser.submit(page, { email: EMAIL, password: `wrong ${index}` }, inNetwork(index));
      expect(await taken(14, send)).toBe(10);
    });

    test('new accounts are refused after a hundred', async () => {
      const browser = service.browser();
      const { page } = await authorize(service, browser);
      const form = await browser.open(`${page.url}/sign-up`);
      const send = (index: number) =>
        browser.submit(form, { email: `new-${index}@example.com`, password: 'short' }, inNetwork(index));
      expect(await taken(105, send)).toBe(100);
    });

    test('mails for a new password are three for one person, and requests for them a hundred', async () => {
      const browser = service.browser();
      const form = await browser.open('/oidc/forgot');
      expect(await taken(105, (index) => browser.submit(form, { email: EMAIL }, inNetwork(index)))).toBe(100);
      await expect.poll(() => service.mails().length).toBe(3);
    });

    test('passwords for a link are refused after a hundred', async () => {
      await service.identity.invite({ email: 'bob@example.com', organizationName: 'Acme', role: 'member' });
      const browser = service.browser();
      const form = await browser.open(service.mails()[0]?.link ?? '');
      expect(await taken(105, (index) => browser.submit(form, { password: 'short' }, inNetwork(index)))).toBe(100);
    });
  });
});
