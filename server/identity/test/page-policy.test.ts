import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { servePages } from '../../http/pages.ts';
import { createOidcIdentity } from '../oidc.ts';
import { CLIENT_ID, createKey, createProvider, ISSUER, NOW } from './provider.ts';

const key = await createKey('key-1');
const METADATA = '/.well-known/openid-configuration';

let app: FastifyInstance;
let folder: string;
let clock: number;
let provider: ReturnType<typeof createProvider>;

beforeEach(async () => {
  clock = NOW;
  provider = createProvider([key]);
  folder = mkdtempSync(join(tmpdir(), 'capture-pages-'));
  writeFileSync(join(folder, 'index.html'), '<!doctype html>');
  const { origins } = createOidcIdentity({
    issuer: ISSUER,
    clientId: CLIENT_ID,
    publicUrl: 'https://capture.example.com',
    sendMail: async () => undefined,
    fetch: provider.fetch,
    now: () => clock,
    onError: () => undefined,
  });
  app = Fastify();
  await servePages(app, { publicUrl: 'https://capture.example.com', origins, folder });
});
afterEach(async () => {
  await app.close();
  rmSync(folder, { recursive: true });
});

async function connectSources(): Promise<string[] | undefined> {
  const { headers } = await app.inject({ url: '/sessions', headers: { accept: 'text/html' } });
  const policy = String(headers['content-security-policy']);
  return /connect-src ([^;]*);/.exec(policy)?.[1]?.split(' ');
}

describe('a page of the dashboard may connect', () => {
  test('to the service and the issuer', async () => {
    expect(await connectSources()).toEqual(["'self'", ISSUER]);
  });

  test('to the token endpoints of the provider, even on other origins', async () => {
    const elsewhere = {
      token_endpoint: 'https://auth.tokens.example.com/oauth2/token',
      userinfo_endpoint: 'https://auth.tokens.example.com/oauth2/userInfo',
      revocation_endpoint: 'https://revoke.example.com:8443/revoke',
      authorization_endpoint: 'https://visited.example.com/authorize',
      end_session_endpoint: 'javascript:alert(1)',
    };
    provider.answer(METADATA, () => Response.json({ issuer: ISSUER, jwks_uri: `${ISSUER}/jwks`, ...elsewhere }));
    const expected = ["'self'", ISSUER, 'https://auth.tokens.example.com', 'https://revoke.example.com:8443'];
    expect(await connectSources()).toEqual(expected);
    expect(await connectSources()).toEqual(expected);
    expect(provider.count(METADATA)).toBe(1);
  });

  test('only to the issuer while the provider is down, and the provider is queried at most once in five seconds', async () => {
    provider.stop();
    for (let page = 0; page < 3; page++) expect(await connectSources()).toEqual(["'self'", ISSUER]);
    expect(provider.count(METADATA)).toBe(1);
    provider.start();
    provider.answer(METADATA, () =>
      Response.json({ issuer: ISSUER, jwks_uri: `${ISSUER}/jwks`, token_endpoint: 'https://tokens.example.com/' }),
    );
    clock += 5_000;
    expect(await connectSources()).toContain('https://tokens.example.com');
  });

  test('and many concurrent requests query the provider once', async () => {
    await Promise.all(Array.from({ length: 10 }, connectSources));
    expect(provider.count(METADATA)).toBe(1);
  });
});
