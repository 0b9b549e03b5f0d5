import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportSPKI, SignJWT, UnsecuredJWT } from 'jose';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Problem } from '../../../contract/problem.ts';
import type { Identity } from '../identity.ts';
import { createOutbox } from '../mail.ts';
import { createOidcIdentity } from '../oidc.ts';
import { CLIENT_ID, createKey, createProvider, ISSUER, idToken, NOW, seconds } from './provider.ts';

const key = await createKey('key-1');
const rsa = await createKey('rsa-1', 'RS256');
const ed = await createKey('ed-1', 'EdDSA');
const stranger = await createKey('key-1');

let clock: number;
let provider: ReturnType<typeof createProvider>;
let identity: Identity;
let dataDir: string;
let logged: string[];

beforeEach(async () => {
  clock = NOW;
  logged = [];
  dataDir = await mkdtemp(join(tmpdir(), 'capture-oidc-'));
  provider = createProvider([key, rsa, ed]);
  identity = createIdentity();
});
afterEach(() => rm(dataDir, { recursive: true }));

function createIdentity(issuer = ISSUER): Identity {
  const now = () => clock;
  const log = pino({ level: 'debug' }, { write: (line: string) => void logged.push(line) });
  const sendMail = createOutbox({ dataDir, from: 'no-reply@capture.example.com', log, now });
  const options = { issuer, clientId: CLIENT_ID, publicUrl: 'https://capture.example.com', sendMail };
  return createOidcIdentity({ ...options, fetch: provider.fetch, now, onError: (error) => log.warn({ err: error }) });
}

/** The problem that refuses a token. Its message must repeat nothing of the token or the provider. */
async function refusal(token: string): Promise<Problem> {
  const problem = await identity.verify(token).catch((error: unknown) => error);
  if (!(problem instanceof Problem))
    throw new Error('the token was accepted, or the error is no Problem', { cause: problem });
  const { error } = problem.toBody();
  expect(error).not.toMatch(/secret-text|<html|example\.com|kid|JWK|signature|claim/i);
  return problem;
}

describe('a token is accepted', () => {
  test.each([key, rsa, ed])('when signed with $alg', async ({ sign }) => {
    expect(await identity.verify(await sign(idToken()))).toEqual({
      expiresAt: expect.any(Number),
      issuer: ISSUER,
      subject: 'person-1',
      email: 'Ada@example.com',
      emailVerified: true,
    });
  });

  const cases: Record<string, Record<string, unknown>> = {
    'with one of several audiences': { aud: ['other', CLIENT_ID], azp: CLIENT_ID },
    'with client_id in place of aud': { aud: undefined, client_id: CLIENT_ID },
    'that expired 59 s ago': { exp: seconds(NOW) - 59 },
    'that is valid in 60 s': { nbf: seconds(NOW) + 60 },
  };
  test.each(Object.entries(cases))('%s', async (_name, change) => {
    expect(await identity.verify(await key.sign(idToken(change)))).toMatchObject({ subject: 'person-1' });
  });

  test.each([
    [true, true],
    ['true', true],
    [false, false],
    ['false', false],
    [undefined, false],
    [1, false],
  ])('with email_verified %j as %j', async (written, meant) => {
    const claims = await identity.verify(await key.sign(idToken({ email_verified: written })));
    expect(claims.emailVerified).toBe(meant);
  });
});

