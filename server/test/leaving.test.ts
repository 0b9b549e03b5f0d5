import { once } from 'node:events';
import { get } from 'node:http';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createApp } from '../http/app.ts';
import { createBudget } from '../http/budget.ts';
import type { Handlers } from '../http/handler.ts';
import { createLimits } from '../http/limits.ts';
import { openTestStore, type TestStore } from './engines.ts';
import { testConfig } from './harness.ts';
import { TABLE } from './requests.ts';

const CALLER = { secretId: 'sec_1', organizationId: 'org_1', plane: 'live' };

let store: TestStore;
let app: Awaited<ReturnType<typeof createApp>>;
let port: number;
/** What the handler of every route was given to notice that its caller left. */
let signals: AbortSignal[];
/** Called while a caller is being authenticated. */
let authenticating: () => Promise<void>;

beforeEach(async () => {
  store = await openTestStore('sqlite');
  signals = [];
  authenticating = async () => undefined;
  const wait = async ({ signal }: { signal: AbortSignal }) => {
    signals.push(signal);
    await once(signal, 'abort');
    throw signal.reason;
  };
  app = await createApp({
    handlers: Object.fromEntries(Object.keys(TABLE).map((name) => [name, wait])) as unknown as Handlers,
    authenticator: {
      authenticate: async () => {
        await authenticating();
        return CALLER as never;
      },
      forgetSecrets: () => undefined,
    },
    limits: createLimits(testConfig(), store),
    budget: createBudget(1_000_000),
    log: pino({ level: 'silent' }),
    publicUrl: 'http://capture.test',
    corsOrigins: [],
    trustProxy: [],
  });
  port = Number(new URL(await app.listen({ port: 0 })).port);
});
afterEach(async () => {
  await app.close();
  await store.dispose();
});

const ask = () => get({ port, path: '/v1/organizations/me/live' }).on('error', () => undefined);

test('a handler is told when its caller leaves', async () => {
  const asked = ask();
  await expect.poll(() => signals).toHaveLength(1);
  expect(signals[0]?.aborted).toBe(false);
  asked.destroy();
  await expect.poll(() => signals[0]?.aborted).toBe(true);
});

test('a caller who left while being authenticated is handled no further', async () => {
  for (let i = 0; i < 20; i++) {
    const connected = once(app.server, 'connection');
    const left = new Promise<void>((resolve) => {
      authenticating = async () => {
        const [socket] = await connected;
        asked.destroy();
        await once(socket, 'close');
        resolve();
      };
    });
    const asked = ask();
    await left;
  }
  const asked = ask();
  authenticating = async () => undefined;
  await expect.poll(() => signals).toHaveLength(1);
  asked.destroy();
});
