import { afterEach, describe, expect, test } from 'vitest';
import type { Config } from '../../config.ts';
import { ENGINES } from '../../test/engines.ts';
import {
  authorize,
  createFirstAccount,
  exchange,
  PASSWORD,
  type Service,
  signIn,
  startService,
  type Tokens,
  tokensOf,
} from './embedded.ts';

const OWNER = 'owner@corp.example';
const VICTIM = 'victim@corp.example';
const OTHER = 'another battery staple';

/** What somebody did with an account before the e-mail was proven does not reach the person who proves it. */
describe.each(ENGINES)('an account with an unproven e-mail on %s', (engine) => {
  let service: Service;
  const start = async (overrides: Partial<Config> = {}) => {
    service = await startService(engine, { SIGN_UP: 'open', ...overrides });
  };
  afterEach(() => service.dispose());

  async function call(method: string, path: string, as: string, body?: object) {
    const headers = { authorization: `Bearer ${as}`, ...(body && { 'content-type': 'application/json' }) };
    const reply = await fetch(`${service.origin}${path}`, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    // biome-ignore lint/suspicious/noExplicitAny: bodies of several routes
    return { status: reply.status, body: (await reply.json()) as any };
  }

  async function signUp(email: string, password = PASSWORD) {
    const browser = service.browser();
    const { page } = await authorize(service, browser);
    await browser.submit(await browser.open(`${page.url}/sign-up`), { email, password });
    return { browser, ...(await tokensOf(service, browser)) };
  }

  /** Follows the newest mailed link of the person, as its holder. */
  async function follow(email: string, password: string): Promise<Tokens> {
    const link =
      service
        .mails()
        .filter(({ to }) => to === email)
        .at(-1)?.link ?? '';
    const browser = service.browser();
    const done = await browser.submit(await browser.open(link), { password });
    expect(done).toMatchObject({ status: 303, location: `${service.publicUrl}/` });
    return tokensOf(service, browser);
  }

  const found = (as: string, name: string) => call('POST', '/v1/organizations', as, { name });
  const invite = (as: string, email: string, role = 'member') =>
    call('POST', '/v1/organizations/me/members', as, { email, role });

  test('creates no organization until the e-mail is proven', async () => {
    await start();
    const { id_token } = await signUp(VICTIM);
    expect((await call('GET', '/v1/me', id_token)).body).toMatchObject({ mustVerifyEmail: true });
    expect(await found(id_token, 'Corp')).toMatchObject({ status: 403, body: { code: 'email_unverified' } });
    const proven = await follow(VICTIM, OTHER);
    expect((await call('GET', '/v1/me', proven.id_token)).body).not.toHaveProperty('mustVerifyEmail');
    expect((await found(proven.id_token, 'Corp')).status).toBe(201);
  });

  test.each(['an invitation', 'a link for a new password'])(
    'leaves nothing to the person who proves it by %s, even if anyone may create organizations',
    async (kind) => {
      await start({ FOUNDERS: 'anyone' });
      const owner = await tokensOf(service, await createFirstAccount(service, OWNER));
      const real = (await found(owner.id_token, 'Corp')).body;

      const stranger = await signUp(VICTIM);
      const false_ = (await found(stranger.id_token, 'Corp')).body;
      const secret = (await call('POST', '/v1/organizations/me/secrets', stranger.id_token, {})).body;
      await invite(stranger.id_token, 'accomplice@evil.example', 'owner');
      const accomplice = await follow('accomplice@evil.example', PASSWORD);
      await call('POST', '/v1/me/membership', accomplice.id_token, { organizationId: false_.organizationId });

      expect((await invite(owner.id_token, VICTIM)).status).toBe(201);
      if (kind !== 'an invitation') {
        const browser = service.browser();
        await browser.submit(await browser.open('/oidc/forgot'), { email: VICTIM });
        await expect.poll(() => service.mails().at(-1)?.text, { timeout: 10_000 }).toContain('/oidc/reset');
      }
      const victim = await follow(VICTIM, OTHER);
      const { body: person } = await call('GET', '/v1/me', victim.id_token);
      expect(person).toMatchObject({ emailVerified: true });
      expect(person).not.toHaveProperty('organization');
      expect(person.invitations).toEqual([
        { organizationId: real.organizationId, organizationName: 'Corp', role: 'member' },
      ]);
      const joined = await call('POST', '/v1/me/membership', victim.id_token, { organizationId: real.organizationId });
      expect(joined).toMatchObject({ status: 200, body: { organization: { organizationId: real.organizationId } } });

      // The organization of the stranger knows nothing of the victim, and its secret reaches nothing of the real one.
      const { body: members } = await call('GET', '/v1/organizations/me/members', accomplice.id_token);
      expect(members.users.map(({ userId }: { userId: string }) => userId)).not.toContain(joined.body.userId);
      expect((await call('GET', '/v1/secret', secret.value)).body).toMatchObject({
        organizationId: false_.organizationId,
      });

      // The stranger cannot sign in any more: neither by token, nor by refresh token, browser or password.
      expect(await call('GET', '/v1/me', stranger.id_token)).toMatchObject({ status: 401 });
      const form = { grant_type: 'refresh_token', refresh_token: stranger.refresh_token };
      expect(await exchange(service, form)).toMatchObject({ body: { error: 'invalid_grant' } });
      expect((await authorize(service, stranger.browser)).page.text).toContain('<h1>Sign in</h1>');
      const browser = service.browser();
      const refused = await browser.submit((await authorize(service, browser)).page, {
        email: VICTIM,
        password: PASSWORD,
      });
      expect(refused.status).toBe(422);
      await signIn(service, service.browser(), VICTIM, OTHER);
    },
  );
});