describe('a token is refused', () => {
  const payloads: Record<string, Record<string, unknown>> = {
    'of another issuer': { iss: 'https://evil.example.com' },
    'of an issuer that differs by a slash': { iss: `${ISSUER}/` },
    'without an issuer': { iss: undefined },
    'for another audience': { aud: 'other' },
    'for no audience': { aud: undefined },
    'for an empty audience': { aud: [] },
    'for another audience, with our client_id': { aud: 'other', client_id: CLIENT_ID },
    'of several audiences, authorized for another': { aud: ['other', CLIENT_ID], azp: 'other' },
    'without a subject': { sub: undefined },
    'with an empty subject': { sub: '' },
    'without an expiry': { exp: undefined },
    'with an expiry that is not a number': { exp: 'never' },
    'that is valid in 61 s': { nbf: seconds(NOW) + 61 },
    'that reports a logout': { events: { 'http://schemas.openid.net/event/backchannel-logout': {} } },
  };
  test.each(Object.entries(payloads))('%s', async (_name, change) => {
    expect(await refusal(await key.sign(idToken(change)))).toMatchObject({ code: 'token_invalid', status: 401 });
  });

  test('that expired more than 60 s ago', async () => {
    const problem = await refusal(await key.sign(idToken({ exp: seconds(NOW) - 61 })));
    expect(problem).toMatchObject({ code: 'token_expired', status: 401 });
  });

  test.each(['', 'x', 'a.b.c', 'a.b', '....', 'é.é.é', 'eyJhbGciOiJub25lIn0..'])('if not a JWT: %j', async (token) => {
    expect(await refusal(token)).toMatchObject({ code: 'token_invalid' });
  });

  test('that is not signed', async () => {
    expect(await refusal(new UnsecuredJWT(idToken()).encode())).toMatchObject({ code: 'token_invalid' });
  });

  test('signed with the public key as an HMAC secret', async () => {
    const secret = new TextEncoder().encode(await exportSPKI(rsa.publicKey));
    const token = await new SignJWT(idToken()).setProtectedHeader({ alg: 'HS256', kid: rsa.kid }).sign(secret);
    expect(await refusal(token)).toMatchObject({ code: 'token_invalid' });
  });

  test('signed with an algorithm that is not allowed', async () => {
    const other = await createKey('ps-1', 'PS256');
    provider.publish(other);
    expect(await refusal(await other.sign(idToken()))).toMatchObject({ code: 'token_invalid' });
  });

  test('signed by a stranger under a known kid', async () => {
    expect(await refusal(await stranger.sign(idToken()))).toMatchObject({ code: 'token_invalid' });
  });

  test('that contains its own key or the address of one', async () => {
    const header = { jwk: stranger.jwk, jku: 'https://evil.example.com/jwks', x5u: 'https://evil.example.com/x' };
    expect(await refusal(await stranger.sign(idToken(), header))).toMatchObject({ code: 'token_invalid' });
    expect(provider.requests.map(({ path }) => path)).toEqual(['/.well-known/openid-configuration', '/jwks']);
  });

  test('whose type is logout', async () => {
    expect(await refusal(await key.sign(idToken(), { typ: 'logout+jwt' }))).toMatchObject({ code: 'token_invalid' });
  });

  test('changed after it was signed', async () => {
    const [header, , signature] = (await key.sign(idToken())).split('.');
    const payload = Buffer.from(JSON.stringify(idToken({ sub: 'person-2' }))).toString('base64url');
    expect(await refusal(`${header}.${payload}.${signature}`)).toMatchObject({ code: 'token_invalid' });
  });
});

describe('keys', () => {
  test('are fetched once for many concurrent tokens', async () => {
    const token = await key.sign(idToken());
    await Promise.all(Array.from({ length: 50 }, () => identity.verify(token)));
    expect(provider.requests).toHaveLength(2);
  });

  test('that are new are found at once, and the old ones are no longer accepted', async () => {
    await identity.verify(await key.sign(idToken()));
    const next = await createKey('key-2');
    provider.publish(next);
    clock += 31_000;
    await identity.verify(await next.sign(idToken()));
    expect(await refusal(await key.sign(idToken()))).toMatchObject({ code: 'token_invalid' });
  });

  test('are fetched once per cool-down under a flood of unknown kids', async () => {
    await identity.verify(await key.sign(idToken()));
    const flood = async () => {
      const tokens = Array.from({ length: 40 }, (_, index) => stranger.sign(idToken(), { kid: `unknown-${index}` }));
      for (const token of await Promise.all(tokens)) expect((await refusal(token)).code).toBe('token_invalid');
    };
    await flood();
    expect(provider.count('/jwks')).toBe(1);
    clock += 31_000;
    await flood();
    expect(provider.count('/jwks')).toBe(2);
  });

  test('that were withdrawn are no longer accepted, even without a token with an unknown kid', async () => {
    await identity.verify(await key.sign(idToken()));
    provider.publish(rsa);
    clock += 11 * 60_000;
    expect(await refusal(await key.sign(idToken()))).toMatchObject({ code: 'token_invalid' });
  });

  const html = () => new Response('<html>secret-text</html>', { headers: { 'content-type': 'text/html' } });
  const huge = () => new Response('{"keys":['.padEnd(5_000_000, ' '));
  const endless = () =>
    new Response(new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(65_536)) }));
  const wrongs = {
    'is down': undefined,
    'answers 500': () => new Response('secret-text', { status: 500 }),
    'answers HTML': html,
    'answers too much': huge,
    'never stops answering': endless,
    'answers no keys': () => Response.json({ secret: 'secret-text' }),
    'answers an array': () => Response.json([]),
    redirects: () => new Response(null, { status: 302, headers: { location: 'https://evil.example.com' } }),
  };
  const break_ = (answer: (() => Response) | undefined, path = '/jwks') =>
    answer ? provider.answer(path, answer) : provider.stop();

  test.each(Object.entries(wrongs))('are kept while the provider %s', async (_name, answer) => {
    await identity.verify(await key.sign(idToken()));
    break_(answer);
    for (const minutes of [11, 60, 600]) {
      clock = NOW + minutes * 60_000;
      const token = await key.sign(idToken({ exp: seconds(clock) + 3600 }));
      expect(await identity.verify(token)).toMatchObject({ subject: 'person-1' });
    }
    expect(logged.length).toBeGreaterThan(0);
  });

  describe.each(['/.well-known/openid-configuration', '/jwks'])('that could never be loaded from %s', (path) => {
    test.each(Object.entries(wrongs))('are answered 503 when the provider %s', async (_name, answer) => {
      break_(answer, path);
      const token = await key.sign(idToken());
      const problem = await refusal(token);
      expect(problem).toMatchObject({ code: 'service_unavailable', status: 503 });
      expect(problem.retryAfter).toBeGreaterThan(0);
      const asked = provider.requests.length;
      await Promise.all([refusal(token), refusal(token)]);
      expect(provider.requests.length).toBe(asked);
    });
  });

  test('are loaded as soon as the provider has started', async () => {
    provider.stop();
    const token = await key.sign(idToken());
    await refusal(token);
    provider.start();
    clock += 6_000;
    expect(await identity.verify(token)).toMatchObject({ subject: 'person-1' });
  });

  test('expire', async () => {
    await identity.verify(await key.sign(idToken()));
    provider.stop();
    clock += 25 * 3_600_000;
    const token = await key.sign(idToken({ exp: seconds(clock) + 3600 }));
    expect(await refusal(token)).toMatchObject({ code: 'service_unavailable' });
  });

  test('of metadata that names another issuer are not used', async () => {
    provider.answer('/.well-known/openid-configuration', () =>
      Response.json({ issuer: 'https://evil.example.com', jwks_uri: `${ISSUER}/jwks` }),
    );
    expect(await refusal(await key.sign(idToken()))).toMatchObject({ code: 'service_unavailable' });
  });
});

