import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Provider } from 'oidc-provider';
import { type Limits, RateLimited } from '../../limits.ts';
import { toProblem } from '../../to-problem.ts';
import type { Addresses } from './addresses.ts';
import { forgotRoutes } from './forgot.ts';
import { readForms } from './form.ts';
import { linkRoutes } from './link-routes.ts';
import { pageHeaders, STYLE, sendPage } from './page.ts';
import type { Pages } from './pages.ts';
import { signInRoutes } from './sign-in.ts';
import { messagePage } from './views.ts';

const PREFIX = '/oidc';

/** Adds the provider's endpoints and the pages around them to the service. */
export async function mountProvider(app: FastifyInstance, pages: Pages): Promise<void> {
  await app.register(
    async (scope) => {
      scope.addHook('onRequest', async (request, reply) => {
        presentAs(request.raw, pages.addresses);
        await limitRequests(pages.requests, request, reply);
      });
      await scope.register(async (forms) => mountPages(forms, pages));
      await scope.register(async (endpoints) => mountEndpoints(endpoints, pages));
    },
    { prefix: PREFIX },
  );
}

async function mountPages(app: FastifyInstance, pages: Pages): Promise<void> {
  readForms(app, pages.addresses);
  app.setErrorHandler((error, request, reply) => sendErrorPage(error, request, reply, pages.addresses));
  app.get('/style.css', async (_request, reply) =>
    reply.type('text/css; charset=utf-8').header('cache-control', 'public, max-age=86400').send(STYLE),
  );
  signInRoutes(app, pages);
  linkRoutes(app, pages);
  forgotRoutes(app, pages);
}

/** Everything else under the prefix is the provider's, who reads bodies and writes answers itself. */
async function mountEndpoints(app: FastifyInstance, { provider, addresses }: Pages): Promise<void> {
  let answer: ReturnType<Provider['callback']> | undefined;
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _body, done) => done(null));
  app.route({
    method: ['GET', 'POST', 'OPTIONS'],
    url: '/*',
    handler: async (request, reply) => {
      const { raw } = request;
      answer ??= (await provider()).callback();
      const headers = { ...reply.getHeaders(), ...pageHeaders(addresses) };
      reply.hijack();
      for (const [name, value] of Object.entries(headers)) {
        // Which origins may read an answer is the provider's to say; seeing such a header, it would say nothing.
        if (value !== undefined && !name.startsWith('access-control-')) reply.raw.setHeader(name, value);
      }
      // Koa's way of telling an application that it is mounted: what it sees is `url`, what it writes has the prefix.
      const path = (raw.url ?? '/').slice(PREFIX.length);
      Object.assign(raw, { originalUrl: `${addresses.path}${path}`, url: path });
      void answer(raw, reply.raw);
    },
  });
}

/**
 * Shows the provider the address that the operator configured, whatever the request claims: the addresses it writes are
 * then always under the public one, behind any proxy, and a forged `Host` changes nothing.
 */
function presentAs(request: IncomingMessage, { publicUrl }: Addresses): void {
  request.headers.host = publicUrl.host;
  request.headers['x-forwarded-proto'] = publicUrl.protocol.slice(0, -1);
  delete request.headers['x-forwarded-host'];
}

/** Whoever asks to be signed in leaves a record in the store; nobody may leave many. */
async function limitRequests(limits: Limits, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  try {
    await limits.count('address', request.ip);
  } catch (error) {
    if (error instanceof RateLimited) reply.headers(error.headers);
    throw error;
  }
}

function sendErrorPage(error: unknown, request: FastifyRequest, reply: FastifyReply, addresses: Addresses): void {
  const problem = toProblem(error);
  if (problem.status >= 500) request.log.error({ err: problem.cause ?? error, code: problem.code }, 'request failed');
  if (problem.retryAfter !== undefined) reply.header('retry-after', String(problem.retryAfter));
  const next = { href: addresses.home, label: 'Open the dashboard' };
  sendPage(reply, addresses, messagePage('This did not work', problem.message, next), problem.status);
}
