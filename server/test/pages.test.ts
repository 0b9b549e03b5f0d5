import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { servePages } from '../http/pages.ts';

const PAGE = `<!doctype html>
<html lang="en">
<link rel="preload" href="/config" as="fetch" crossorigin />
<script src="/theme.js"></script>
<a href="https://example.com/">elsewhere</a>
<div data-src="/as-it-is">="/as-it-is</div>
</html>`;

const FILES = {
  'index.html': PAGE,
  'assets/a-1.js': 'script',
  'assets/a-1.js.br': 'script in brotli',
  'assets/a-1.js.gz': 'script in gzip',
  'assets/font-1.woff2': 'font',
};

let app: FastifyInstance;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'capture-built-'));
  mkdirSync(join(folder, 'assets'));
  for (const [name, content] of Object.entries(FILES)) writeFileSync(join(folder, name), content);
  app = await serveAt('https://capture.example.com');
});
afterAll(async () => {
  await app.close();
  rmSync(folder, { recursive: true });
});

async function serveAt(publicUrl: string): Promise<FastifyInstance> {
  const served = Fastify();
  await servePages(served, { publicUrl, origins: async () => [], folder });
  return served;
}

const get = (url: string, headers: Record<string, string> = {}) => app.inject({ url, headers });

test.each([
  ['br, gzip', 'script in brotli', 'br'],
  ['gzip, deflate', 'script in gzip', 'gzip'],
  ['gzip, deflate, br, zstd', 'script in brotli', 'br'],
  ['br;q=0, gzip', 'script in gzip', 'gzip'],
  ['identity', 'script', undefined],
])('a browser that accepts %s gets the script in that encoding', async (accepted, body, encoding) => {
  const answer = await get('/assets/a-1.js', { 'accept-encoding': accepted });
  expect(answer.body).toBe(body);
  expect(answer.headers['content-encoding']).toBe(encoding);
  expect(answer.headers['content-type']).toMatch(/^(?:text|application)\/javascript/);
  expect(answer.headers.vary).toBe('accept-encoding');
  expect(answer.headers['cache-control']).toBe('public, max-age=31536000, immutable');
  expect(answer.headers['content-security-policy']).toMatch(/^default-src 'none'; script-src 'self';/);
});

test('each encoding of a file has its own entity tag, which saves a repeated download', async () => {
  const tagOf = async (accepted: string) => {
    const { headers } = await get('/assets/a-1.js', { 'accept-encoding': accepted });
    const again = await get('/assets/a-1.js', { 'accept-encoding': accepted, 'if-none-match': String(headers.etag) });
    expect(again.statusCode).toBe(304);
    return headers.etag;
  };
  expect(new Set([await tagOf('br'), await tagOf('gzip'), await tagOf('identity')]).size).toBe(3);
});

test('a file without other encodings is sent unchanged', async () => {
  const answer = await get('/assets/font-1.woff2', { 'accept-encoding': 'br, gzip' });
  expect([answer.statusCode, answer.body, answer.headers['content-encoding']]).toEqual([200, 'font', undefined]);
});

test('the page of the build is sent under each of its addresses', async () => {
  for (const url of ['/', '/sessions/ses_1', '/index.html']) {
    const answer = await get(url, { accept: 'text/html' });
    expect(answer.body).toBe(PAGE);
    expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(answer.headers['content-security-policy']).toContain("script-src 'self'");
  }
});

test('below a path, the page loads its files from there and tells its scripts the path', async () => {
  const below = await serveAt('https://example.com/tools/capture');
  const { body } = await below.inject({ url: '/sessions/ses_1', headers: { accept: 'text/html' } });
  await below.close();
  expect(body).toBe(
    PAGE.replace('<html', '<html data-base="/tools/capture"')
      .replace('"/config"', '"/tools/capture/config"')
      .replace('"/theme.js"', '"/tools/capture/theme.js"'),
  );
});

test('no cache stores the address of a shared session', async () => {
  const asPage = { accept: 'text/html' };
  expect((await get('/s/a-token', asPage)).headers['cache-control']).toBe('no-store');
  expect((await get('/sessions/ses_1', asPage)).headers['cache-control']).toBe('no-cache');
});
