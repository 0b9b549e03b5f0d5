import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Provider } from 'oidc-provider';
import { type Limits, RateLimited } from '../../limits.ts';
import { toProblem } from '../../to-problem.ts';
import type { Addresses } from './addresses.ts';
import { readForms } from './form.ts';
import { pageHeaders, STYLE, sendPage } from './html.ts';
import { linkRoutes } from './link-pages.ts';
import { forgotRoutes, type PageContext, signInRoutes } from './sign-in.ts';
import { messagePage } from './views.ts';

const PREFIX = '/oidc';

/** Adds the provider's endpoints and the pages around them to the service. */
export async function mountProvider(app: FastifyInstance, context: PageContext): Promise<void> {
  await app.register(
    async (scope) => {
      scope.addHook('onRequest', async (request, reply) => {
        presentAs(request.raw, context.addresses);
        await limitRequests(context.requests, request, reply);
      });
      await scope.register(async (forms) => mountPages(forms, context));
      await scope.register(async (endpoints) => mountEndpoints(endpoints, context));
    },
    { prefix: PREFIX },
  );
}

async function mountPages(app: FastifyInstance, context: PageContext): Promise<void> {
  readForms(app, context.addresses);
  app.setErrorHandler((error, request, reply) => sendErrorPage(error, request, reply, context.addresses));
  app.get('/style.css', async (_request, reply) =>
    reply.type('text/css; charset=utf-8').header('cache-control', 'public, max-age=86400').send(STYLE),
  );
  signInRoutes(app, context);
  linkRoutes(app, context);
  forgotRoutes(app, context);
}

/** Hands all other addresses under the prefix to `oidc-provider`, which reads bodies and writes answers itself. */
async function mountEndpoints(app: FastifyInstance, { provider, addresses }: PageContext): Promise<void> {
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
        // The provider decides which origins may read an answer. If the answer already has such a header, the provider sets
        // none.
        if (value !== undefined && !name.startsWith('access-control-')) reply.raw.setHeader(name, value);
      }
      // Koa routes by `url`, and adds the prefix of `originalUrl` to the addresses that it writes.
      const path = (raw.url ?? '/').slice(PREFIX.length);
      Object.assign(raw, { originalUrl: `${addresses.path}${path}`, url: path });
      void answer(raw, reply.raw);
    },
  });
}

/**
 * Gives the provider the configured address instead of the request's headers, so that a forged `Host` cannot change the
 * addresses that it writes.
 */
function presentAs(request: IncomingMessage, { publicUrl }: Addresses): void {
  request.headers.host = publicUrl.host;
  request.headers['x-forwarded-proto'] = publicUrl.protocol.slice(0, -1);
  delete request.headers['x-forwarded-host'];
}

/** Each sign-in request stores a record, so their number is limited. */
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
