import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { createClient } from '../../../contract/client.ts';
import { ENGINES } from '../../test/engines.ts';
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
const HOUR = 3_600_000;
const title = (page: Reply) => /<h1>(.*)<\/h1>/.exec(page.text)?.[1];
const invitation = { email: 'Bob@Example.com', organizationName: 'Acme', role: 'member' } as const;

describe.each(ENGINES)('on %s', (engine) => {
  let service: Service;
  beforeAll(async () => {
    service = await startService(engine);
  });
  beforeEach(() => service.clear());
  afterAll(() => service.dispose());

  describe('a link', () => {
    test('to the first account works once, and only while no account exists', async () => {
      const [link, other] = [await firstLink(service), await firstLink(service)];
      const pages = [await service.browser().open(link), await service.browser().open(link)];
      await createFirstAccount(service);
      for (const page of pages) {
        const late = await service.browser().submit(page, { email: 'eve@example.com', password: PASSWORD });
        expect(late).toMatchObject({ status: 410 });
      }
      expect(title(await service.browser().open(other))).toBe('This link does not work');
      expect(await service.identity.greeting?.()).toEqual([]);
    });

    test('to the first account works for exactly one of many concurrent requests', async () => {
      const page = await service.browser().open(await firstLink(service));
      const emails = ['a', 'b', 'c', 'd'].map((name) => `${name}@example.com`);
      const answers = await Promise.all(
        emails.map((email) => service.browser().submit(page, { email, password: PASSWORD })),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([303, 410, 410, 410]);
      expect(await service.store.db.selectFrom('accounts').selectAll().execute()).toHaveLength(1);
    });

    test('to the first account creates one account, even if two replicas use two links at once', async () => {
      const origins = [service.origin, await service.replica()];
      for (let round = 0; round < 6; round++) {
        const pages = await Promise.all(origins.map(async () => service.browser().open(await firstLink(service))));
        const answers = await Promise.all(
          pages.map((page, index) => {
            const url = page.url.replace(service.origin, String(origins[index]));
            const action = page.text.replaceAll('action="/', `action="${origins[index]}/`);
            const form = { email: `first-${index}@example.com`, password: PASSWORD };
            return service.browser().submit({ ...page, url, text: action }, form);
          }),
        );
        expect(answers.map(({ status }) => status).sort()).toEqual([303, 410]);
        expect(await service.store.db.selectFrom('accounts').selectAll().execute()).toHaveLength(1);
        for (const table of ['accounts', 'links'] as const) await service.store.db.deleteFrom(table).execute();
      }
    });

    test.each([
      [24 * HOUR - 60_000, 'Create the first account'],
      [24 * HOUR + 1, 'This link does not work'],
    ])('to the first account, after %i ms, leads to "%s"', async (later, expected) => {
      const link = await firstLink(service);
      service.clock.ahead += later;
      expect(title(await service.browser().open(link))).toBe(expected);
    });

    test.each(['', '?token=', '?token=x', '?token=%00', '?token=a&token=b'])('that is invalid: %j', async (query) => {
      for (const name of ['welcome', 'join', 'reset']) {
        expect(await service.browser().open(`/oidc/${name}${query}`)).toMatchObject({ status: 410 });
      }
    });

    test('is stored as a hash and never logged', async () => {
      await service.identity.invite(invitation);
      const tokens = [await firstLink(service), service.mails()[0]?.link ?? ''].map((link) => link.split('token=')[1]);
      const rows = JSON.stringify(await service.store.db.selectFrom('links').selectAll().execute());
      for (const token of tokens) {
        expect(token).toMatch(/^[\w-]{43}$/);
        expect(rows).not.toContain(token);
        expect(service.logged.join()).not.toContain(token);
      }
    });

    test('of one kind does not work as another kind', async () => {
      const token = (await firstLink(service)).split('token=')[1];
      expect(await service.browser().open(`/oidc/reset?token=${token}`)).toMatchObject({ status: 410 });
    });
  });

  describe('an invitation', () => {
    test('signs the invited person in, with a verified e-mail', async () => {
      await service.identity.invite(invitation);
      const [mail] = service.mails();
      expect(mail).toMatchObject({ to: 'Bob@example.com', text: expect.stringContaining('Acme') });
      expect(service.logged.join()).toContain(mail?.file);
      const browser = service.browser();
      const page = await browser.open(mail?.link ?? '');
      const done = await browser.submit(page, { email: 'eve@example.com', password: PASSWORD });
      expect(done.location).toBe(`${service.publicUrl}/`);
      const { id_token } = await tokensOf(service, browser);
      expect(decodeJwt(id_token)).toMatchObject({ email: 'bob@example.com', email_verified: true });
      expect(await service.browser().open(mail?.link ?? '')).toMatchObject({ status: 410 });
    });

    test('names the organizations that wait for the person, and shows again after a mistake', async () => {
      for (const name of ['Harbour <b>Works</b>', 'Mill']) {
        const owner = await createFirstAccount(service, `owner@${name.length}.example`);
        const { id_token } = await tokensOf(service, owner);
        const client = createClient({ baseUrl: service.origin, credential: () => id_token });
        await client.createOrganization({ body: { name } });
        await client.inviteMember({ body: { email: 'bob@example.com' } });
        await service.store.db.deleteFrom('accounts').execute();
      }
      const browser = service.browser();
      const page = await browser.open(service.mails().at(-1)?.link ?? '');
      const sentence =
        'You are invited to <strong>Mill</strong> and <strong>Harbour &lt;b&gt;Works&lt;/b&gt;</strong>.';
      expect(page.text).toContain(sentence);
      const refused = await browser.submit(page, { password: 'short' });
      expect(refused).toMatchObject({ status: 422, text: expect.stringContaining(sentence) });
    });

    test('replaces the previous one, and works for seven days', async () => {
      await service.identity.invite(invitation);
      await service.identity.invite(invitation);
      const [first, second] = service.mails().map(({ link }) => link);
      expect(await service.browser().open(first ?? '')).toMatchObject({ status: 410 });
      service.clock.ahead += 7 * 24 * HOUR - 60_000;
      expect(await service.browser().open(second ?? '')).toMatchObject({ status: 200 });
      service.clock.ahead += 60_000;
      expect(await service.browser().open(second ?? '')).toMatchObject({ status: 410 });
    });

    test('of a person with an account asks them to sign in, and changes nothing', async () => {
      await createFirstAccount(service, EMAIL);
      await service.identity.invite({ ...invitation, email: EMAIL });
      const page = await service.browser().open(service.mails()[0]?.link ?? '');
      expect(page.text).toContain(`You have an account for ${EMAIL}`);
      await signIn(service, service.browser(), EMAIL);
    });

    test('is refused if its mail cannot be sent', async () => {
      const folder = join(service.store.dataDir, 'outbox');
      const { writeFileSync } = await import('node:fs');
      writeFileSync(folder, 'a file in the way');
      await expect(service.identity.invite(invitation)).rejects.toThrow();
    });
  });

  describe('a forgotten password', () => {
    beforeEach(() => createFirstAccount(service, EMAIL));
    const ask = async (email: string) => {
      const browser = service.browser();
      return browser.submit(await browser.open('/oidc/forgot'), { email });
    };
    /** Mails are written after the answer, so that the answer does not reveal whether there was one to write. */
    const mailed = (count: number) => vi.waitFor(() => expect(service.mails()).toHaveLength(count), 10_000);

    test('is replaced through a mailed link, which ends all sign-ins', async () => {
      const before = await signIn(service, service.browser(), EMAIL);
      await ask(EMAIL.toUpperCase());
      await mailed(1);
      const browser = service.browser();
      // The link works once its mail is on its way.
      const page = await vi.waitFor(async () => {
        const opened = await browser.open(service.mails()[0]?.link ?? '');
        expect(opened.status).toBe(200);
        return opened;
      }, 60_000);
      expect(await browser.submit(page, { password: OTHER })).toMatchObject({ location: `${service.publicUrl}/` });
      await tokensOf(service, browser);
      const form = { grant_type: 'refresh_token', refresh_token: before.refresh_token };
      expect(await exchange(service, form)).toMatchObject({ body: { error: 'invalid_grant' } });
      await expect(service.identity.verify(before.id_token)).rejects.toMatchObject({ code: 'token_expired' });
      const { id_token } = await tokensOf(service, browser);
      expect(await service.identity.verify(id_token)).toMatchObject({ email: EMAIL });
      await signIn(service, service.browser(), EMAIL, OTHER);
      const old = service.browser();
      const refused = await old.submit((await authorize(service, old)).page, { email: EMAIL, password: PASSWORD });
      expect(refused.status).toBe(422);
      expect(await browser.submit(page, { password: PASSWORD })).toMatchObject({ status: 410 });
    });

    test('of nobody is answered alike, and mails nothing', async () => {
      const known = await ask(EMAIL);
      await mailed(1);
      const unknown = await ask('nobody@example.com');
      expect(unknown.text.replace('nobody@example.com', EMAIL)).toBe(known.text);
      expect(unknown.status).toBe(known.status);
      await ask(EMAIL);
      await mailed(2);
      expect(service.mails().map(({ to }) => to)).toEqual([EMAIL, EMAIL]);
    });

    test('sends at most three mails in a quarter of an hour, and only the last link works', async () => {
      for (const count of [1, 2, 3, 3, 3]) {
        expect((await ask(EMAIL)).status).toBe(200);
        await mailed(count);
      }
      const links = service.mails().map(({ link }) => link);
      expect(links).toHaveLength(3);
      const pages = await Promise.all(links.map((link) => service.browser().open(link)));
      expect(pages.map(({ status }) => status)).toEqual([410, 410, 200]);
      service.clock.ahead += HOUR;
      expect(await service.browser().open(links[2] ?? '')).toMatchObject({ status: 410 });
    });
  });
});
