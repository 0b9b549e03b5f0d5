import { hash, randomUUID } from 'node:crypto';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { PROBLEMS, type ProblemCode } from '../../contract/problem.ts';
import { FRAMES_TYPE } from '../../contract/route.ts';
import { newChainKey } from '../../contract/salts.ts';
import { strictestOf, type Visibility } from '../../contract/session.ts';
import { splitFrames } from '../../contract/zstd-frame.ts';
import { createDigester } from '../../transcript/digester.ts';
import { VERSION } from '../version.ts';

/** The probability of each fault. */
export interface Faults {
  /** The service handles the request, and the connection breaks before the reply. */
  replyLost?: number;
  /** The connection breaks before the service handles the request. */
  refused?: number;
  unavailable?: number;
  rateLimited?: number;
  /** The service answers that the same key is in progress. */
  inProgress?: number;
  /** A proxy answers with its own page. */
  page?: number;
}

export interface FakeSession {
  sessionId: string;
  organizationId: string;
  body: Record<string, unknown>;
  visibility: Visibility;
  status: 'active' | 'completed' | 'failed';
  endedAt?: string;
  /** The key of the salts of its events. */
  chainKey: string;
  events: { eventType: string; payload: Record<string, unknown> }[];
  keys: Map<string, { fingerprint: string; reply: object }>;
}

interface Appending {
  events: FakeSession['events'];
}

interface AppendItem {
  sessionId: string;
  idempotencyKey: string;
  expectedEvents?: number;
  body: Appending;
}

interface DigestsAsked {
  nonce: string;
  sessions: { sessionId: string; from?: number }[];
}

export interface FakeOptions {
  faults?: Faults;
  random?: () => number;
  /** Whether it has the product's extension routes; without them it has only the 26 routes of the interface. */
  extensions?: boolean;
  secret?: string;
  /** Sessions that it refuses to open. */
  refusesSession?: (body: Record<string, unknown>) => boolean;
  /** Events that it refuses, together with their batch. */
  refuses?: (event: { eventType: string; payload: Record<string, unknown> }) => boolean;
  /** Text that a firewall in front of the service blocks. */
  blocks?: string;
}