test('an issuer that ends in a slash is found, and keeps its own spelling', async () => {
  provider.answer('/.well-known/openid-configuration', () =>
    Response.json({ issuer: `${ISSUER}/`, jwks_uri: `${ISSUER}/jwks` }),
  );
  expect((await identity.verify(await key.sign(idToken({ iss: `${ISSUER}/` })))).issuer).toBe(`${ISSUER}/`);
  expect(identity.bootstrap().idpDomain).toBe(`${ISSUER}/`);
  expect((await refusal(await key.sign(idToken()))).code).toBe('token_invalid');
});

describe('userinfo', () => {
  const access = { email: undefined, email_verified: undefined, scope: 'openid email' };

  test('is read once for the e-mail of an access token', async () => {
    const token = await key.sign(idToken(access));
    for (let time = 0; time < 3; time++) {
      expect(await identity.verify(token)).toMatchObject({ email: 'ada@example.com', emailVerified: true });
    }
    expect(provider.requests.filter(({ path }) => path === '/userinfo')).toEqual([
      { path: '/userinfo', authorization: `Bearer ${token}` },
    ]);
  });

  test('is not read for an ID token', async () => {
    const token = await key.sign(idToken({ email: undefined }));
    expect(await identity.verify(token)).toEqual({
      issuer: ISSUER,
      subject: 'person-1',
      emailVerified: false,
      expiresAt: expect.any(Number),
    });
    expect(provider.count('/userinfo')).toBe(0);
  });

  test('that fails signs nobody out, and its last answer stays in use', async () => {
    const token = await key.sign(idToken(access));
    await identity.verify(token);
    provider.answer('/userinfo', () => new Response('secret-text', { status: 500 }));
    clock += 11 * 60_000;
    expect(await identity.verify(token)).toMatchObject({ email: 'ada@example.com' });
    const other = await key.sign(idToken({ ...access, sub: 'person-2' }));
    expect(await identity.verify(other)).toEqual({
      issuer: ISSUER,
      subject: 'person-2',
      emailVerified: false,
      expiresAt: expect.any(Number),
    });
    await identity.verify(other);
    expect(provider.count('/userinfo')).toBe(3);
  });

  test('about another person is not used', async () => {
    const token = await key.sign(idToken({ ...access, sub: 'person-2' }));
    expect(await identity.verify(token)).toEqual({
      issuer: ISSUER,
      subject: 'person-2',
      emailVerified: false,
      expiresAt: expect.any(Number),
    });
  });
});

test('an invitation is a mail in the outbox', async () => {
  await identity.invite({ email: 'bob@example.com', organizationName: 'Acme\r\nBcc: x@evil.com', role: 'admin' });
  const [file = ''] = readdirSync(join(dataDir, 'outbox'));
  const mail = readFileSync(join(dataDir, 'outbox', file), 'utf8');
  expect(file).toMatch(/^2026-11-21T09-00-00\.000Z-\w{8}\.eml$/);
  expect(mail).toMatch(/^To: bob@example\.com\r$/m);
  expect(mail).not.toMatch(/^Bcc:/m);
  expect(mail).toContain('join Acme Bcc: x@evil.com in');
  expect(mail).toContain('https://capture.example.com/');
  const line = logged.find((text) => text.includes(file)) ?? '{}';
  // A warning, because somebody must deliver it.
  expect(JSON.parse(line)).toMatchObject({ level: 40, file: `outbox/${file}` });
  expect(logged.join()).not.toContain('bob@');
});
