import { once } from 'node:events';
import { get } from 'node:http';
import { gzipSync } from 'node:zlib';
import { pino } from 'pino';
import { Type } from 'typebox';
import { afterEach, expect, test } from 'vitest';
import { route } from '../../contract/route.ts';
import { type AppOptions, createApp } from '../http/app.ts';
import { bindRoute } from '../http/bind.ts';
import { createBudget } from '../http/budget.ts';
import type { Ask, Handler, Handlers } from '../http/handler.ts';
import { createLimits } from '../limits.ts';
import { openTestStore, type TestStore } from './engines.ts';
import { testConfig } from './harness.ts';
import { TABLE } from './requests.ts';

const CALLER = { secretId: 'sec_1', organizationId: 'org_1', plane: 'live' };

/** A route with a handler that reads the bytes itself. */
const MEASURE = route({
  method: 'POST',
  path: '/measure',
  auth: 'secret',
  summary: 'Tell how large the body is',
  body: Type.Object({ name: Type.String() }),
  rawBody: true,
  maxBodyBytes: 100,
  replies: { 200: Type.Object({ size: Type.Integer(), parsed: Type.Boolean() }) },
  errors: [400, 401, 503],
});

const measure: Handler<typeof MEASURE> = async ({ bytes, body }) => ({
  status: 200,
  body: { size: bytes.byteLength, parsed: body !== undefined },
});

let store: TestStore;
let app: Awaited<ReturnType<typeof createApp>>;
let port: number;
/** The signals that the handlers received; each aborts when its caller leaves. */
let signals: AbortSignal[];
/** Called during the authentication of a caller. */
let authenticating: () => Promise<void>;

async function start(pointsAMinute = 0) {
  store = await openTestStore('sqlite');
  signals = [];
  authenticating = async () => undefined;
  const wait = async ({ signal }: Ask) => {
    signals.push(signal);
    await once(signal, 'abort');
    throw signal.reason;
  };
  const handlers = Object.fromEntries(Object.keys(TABLE).map((name) => [name, wait]));
  const options: AppOptions = {
    handlers: { ...handlers, listAgents: spendFive } as unknown as Handlers,
    authenticator: {
      authenticate: async () => {
        await authenticating();
        return CALLER as never;
      },
    },
    limits: createLimits(testConfig({ RATE_LIMIT_SECRET: pointsAMinute }), store),
    budget: createBudget(1_000_000),
    now: Date.now,
    log: pino({ level: 'silent' }),
    publicUrl: 'http://capture.test',
    corsOrigins: [],
    trustProxy: [],
  };
  app = await createApp(options);
  bindRoute(app, MEASURE, measure, options);
  port = Number(new URL(await app.listen({ port: 0 })).port);
}
afterEach(async () => {
  await app.close();
  await store.dispose();
});

const spendFive = async ({ spend }: Ask) => {
  await spend(5);
  return { status: 200, body: { agents: [] } };
};

const ask = () => get({ port, path: '/v1/organizations/me/live' }).on('error', () => undefined);

test('a handler gets an abort signal when its caller leaves', async () => {
  await start();
  const asked = ask();
  await expect.poll(() => signals).toHaveLength(1);
  expect(signals[0]?.aborted).toBe(false);
  asked.destroy();
  await expect.poll(() => signals[0]?.aborted).toBe(true);
});

test('a caller who leaves during authentication never reaches the handler', async () => {
  await start();
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

test('a handler may count one request as several points of the rate limit', async () => {
  await start(12);
  const list = () => app.inject({ url: '/v1/agents' });
  const replies = [await list(), await list(), await list()];
  expect(replies.map(({ statusCode }) => statusCode)).toEqual([200, 200, 429]);
  expect(replies.map(({ headers }) => headers.ratelimit)).toEqual(
    [6, 0, 0].map((left) => expect.stringContaining(`r=${left};`)),
  );
  expect(replies[2]?.json()).toMatchObject({ code: 'rate_limited' });
});

test('a handler that reads the bytes itself gets any decoded bytes up to its limit', async () => {
  await start();
  const send = (text: string) =>
    app.inject({ method: 'POST', url: '/measure', headers: { 'content-encoding': 'gzip' }, payload: gzipSync(text) });
  expect((await send('{no JSON}')).json()).toEqual({ size: 9, parsed: false });
  expect((await send('x'.repeat(101))).json()).toMatchObject({ code: 'validation_failed' });
});