/** The ingest routes of the interface over real HTTP, with faults. The state survives a restart. */
export async function startService(options: FakeOptions = {}) {
  const { random = Math.random, extensions = true, secret = 'sk_live_test' } = options;
  const state = {
    faults: options.faults ?? {},
    secret,
    organizationId: 'org_1',
    environmentStatus: 'active',
    installationStatus: 'active',
    sessions: new Map<string, FakeSession>(),
    environments: new Map<string, Record<string, unknown>>(),
    installations: new Map<string, Record<string, unknown>>(),
    requests: [] as string[],
    heartbeats: 0,
    /** Health reports of machines. */
    reports: [] as Record<string, unknown>[],
    /** Client keys of deleted sessions. */
    deletedKeys: new Set<string>(),
    /** Ids of sessions that a legal hold keeps. */
    held: new Set<string>(),
    /** The organization's policy for the visibility of new sessions. */
    visibility: 'team' as Visibility,
    /** Whether the sessions belong to the requesting machine. */
    isOwn: true,
    /** Whether each session is closed as soon as it opens. */
    closesAll: false,
    /** Public information about the service. */
    version: VERSION,
    publicUrl: undefined as string | undefined,
  };
  /** Each accepted event and each opening, with its visibility at that moment. */
  const seen: { event: FakeSession['events'][number] | undefined; visibility: Visibility }[] = [];
  const problem = (code: ProblemCode, retryAfter?: number) => ({
    status: PROBLEMS[code] as number,
    body: { error: `a sentence about ${code}`, code },
    ...(retryAfter !== undefined && { retryAfter }),
  });
  /** Counts all openings, so that ids stay unique after sessions are removed. */
  let openings = 0;
  const chance = (probability = 0) => probability > 0 && random() < probability;

  function append(session: FakeSession | undefined, { idempotencyKey: key, expectedEvents, body }: AppendItem) {
    const fingerprint = hash('sha256', JSON.stringify(body));
    const { events } = body;
    if (!session) return problem('not_found');
    const known = session.keys.get(key);
    if (known)
      return known.fingerprint === fingerprint ? { status: 200, body: known.reply } : problem('idempotency_key_reused');
    if (session.status !== 'active' || state.closesAll) return problem('session_closed');
    const eventCount = session.events.length;
    if ((expectedEvents ?? eventCount) !== eventCount) {
      const { status, body: refusal } = problem('sequence_mismatch');
      return { status, body: { ...refusal, eventCount } };
    }
    const firstSequence = session.events.length + 1;
    seen.push(...events.map((event) => ({ event, visibility: session.visibility })));
    session.events.push(...events);
    const { sessionId } = session;
    const reply = {
      sessionId,
      accepted: events.length,
      firstSequence,
      lastSequence: session.events.length,
      async: false,
    };
    session.keys.set(key, { fingerprint, reply });
    return { status: 200, body: reply };
  }

  const toChainKey = ({ events, chainKey }: FakeSession) => (events.length === 0 ? { chainKey } : {});

  function capture(body: Record<string, unknown>) {
    const clientKey = String(body.clientKey);
    if (state.deletedKeys.has(clientKey)) return { clientKey, outcome: 'deleted' };
    const { organizationId } = state;
    const known = [...state.sessions.values()].find(
      (session) => session.body.clientKey === clientKey && session.organizationId === organizationId,
    );
    if (known) return { clientKey, outcome: 'found', session: toSession(known), ...toChainKey(known) };
    const refuse = (code: ProblemCode) => ({ clientKey, outcome: 'refused', ...problem(code).body });
    if (state.environmentStatus === 'revoked') return refuse('environment_unusable');
    if (state.installationStatus === 'disabled') return refuse('installation_unusable');
    if (options.refusesSession?.(body)) return refuse('validation_failed');
    const sessionId = `ses_${String(++openings).padStart(6, '0')}`;
    const asked = body.visibility as Visibility | undefined;
    const session: FakeSession = {
      ...{ sessionId, organizationId, body, status: 'active', events: [], keys: new Map() },
      chainKey: newChainKey(),
      visibility: strictestOf(asked, state.visibility),
    };
    state.sessions.set(sessionId, session);
    // The opening makes the title visible.
    seen.push({ event: undefined, visibility: session.visibility });
    return { clientKey, outcome: 'opened', session: toSession(session), ...toChainKey(session) };
  }

  function remove(clientKey: string) {
    const known = [...state.sessions.values()].find(({ body }) => body.clientKey === clientKey);
    if (known === undefined && !state.deletedKeys.has(clientKey)) return problem('not_found');
    if (known && state.held.has(known.sessionId)) return problem('held');
    state.deletedKeys.add(clientKey);
    if (known) state.sessions.delete(known.sessionId);
    return { status: 200, body: { sessionId: known?.sessionId ?? 'ses_deleted' } };
  }

  const toSession = ({ sessionId, status, events, visibility }: FakeSession) => ({
    ...{ sessionId, status, eventCount: events.length },
    ...(visibility !== 'team' && state.isOwn && { visibility }),
  });

  function restrict(session: FakeSession | undefined, asked: Visibility) {
    if (session === undefined || !state.isOwn) return problem('not_found');
    session.visibility = strictestOf(session.visibility, asked);
    return { status: 200, body: { visibility: session.visibility } };
  }

  /** Appends in order; after a refused append, it refuses the remaining ones of that session. */
  function appendAll([index, ...bodies]: readonly Buffer[]) {
    const { appends } = JSON.parse(String(index)) as { appends: Omit<AppendItem, 'body'>[] };
    const isWrong = ({ body: { events } }: AppendItem) =>
      events.length < 1 ||
      events.length > 50 ||
      events.some((event) => options.refuses?.(event)) ||
      events.some(({ payload }) => Buffer.byteLength(JSON.stringify(payload)) > 256 * 1024);
    const stopped = new Set<string>();
    const results = appends.map((named, at) => {
      const { sessionId, idempotencyKey } = named;
      const name = { sessionId, idempotencyKey };
      if (stopped.has(sessionId)) return { ...name, ...problem('service_unavailable').body };
      const item = { ...named, body: JSON.parse(String(bodies[at])) as Appending };
      const { status, body: answer } = isWrong(item)
        ? problem('validation_failed')
        : append(state.sessions.get(sessionId), item);
      if (status !== 200) stopped.add(sessionId);
      return { ...name, ...answer };
    });
    return { status: 200, body: { results } };
  }

  function digestsOf({ nonce, sessions }: DigestsAsked) {
    const { digestPayload } = createDigester(nonce);
    const results = sessions.map(({ sessionId, from = 1 }) => {
      const asked = state.sessions.get(sessionId);
      if (asked === undefined) return { sessionId, ...problem('not_found').body };
      const digests = asked.events.map(({ eventType, payload }, index) => ({
        ...{ sequence: index + 1, eventType },
        ...digestPayload(JSON.stringify(payload)),
      }));
      return { sessionId, digests: digests.slice(from - 1), nextFrom: null };
    });
    return { status: 200, body: { results } };
  }

  function answer(request: IncomingMessage, parts: readonly Buffer[]) {
    const bytes = Buffer.concat(parts);
    const { pathname } = new URL(request.url ?? '/', 'http://service');
    const route = `${request.method} ${pathname.replace(/(ses|env|ins)_[^/]+/, '{$1}').replace(/(captured-sessions)\/.+/, '$1/{key}')}`;
    state.requests.push(route);
    if (route === 'GET /health') {
      return { status: 200, body: { status: 'ok', version: state.version, service: 'session-capture' } };
    }
    if (route === 'GET /config' && state.publicUrl !== undefined) {
      return { status: 200, body: { apiUrl: state.publicUrl } };
    }
    if (request.headers.authorization !== `Bearer ${state.secret}`) return problem('secret_invalid');
    const id = /(?:ses|env|ins)_[^/]+/.exec(pathname)?.[0] ?? '';
    const body = () => (bytes.length === 0 ? {} : (JSON.parse(bytes.toString('utf8')) as Record<string, unknown>));
    if (extensions && route === 'GET /v1/secret') {
      const plane = state.secret.startsWith('sk_test_') ? 'test' : 'live';
      return {
        status: 200,
        body: {
          secretId: 'sec_1',
          organizationId: state.organizationId,
          organizationName: 'Acme',
          secretEnvironment: plane,
        },
      };
    }
    switch (route) {
      case 'POST /v1/environments': {
        const { hostname } = body();
        const environmentId = `env_${hostname}`;
        state.environments.set(environmentId, body());
        return { status: 200, body: { environmentId, environment: { status: state.environmentStatus } } };
      }
      case 'POST /v1/environments/{env}/agents': {
        const installationId = `ins_${body().agentId}`;
        const installed = { ...state.installations.get(installationId), ...body() };
        state.installations.set(installationId, installed);
        const installation = { ...installed, installationId, status: state.installationStatus };
        return { status: 201, body: { installationId, installation } };
      }
      case 'POST /v1/environments/{env}/health':
        if (!extensions) return problem('not_found');
        state.reports.push(body());
        return { status: 200, body: { environmentId: id } };
      case 'POST /v1/environments/{env}/heartbeat':
        state.heartbeats++;
        if (state.environmentStatus === 'revoked') return problem('environment_revoked');
        return { status: 200, body: { environmentId: id, lastSeenAt: new Date().toISOString() } };
      case 'POST /v1/captured-sessions':
        return { status: 200, body: { results: (body().sessions as Record<string, unknown>[]).map(capture) } };
      case 'DELETE /v1/captured-sessions/{key}':
        return remove(decodeURIComponent(pathname.split('/').at(-1) ?? ''));
      case 'PUT /v1/sessions/{ses}/visibility':
        return restrict(state.sessions.get(id), body().visibility as Visibility);
      case 'POST /v1/appends':
        return appendAll(parts);
      case 'POST /v1/completed-sessions': {
        const asked = body().sessions as { sessionId: string; endedAt?: string }[];
        const results = asked.map(({ sessionId, endedAt = 'now' }) => {
          const closing = state.sessions.get(sessionId);
          if (closing?.status !== 'active') return { sessionId, ...problem('session_already_closed').body };
          Object.assign(closing, { status: 'completed', endedAt });
          return { sessionId, status: 'completed', endedAt };
        });
        return { status: 200, body: { results } };
      }
      case 'POST /v1/digests':
        return digestsOf(body() as unknown as DigestsAsked);
    }
    return problem('not_found');
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts = decode(Buffer.concat(await request.toArray()), request.headers);
    const { faults } = state;
    if (options.blocks !== undefined && Buffer.concat(parts).includes(options.blocks)) {
      return void response.writeHead(403, { 'content-type': 'text/html' }).end('<h1>Blocked</h1>');
    }
    if (chance(faults.refused)) return void request.socket.destroy();
    if (chance(faults.page))
      return void response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Sign in</h1>');
    const isAppend = request.url?.endsWith('/appends') ?? false;
    const fault = chance(faults.unavailable)
      ? problem('service_unavailable', 0)
      : chance(faults.rateLimited) && !isAppend
        ? problem('rate_limited', 0)
        : chance(faults.inProgress) && isAppend
          ? problem('idempotency_in_progress', 0)
          : undefined;
    const { status, body, retryAfter } = (fault ?? answer(request, parts)) as ReturnType<typeof problem>;
    if (chance(faults.replyLost)) return void request.socket.destroy();
    response.writeHead(status, {
      'content-type': 'application/json',
      'x-request-id': randomUUID(),
      ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
    });
    response.end(JSON.stringify(body));
  }

  const server: Server = createServer((request, response) => {
    handle(request, response).catch(() => request.socket.destroy());
  });
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  await listen(0);
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}`,
    state,
    seen,
    async stop(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
    restart: () => listen(port),
    /** The events of each agent session, joined over all of the service's sessions. */
    eventsBySession(): Map<string, FakeSession['events']> {
      const all = new Map<string, FakeSession['events']>();
      for (const { events } of state.sessions.values()) {
        for (const event of events) {
          const { session } = event.payload.source as { session: string };
          all.set(session, [...(all.get(session) ?? []), event]);
        }
      }
      return all;
    },
  };
}

/** Splits a framed body into its frames; any other body is one part. */
function decode(bytes: Buffer, headers: IncomingHttpHeaders): Buffer[] {
  if (headers['content-type'] === FRAMES_TYPE) {
    return (splitFrames(bytes, 1000) ?? []).map((frame) => zstdDecompressSync(frame));
  }
  return [headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes];
}
