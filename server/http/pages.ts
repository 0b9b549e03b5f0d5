import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { unknownRoute } from './app.ts';
import { pagePolicy } from './headers.ts';

const BUILT = fileURLToPath(new URL('../../dashboard/dist', import.meta.url));

/** A worker is under the policy of its own file. The one that colours code loads grammars, which are other files. */
const WORKER_POLICY = "default-src 'none'; script-src 'self'; frame-ancestors 'none'";

/** Names of assets carry a hash of their content; those of fonts do not, since the pages of signing in name them too. */
const CACHED = [
  ['/assets/', 'public, max-age=31536000, immutable'],
  ['/fonts/', 'public, max-age=86400'],
] as const;

/**
 * Serves the built dashboard: its files as they are, and its page for every address that is no route, so that a deep
 * link can be reloaded. `origins` are those from which the browser fetches tokens; `folder` is where the build lies.
 */
export async function servePages(
  app: FastifyInstance,
  origins: () => Promise<readonly string[]>,
  folder = BUILT,
): Promise<void> {
  const built = existsSync(join(folder, 'index.html'));
  if (built) {
    await app.register(fastifyStatic, {
      root: folder,
      wildcard: false,
      index: false,
      cacheControl: false,
      // The build has each file in Brotli and gzip beside it.
      preCompressed: true,
      setHeaders: (reply, path) => {
        const [, age] = CACHED.find(([folder]) => path.includes(folder)) ?? [];
        reply.header('cache-control', age ?? 'no-cache');
        if (path.includes('/assets/')) reply.header('content-security-policy', WORKER_POLICY);
      },
    });
  }
  app.setNotFoundHandler(async (request, reply) => {
    const path = request.url.split('?')[0] ?? '/';
    const { problem, allow } = unknownRoute(path);
    const wantsPage = ['GET', 'HEAD'].includes(request.method) && !path.startsWith('/v1/') && allow === undefined;
    if (wantsPage && request.headers.accept?.includes('text/html')) return sendPage(reply, built);
    if (allow !== undefined) reply.header('allow', allow);
    return reply.code(problem.status).send(problem.toBody());
  });

  async function sendPage(reply: FastifyReply, isBuilt: boolean) {
    if (!isBuilt) {
      return reply.code(503).type('text/plain; charset=utf-8').send('The dashboard is not built. Run: npm run build\n');
    }
    reply.header('content-security-policy', pagePolicy(await origins())).header('cache-control', 'no-cache');
    return reply.type('text/html; charset=utf-8').sendFile('index.html', { cacheControl: false });
  }
}
