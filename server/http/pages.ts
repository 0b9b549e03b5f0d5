import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { unknownRoute } from './app.ts';

const BUILT = fileURLToPath(new URL('../../dashboard/dist', import.meta.url));

/**
 * A worker has a policy of its own, sent with its own file. The worker that highlights code loads grammars from other files.
 */
const WORKER_POLICY = "default-src 'none'; script-src 'self'; frame-ancestors 'none'";

/** Asset names contain a hash of the content. Font names do not, because the sign-in pages refer to them. */
const CACHED = [
  ['/assets/', 'public, max-age=31536000, immutable'],
  ['/fonts/', 'public, max-age=86400'],
] as const;

/**
 * Serves the files of the built dashboard. It serves the dashboard's page for every address that is not a route, so that a deep
 * link can be reloaded.
 * @param origins from which the browser fetches tokens
 * @param folder of the build
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
      // The build contains each file in Brotli and gzip as well.
      preCompressed: true,
      setHeaders: (reply, path) => {
        const [, age] = CACHED.find(([folder]) => path.includes(folder)) ?? [];
        reply.header('cache-control', age ?? (isOfShare(reply.request) ? 'no-store' : 'no-cache'));
        if (path.includes('/assets/')) reply.header('content-security-policy', WORKER_POLICY);
      },
    });
  }
  app.setNotFoundHandler(async (request, reply) => {
    const path = request.url.split('?')[0] ?? '/';
    const { problem, allow } = unknownRoute(path);
    const wantsPage = ['GET', 'HEAD'].includes(request.method) && !/^\/(v1|scim)\//.test(path) && allow === undefined;
    if (wantsPage && request.headers.accept?.includes('text/html')) return sendPage(reply, built);
    if (allow !== undefined) reply.header('allow', allow);
    throw problem;
  });

  async function sendPage(reply: FastifyReply, isBuilt: boolean) {
    if (!isBuilt) {
      return reply.code(503).type('text/plain; charset=utf-8').send('The dashboard is not built. Run: npm run build\n');
    }
    reply.header('content-security-policy', pagePolicy(await origins()));
    return reply.type('text/html; charset=utf-8').sendFile('index.html', { cacheControl: false });
  }
}

/** The address of a shared session is the key to it, so no cache on the way may keep it. */
const isOfShare = ({ url }: FastifyRequest): boolean => url.startsWith('/s/');

/**
 * A page of the dashboard loads only its own files. Transcripts are hostile, and this policy is the last defence against them.
 * @param origins from which the browser fetches tokens
 */
const pagePolicy = (origins: readonly string[]): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    ["connect-src 'self'", ...origins].join(' '),
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
