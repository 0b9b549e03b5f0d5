import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { sql } from 'kysely';
import { pino } from 'pino';
import { expect } from 'vitest';
import { readAuditKey } from '../../audit/heads.ts';
import { type Config, OPTIONS } from '../../config.ts';
import { createLimits } from '../../limits.ts';
import { freePort } from '../../public-url.ts';
import { createService } from '../../service.ts';
import { openTestStore, type TestStore } from '../../test/engines.ts';
import { TrustedClock } from '../../trusted-clock.ts';
import { createIdentity } from '../create.ts';
import { createPasswords } from '../embedded/passwords.ts';
import type { Identity } from '../identity.ts';
import { createBrowser, type Reply } from './browser.ts';

const DEFAULTS = Object.fromEntries(Object.entries(OPTIONS).map(([name, option]) => [name, option.default])) as Config;

export const PASSWORD = 'correct horse battery';

export type Service = Awaited<ReturnType<typeof startService>>;

/** The service with its embedded provider, on its own port. Time is real, but a test may move it forward. Hashing is cheap. */
export async function startService(
  engine: 'sqlite' | 'postgres',
  overrides: Partial<Config> = {},
  passwords = createPasswords({ log2N: 10, r: 8, p: 1 }),
) {
  const store = await openTestStore(engine);
  const port = await freePort('127.0.0.1');
  const publicUrl = overrides.PUBLIC_URL ?? `http://127.0.0.1:${port}`;
  const origin = `http://127.0.0.1:${port}`;
  const clock = { ahead: 0 };
  const now = () => Date.now() + clock.ahead;
  const logged: string[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => void logged.push(line) });
  const limitsOff = { RATE_LIMIT_SECRET: 0, RATE_LIMIT_USER: 0, RATE_LIMIT_ADDRESS: 0 };
  const config: Config = { ...DEFAULTS, ...limitsOff, DATA_DIR: store.dataDir, ...overrides };
  const auditKey = readAuditKey(config);

  async function start(at = port): Promise<{ app: FastifyInstance; identity: Identity }> {
    const shared = { config, store, publicUrl, limits: createLimits(config, store), log, now };
    const identity = await createIdentity({ ...shared, clock: { time: async () => now() }, passwords });
    const trusted = new TrustedClock({ db: store.db, now, log });
    const { app } = await createService({ ...shared, identity, auditKey, clock: trusted });
    await app.listen({ port: at, host: '127.0.0.1' });
    return { app, identity };
  }

  let running = await start();
  const replicas: (typeof running)[] = [];
  const close = async ({ app, identity }: typeof running) => {
    await app.close();
    await identity.close?.();
  };
  const stop = () => close(running);
  const dispose = async () => {
    await stop();
    await Promise.all(replicas.map(close));
    await (store as TestStore).dispose();
  };
  return {
    store,
    origin,
    publicUrl,
    clock,
    logged,
    get identity() {
      return running.identity;
    },
    browser: () => createBrowser(origin),
    restart: async () => {
      await stop();
      running = await start();
    },
    /**
     * Starts another process on the same store.
     * @returns the address that reaches only this process
     */
    replica: async () => {
      const at = await freePort('127.0.0.1');
      replicas.push(await start(at));
      return `http://127.0.0.1:${at}`;
    },
    /** The mails in the outbox, oldest first. */
    mails: () => readMails(join(store.dataDir, 'outbox')),
    /** Resets everything: no stored rows, no log lines, no counts. */
    clear: async () => {
      await sql`delete from rate_limits`.execute(store.db);
      await stop();
      for (const table of ['accounts', 'links', 'provider_records'] as const)
        await store.db.deleteFrom(table).execute();
      rmSync(join(store.dataDir, 'outbox'), { recursive: true, force: true });
      logged.length = 0;
      clock.ahead = 0;
      running = await start();
    },
    dispose,
  };
}

function readMails(folder: string) {
  // A mail that is not complete yet has a hidden name.
  const files = readdirSync(folder).filter((file) => /^[^.].*\.eml$/.test(file));
  return files.sort().map((file) => {
    const text = readFileSync(join(folder, file), 'utf8')
      .replace(/=\r?\n/g, '')
      .replaceAll('=3D', '=');
    return { file, text, to: /^To: (.*)\r$/m.exec(text)?.[1], link: /https?:\/\/\S+/.exec(text)?.[0] ?? '' };
  });
}

/** The link in the greeting. */
export async function firstLink({ identity }: Service): Promise<string> {
  const [line = ''] = (await identity.greeting?.()) ?? [];
  return /http\S+/.exec(line)?.[0] ?? '';
}

export type Browser = ReturnType<typeof createBrowser>;

/** Creates the first account and leaves the browser signed in. */
export async function createFirstAccount(service: Service, email = 'Ada@Example.com'): Promise<Browser> {
  const browser = service.browser();
  const done = await browser.submit(await browser.open(await firstLink(service)), { email, password: PASSWORD });
  expect(done).toMatchObject({ status: 303, location: `${service.publicUrl}/` });
  return browser;
}

export interface Tokens {
  id_token: string;
  access_token: string;
  refresh_token: string;
}

/** Does what the dashboard does: starts an authorization request with PKCE (RFC 7636). */
export async function authorize(service: Service, browser: Browser, extra: Record<string, string> = {}) {
  const verifier = randomBytes(32).toString('base64url');
  const redirectUri = `${service.publicUrl}/signed-in`;
  const query = new URLSearchParams({
    client_id: 'dashboard',
    response_type: 'code',
    redirect_uri: redirectUri,
    scope: 'openid email profile offline_access',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    state: 'the-state',
    nonce: 'the-nonce',
    ...extra,
  });
  const page = await browser.open(`${service.publicUrl}/oidc/auth?${query}`);
  return { page, verifier, redirectUri };
}

export async function exchange(
  { origin }: { origin: string },
  form: Record<string, string>,
): Promise<{ status: number; body: Tokens & { error?: string } }> {
  const body = new URLSearchParams({ client_id: 'dashboard', ...form });
  const response = await fetch(`${origin}/oidc/token`, { method: 'POST', body, headers: { connection: 'close' } });
  return { status: response.status, body: (await response.json()) as Tokens & { error?: string } };
}

/** Gets tokens from the redirect that ends a sign-in. */
export async function redeem(service: Service, reply: Reply, verifier: string, redirectUri: string): Promise<Tokens> {
  expect(reply.location).toContain(`${redirectUri}?`);
  const answer = new URL(reply.location ?? '').searchParams;
  expect(answer.get('state')).toBe('the-state');
  const form = { grant_type: 'authorization_code', code: answer.get('code') ?? '', redirect_uri: redirectUri };
  const { status, body } = await exchange(service, { ...form, code_verifier: verifier });
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
}

/** Gets tokens for a browser that is already signed in at the provider. */
export async function tokensOf(service: Service, browser: Browser): Promise<Tokens> {
  const { page, verifier, redirectUri } = await authorize(service, browser);
  return redeem(service, page, verifier, redirectUri);
}

/** Gets tokens through the sign-in page. */
export async function signIn(service: Service, browser: Browser, email: string, password = PASSWORD): Promise<Tokens> {
  const { page, verifier, redirectUri } = await authorize(service, browser);
  expect(page.text).toContain('<h1>Sign in</h1>');
  return redeem(service, await browser.submit(page, { email, password }), verifier, redirectUri);
}
