import compress from '@fastify/compress';
import cors from '@fastify/cors';
import fastJson from 'fast-json-stringify';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, type FastifyRequest, LogController } from 'fastify';
import { REQUEST_TIMEOUT_MS } from '../../contract/client.ts';
import { EXTENSIONS } from '../../contract/extensions.ts';
import { Problem } from '../../contract/problem.ts';
import type { Route } from '../../contract/route.ts';
import { ROUTES } from '../../contract/routes.ts';
import { newUuid } from '../ids.ts';
import { basePathOf } from '../public-url.ts';
import type { AdmitOptions } from './admit.ts';
import { refuseOwnPath, removeBasePath } from './base-path.ts';
import { bindRoute, COMPRESSED } from './bind.ts';
import { compiledOnUse } from './compiled.ts';
import { Connections } from './connections.ts';
import { answerUnreadable, sendError } from './errors.ts';
import type { Handler, Handlers } from './handler.ts';

export interface AppOptions extends AdmitOptions {
  handlers: Handlers;
  log: FastifyBaseLogger;
  /** Address at which browsers reach the service. */
  publicUrl: string;
  /** Further origins, besides the service's own. */
  corsOrigins: readonly string[];
  trustProxy: readonly string[];
}

const TABLE: Record<string, Route> = { ...ROUTES, ...EXTENSIONS };

const serializerOf = compiledOnUse((schema: object) => fastJson(schema));

/** The HTTP server. It knows nothing about the product. */
export async function createApp(options: AppOptions): Promise<FastifyInstance> {
  const headers = securityHeaders(options.publicUrl);
  const base = basePathOf(options.publicUrl);
  const app = Fastify({
    loggerInstance: options.log,
    rewriteUrl: ({ url = '/' }) => removeBasePath(base, url),
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: createRequestIds(),
    trustProxy: options.trustProxy.length > 0 ? [...options.trustProxy] : false,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionTimeout: 60_000,
    keepAliveTimeout: 72_000,
    http: { headersTimeout: 15_000, connectionsCheckingInterval: 1_000 },
    routerOptions: {
      maxParamLength: 512,
      // The last value of a repeated name wins, so that no query value is a list.
      querystringParser: (text) => (text === '' ? {} : Object.fromEntries(new URLSearchParams(text))),
    },
    frameworkErrors(error, request, reply) {
      reply.headers(headers).header('x-request-id', request.id);
      sendError(error, request, reply);
    },
    clientErrorHandler: answerUnreadable,
    // A request that arrives while the service closes is answered before its connection is closed.
    return503OnClosing: false,
  });
  refuseOwnPath(app, base);
  const connections = new Connections(app.server);
  app.removeAllContentTypeParsers();
  // A route reads its body itself, after authentication.
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  app.decorateRequest('admission', null);
  app.setSerializerCompiler(({ schema }) => {
    const serializer = serializerOf(schema);
    return (answer) => serializer()(answer);
  });
  app.setErrorHandler(sendError);
  app.addHook('onRequest', (request, reply, done) => {
    const start = connections.begin(request.raw.socket, reply.raw);
    if (start) start.then(() => done());
    else done();
  });
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(headers).header('x-request-id', request.id);
    done();
  });
  warnOfProxy(app, options);
  app.addHook('preClose', async () => connections.close());
  app.addHook('onResponse', (request, reply, done) => {
    const { method, routeOptions } = request;
    const fields = { method, route: routeOptions.url, status: reply.statusCode, ms: Math.round(reply.elapsedTime) };
    request.log.debug(fields, 'request');
    done();
  });
  app.addHook('onRequest', (request, reply, done) => {
    if (!isPlainOptions(request)) return done();
    const { problem, allow } = unknownRoute(request.url.split('?')[0] ?? '/');
    if (allow !== undefined) reply.header('allow', allow);
    done(problem);
  });
  await app.register(cors, {
    origin: [new URL(options.publicUrl).origin, ...options.corsOrigins],
    methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders: EXPOSED,
    maxAge: 600,
  });
  // Only answers that may be large are compressed, so that an append does not pay for compression.
  await app.register(compress, { ...COMPRESSED, global: false, globalDecompression: false });
  for (const [name, row] of Object.entries(TABLE)) {
    bindRoute(app, row, options.handlers[name as keyof Handlers] as unknown as Handler<Route>, options);
  }
  return app;
}

/** Behind an untrusted proxy, all callers have the proxy's address and share one limit. */
function warnOfProxy(app: FastifyInstance, { trustProxy, log }: AppOptions): void {
  let warned = trustProxy.length > 0;
  app.addHook('onRequest', (request, _reply, done) => {
    if (!warned && request.headers['x-forwarded-for'] !== undefined) {
      warned = true;
      log.warn('X-Forwarded-For is ignored. If it comes from your own proxy, name the proxy in TRUST_PROXY.');
    }
    done();
  });
}

/** Whether it is an `OPTIONS` request, but not a browser's preflight. */
const isPlainOptions = ({ method, headers }: FastifyRequest) =>
  method === 'OPTIONS' && !(headers.origin && headers['access-control-request-method']);

/** The prefix makes ids unique across restarts and replicas; the count makes them unique within the process. */
function createRequestIds(): () => string {
  const prefix = newUuid();
  let count = 0;
  return () => `${prefix}-${(++count).toString(36)}`;
}

/** Browser features that none of our pages use. */
const UNUSED_FEATURES = ['camera', 'geolocation', 'microphone', 'payment', 'usb'];

/** Sent with every answer. An answer of the API may load nothing; `pages.ts` has the policy of pages. */
export const securityHeaders = (publicUrl: string): Record<string, string> => ({
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  // Search engines must index nothing that the service answers.
  'x-robots-tag': 'noindex, nofollow',
  'permissions-policy': UNUSED_FEATURES.map((feature) => `${feature}=()`).join(', '),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
  ...(publicUrl.startsWith('https:') ? { 'strict-transport-security': 'max-age=31536000' } : {}),
});

const EXPOSED = ['x-request-id', 'retry-after', 'ratelimit', 'ratelimit-policy', 'idempotency-replayed'];

const PATTERNS = Object.values(TABLE).map(({ method, path }) => ({
  method,
  pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`),
}));

/** 405 with the allowed methods for a known path; 404 otherwise. */
export function unknownRoute(path: string): { problem: Problem; allow?: string } {
  const methods = PATTERNS.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method);
  if (methods.length === 0) return { problem: new Problem('not_found', 'There is no such address.') };
  const allow = methods.join(', ');
  return { problem: new Problem('method_not_allowed', `This address accepts ${allow}.`), allow };
}
