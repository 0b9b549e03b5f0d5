import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ENGINES } from '../../test/engines.ts';
import { createPasswords } from '../embedded/passwords.ts';
import {
  authorize,
  createFirstAccount,
  exchange,
  PASSWORD,
  type Service,
  signIn,
  startService,
  tokensOf,
} from './embedded.ts';

const readJson = async (url: string) => (await (await fetch(url)).json()) as Record<string, unknown>;

describe.each(ENGINES)('the embedded provider on %s', (engine) => {
  let service: Service;
  beforeAll(async () => {
    service = await startService(engine, {}, createPasswords());
  });
  afterAll(() => service.dispose());

  test('publishes its addresses, and offers nothing that the dashboard does not use', async () => {
    const issuer = `${service.publicUrl}/oidc`;
    expect(service.identity.bootstrap()).toEqual({
      idpUserPoolId: '',
      idpClientId: 'dashboard',
      idpRegion: '',
      idpDomain: issuer,
    });
    const metadata = await readJson(`${service.origin}/oidc/.well-known/openid-configuration`);
    expect(metadata).toMatchObject({
      issuer,
      authorization_endpoint: `${issuer}/auth`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/jwks`,
      end_session_endpoint: `${issuer}/session/end`,
      code_challenge_methods_supported: ['S256'],
      response_types_supported: ['code'],
    });
    for (const unused of ['userinfo', 'revocation', 'introspection', 'registration', 'device_authorization']) {
      expect(metadata).not.toHaveProperty(`${unused}_endpoint`);
    }
    const { keys } = (await readJson(String(metadata.jwks_uri))) as { keys: object[] };
    expect(keys).toEqual([expect.objectContaining({ kty: 'EC', alg: 'ES256' })]);
    expect(keys[0]).not.toHaveProperty('d');
  });

  test('signs the first person in, from the link to the token, and out again', async () => {
    const browser = await createFirstAccount(service);
    const tokens = await tokensOf(service, browser);
    const claims = await service.identity.verify(tokens.id_token);
    expect(claims).toEqual({
      adoptsMembers: false,
      foundsUnverified: false,
      asksBeforeJoining: false,
      expiresAt: expect.any(Number),
      issuer: 'embedded',
      subject: expect.stringMatching(/^[0-9a-f]{32}$/),
      email: 'Ada@Example.com',
      emailVerified: true,
    });
    expect(decodeJwt(tokens.id_token)).toMatchObject({ aud: 'dashboard', nonce: 'the-nonce' });
    const { exp = 0, iat = 0 } = decodeJwt(tokens.id_token);
    expect(exp - iat).toBe(3600);

    const me = await fetch(`${service.origin}/v1/organizations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tokens.id_token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Acme' }),
    });
    expect(me.status).toBe(201);

    const query = new URLSearchParams({
      id_token_hint: tokens.id_token,
      post_logout_redirect_uri: `${service.publicUrl}/`,
      state: 'bye',
    });
    const out = await browser.open(`/oidc/session/end?${query}`);
    expect(out).toMatchObject({ status: 303, location: `${service.publicUrl}/?state=bye` });
    const refreshed = await exchange(service, { grant_type: 'refresh_token', refresh_token: tokens.refresh_token });
    expect(refreshed).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect((await authorize(service, browser)).page.text).toContain('<h1>Sign in</h1>');
  });

  test('signs in by e-mail and password, and ignores the case of the e-mail', async () => {
    const tokens = await signIn(service, service.browser(), ' ada@example.COM ');
    expect(await service.identity.verify(tokens.id_token)).toMatchObject({ email: 'Ada@Example.com' });
  });

  test('rotates refresh tokens, and revokes all of them when one is used twice', async () => {
    const first = await signIn(service, service.browser(), 'ada@example.com');
    const refresh = (refresh_token: string) => exchange(service, { grant_type: 'refresh_token', refresh_token });
    const second = await refresh(first.refresh_token);
    expect(second.status).toBe(200);
    expect(second.body.refresh_token).not.toBe(first.refresh_token);
    expect(await service.identity.verify(second.body.id_token)).toMatchObject({ email: 'Ada@Example.com' });
    expect(await refresh(first.refresh_token)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect(await refresh(second.body.refresh_token)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
  });

  test('accepts a code once, even from many concurrent requests', async () => {
    const browser = service.browser();
    const { page, verifier, redirectUri } = await authorize(service, browser);
    const end = await browser.submit(page, { email: 'ada@example.com', password: PASSWORD });
    const code = new URL(end.location ?? '').searchParams.get('code') ?? '';
    const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier };
    const answers = await Promise.all(Array.from({ length: 5 }, () => exchange(service, form)));
    expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
    expect(answers.filter(({ status }) => status === 400).length).toBeGreaterThanOrEqual(4);
  });

  test('requires PKCE, its own client and its own addresses', async () => {
    const browser = service.browser();
    const answer = async (extra: Record<string, string>) => (await authorize(service, browser, extra)).page;
    const plain = await answer({ code_challenge_method: 'plain' });
    expect(new URL(plain.location ?? '').searchParams.get('error')).toBe('invalid_request');
    for (const extra of [{ redirect_uri: 'https://evil.example.com/' }, { client_id: 'other' }]) {
      const page = await answer(extra as Record<string, string>);
      expect(page).toMatchObject({ status: 400, location: undefined });
      expect(page.text).toContain('This did not work');
    }
  });

  test('deletes the sign-ins, links and tokens of a person who deletes their account', async () => {
    const other = await startService(engine, {}, createPasswords());
    const tokens = await tokensOf(other, await createFirstAccount(other, 'gone@example.com'));
    const request = { method: 'DELETE', headers: { authorization: `Bearer ${tokens.id_token}` } };
    expect((await fetch(`${other.origin}/v1/me`, request)).status).toBe(200);
    expect((await fetch(`${other.origin}/v1/me`, request)).status).toBe(401);
    const { db } = other.store;
    for (const table of ['accounts', 'links', 'provider_records', 'users', 'members'] as const) {
      const rows = JSON.stringify(await db.selectFrom(table).selectAll().execute());
      expect(rows, table).not.toContain('gone@example.com');
      expect(rows, table).not.toContain(String(decodeJwt(tokens.id_token).sub));
    }
    await other.dispose();
  });

  test('never asks for consent, even if the request demands it', async () => {
    const browser = service.browser();
    await signIn(service, browser, 'ada@example.com');
    const { page } = await authorize(service, browser, { prompt: 'consent' });
    expect(page.location).toContain('/signed-in?code=');
  });

  test('keeps its keys, sessions and tokens across a restart', async () => {
    const browser = service.browser();
    const before = await signIn(service, browser, 'ada@example.com');
    await service.restart();
    expect(await service.identity.verify(before.id_token)).toMatchObject({ email: 'Ada@Example.com' });
    expect(await tokensOf(service, browser)).toHaveProperty('id_token');
    const form = { grant_type: 'refresh_token', refresh_token: before.refresh_token };
    expect(await exchange(service, form)).toMatchObject({ status: 200 });
  });

  test('stores no usable token, link or password', async () => {
    const { refresh_token } = await signIn(service, service.browser(), 'ada@example.com');
    const accounts = await service.store.db.selectFrom('accounts').selectAll().execute();
    expect(JSON.stringify(accounts)).not.toContain(PASSWORD);
    expect(accounts[0]?.password).toMatch(/^scrypt\$15\$8\$3\$/);
    expect(service.logged.join()).not.toContain(PASSWORD);
    expect(service.logged.join()).not.toContain(refresh_token);
  });

  test('refuses its own tokens for other audiences, and access tokens', async () => {
    const { access_token } = await signIn(service, service.browser(), 'ada@example.com');
    await expect(service.identity.verify(access_token)).rejects.toMatchObject({ code: 'token_invalid' });
  });
});
