import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { basePathOf } from '../public-url.ts';
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

export interface PageOptions {
  /** Public address of the service. The page and its files may be below a path. */
  publicUrl: string;
  /** The origins from which the browser fetches tokens. */
  origins: () => Promise<readonly string[]>;
  /** The folder of the build. */
  folder?: string;
}

/**
 * Serves the files of the built dashboard. It serves the dashboard's page for every address that is not a route, so that a deep
 * link can be reloaded.
 */
export async function servePages(
  app: FastifyInstance,
  { publicUrl, origins, folder = BUILT }: PageOptions,
): Promise<void> {
  const page = readPage(folder, basePathOf(publicUrl));
  if (page !== undefined) {
    await app.register(fastifyStatic, {
      root: folder,
      wildcard: false,
      index: false,
      cacheControl: false,
      globIgnore: [PAGE],
      // The build contains each file in Brotli and gzip as well.
      preCompressed: true,
      setHeaders: (reply, path) => {
        const [, age] = CACHED.find(([folder]) => path.includes(folder)) ?? [];
        reply.header('cache-control', age ?? 'no-cache');
        if (path.includes('/assets/')) reply.header('content-security-policy', WORKER_POLICY);
      },
    });
  }
  async function sendPage(reply: FastifyReply, age: 'no-store' | 'no-cache') {
    if (page === undefined) return reply.code(503).type('text/plain; charset=utf-8').send(NOT_BUILT);
    reply.header('content-security-policy', pagePolicy(await origins()));
    return reply.header('cache-control', age).type('text/html; charset=utf-8').send(page);
  }
  // The address of a shared session is the key to it, so no cache on the way may keep it.
  app.get('/s/*', async (_request, reply) => sendPage(reply, 'no-store'));
  app.setNotFoundHandler(async (request, reply) => {
    const path = request.url.split('?')[0] ?? '/';
    const { problem, allow } = unknownRoute(path);
    const wantsPage = ['GET', 'HEAD'].includes(request.method) && !/^\/(v1|scim)\//.test(path) && allow === undefined;
    if (wantsPage && request.headers.accept?.includes('text/html')) return sendPage(reply, 'no-cache');
    if (allow !== undefined) reply.header('allow', allow);
    throw problem;
  });
}

const PAGE = 'index.html';
const NOT_BUILT = 'The dashboard is not built. Run: npm run build\n';

/**
 * The page of the build, whose own addresses begin with the base path. The same build serves every path: its scripts read the
 * path from the page, and find each other by relative addresses.
 */
function readPage(folder: string, base: string): string | undefined {
  const path = join(folder, PAGE);
  if (!existsSync(path)) return undefined;
  const built = readFileSync(path, 'utf8');
  if (base === '') return built;
  return built.replace(/<html(?=[ >])/, `<html data-base="${base}"`).replace(/ (href|src)="(?=\/)/g, ` $1="${base}`);
}

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
