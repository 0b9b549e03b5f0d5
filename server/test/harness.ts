import { generateKeyPairSync } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { zstdCompressSync } from 'node:zlib';
import type { FastifyInstance, InjectOptions } from 'fastify';
import { type FramedAppend, writeAppends } from '../../contract/appends-body.ts';
import { AuditKey } from '../audit/heads.ts';
import type { Bus } from '../bus/bus.ts';
import { type Config, OPTIONS } from '../config.ts';
import { createLimits } from '../limits.ts';
import { createLogger } from '../logger.ts';
import type { Metrics } from '../operations/metrics.ts';
import type { RoundName } from '../rounds.ts';
import { createService } from '../service.ts';
import { TrustedClock } from '../trusted-clock.ts';
import { openTestStore, type TestEngine, type TestStore } from './engines.ts';
import { createTestIdentity, type TestIdentity } from './identity.ts';

export interface TestReply {
  status: number;
  headers: Record<string, string | undefined>;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read bodies of every shape
  body: any;
}

export interface TestService {
  app: FastifyInstance;
  store: TestStore;
  /** Appends are answered with 202. */
  isAsync: boolean;
  identity: TestIdentity;
  auditKey: AuditKey;
  /** Milliseconds since the epoch; tests may move it. */
  clock: { now: number };
  /** Everything the service logged. */
  log: string[];
  /** Sends a request without a socket. */
  call(method: string, url: string, options?: CallOptions): Promise<TestReply>;
  /** Runs work of the service that it otherwise repeats in an interval. */
  run(round: RoundName): Promise<void>;
  /** From now on, work in intervals runs only when `run` or the service itself starts it. */
  stopRounds(): void;
  close(): Promise<void>;
}

export interface CallOptions {
  /** Bearer credential. */
  as?: string | undefined;
  headers?: Record<string, string>;
  /** Sent as JSON, or as frames where the route takes those; a string or Buffer is sent as it is. */
  body?: unknown;
  /** Called after the service read the body up to its last byte, and before that byte arrives. */
  beforeLastByte?: () => Promise<unknown>;
}

/** The default configuration, without limits unless the overrides set them. */
export const testConfig = (overrides: Partial<Config> = {}): Config => ({
  ...DEFAULTS,
  ...{ RATE_LIMIT_SECRET: 0, RATE_LIMIT_USER: 0, RATE_LIMIT_DIRECTORY: 0, RATE_LIMIT_ADDRESS: 0 },
  ...overrides,
});

const DEFAULTS = Object.fromEntries(Object.entries(OPTIONS).map(([name, option]) => [name, option.default])) as Config;

/**
 * The whole service, without limits unless the overrides set them. It runs on a store of its own, or on a `shared` store, which
 * then outlives the service. `metrics` counts what the service does.
 */
export const startTestService = async (
  engine: TestEngine,
  overrides: Partial<Config> = {},
  shared?: TestStore,
  metrics?: Metrics,
): Promise<TestService> =>
  serve(shared ?? (await openTestStore(engine)), { overrides, metrics, isShared: shared !== undefined });

export interface Serving {
  overrides?: Partial<Config>;
  metrics?: Metrics | undefined;
  /** The store outlives the service. */
  isShared?: boolean;
  /** An earlier service on the same data. The new one takes over its key and what its identity provider knows. */
  earlier?: Pick<TestService, 'auditKey' | 'identity'>;
  /** The time at the start, in epoch milliseconds. */
  at?: number;
}

/** The time at which a service in a test starts, unless the test says otherwise. */
const START = Date.parse('2026-11-21T09:00:00.000Z');

/** The whole service on an open store. */
export async function serve(
  store: TestStore,
  { overrides = {}, metrics, isShared = false, earlier, at = START }: Serving,
): Promise<TestService> {
  const identity = createTestIdentity();
  identity.invitations.push(...(earlier?.identity.invitations ?? []));
  identity.assignments.push(...(earlier?.identity.assignments ?? []));
  const auditKey = earlier?.auditKey ?? new AuditKey(generateKeyPairSync('ed25519').privateKey);
  const clock = { now: at };
  const log: string[] = [];
  const config = testConfig(overrides);
  const logger = createLogger('debug', { write: (line: string) => void log.push(line) });
  const now = () => clock.now;
  const { app, rounds } = await createService({
    config,
    store,
    bus: store.bus,
    observer: metrics,
    identity,
    auditKey,
    publicUrl: overrides.PUBLIC_URL ?? 'http://capture.test',
    limits: createLimits(config, store),
    log: logger,
    clock: new TrustedClock({ db: store.db, now, log: logger }),
    now,
  });
  metrics?.watchApp(app);
  await app.ready();
  return {
    app,
    store,
    isAsync: store.bus !== undefined,
    identity,
    auditKey,
    clock,
    log,
    async call(method, url, options = {}) {
      // Events that were answered with 202 become readable a moment later.
      if (method === 'GET') await settled(store.bus);
      return send(app, method, url, options);
    },
    run: (round) => rounds.run(round),
    stopRounds: () => rounds.stop(),
    async close() {
      await app.close();
      if (!isShared) await store.dispose();
    },
  };
}

/** Waits until the workers have written everything that is on the bus. */
export async function settled(bus: Bus | undefined): Promise<void> {
  while (bus && (await bus.backlog()).waiting > 0) await pause(2);
}

async function send(app: FastifyInstance, method: string, url: string, options: CallOptions): Promise<TestReply> {
  const request: InjectOptions = {
    method: method as 'GET',
    url,
    headers: { ...(options.as === undefined ? {} : { authorization: `Bearer ${options.as}` }), ...options.headers },
  };
  if (options.body !== undefined) {
    const body = url === '/v1/appends' ? framed(options.body) : options.body;
    const isRaw = typeof body === 'string' || Buffer.isBuffer(body);
    const bytes = Buffer.from((isRaw ? body : JSON.stringify(body)) as string);
    request.payload = bytes;
    request.headers = { 'content-type': 'application/json', ...request.headers };
    if (options.beforeLastByte) {
      request.payload = Readable.from(holdBack(bytes, options.beforeLastByte));
      request.headers['content-length'] = String(bytes.byteLength);
    }
  }
  const reply = await app.inject(request);
  const isLines = String(reply.headers['content-type']).startsWith('application/x-ndjson');
  const isJson = reply.body !== '' && /^application\/(scim\+)?json/.test(String(reply.headers['content-type']));
  return {
    status: reply.statusCode,
    headers: reply.headers as Record<string, string | undefined>,
    text: reply.body,
    body: isJson ? JSON.parse(reply.body) : isLines ? linesOf(reply.body) : undefined,
  };
}

/** The body, whose last byte waits. It is read on demand, so the service has admitted the request by then. */
async function* holdBack(bytes: Buffer, beforeLastByte: () => Promise<unknown>) {
  yield bytes.subarray(0, -1);
  await beforeLastByte();
  yield bytes.subarray(-1);
}

/**
 * Turns `{ appends: [{ sessionId, idempotencyKey, body }] }` into the frames of such a request; returns anything else unchanged.
 */
function framed(body: unknown): unknown {
  const { appends } = body as { appends?: (Omit<FramedAppend, 'frame'> & { body: unknown })[] };
  if (!Array.isArray(appends)) return body;
  return writeAppends(
    appends.map(({ body: append, ...rest }) => ({ ...rest, frame: zstdCompressSync(JSON.stringify(append)) })),
  );
}

const linesOf = (text: string): unknown[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
