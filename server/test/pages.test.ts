import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { servePages } from '../http/pages.ts';

const FILES = {
  'index.html': 'page',
  'index.html.br': 'page in brotli',
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
  app = Fastify();
  await servePages(app, async () => [], folder);
});
afterAll(async () => {
  await app.close();
  rmSync(folder, { recursive: true });
});

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

test('the page is sent compressed under each of its addresses', async () => {
  const answer = await get('/sessions/ses_1', { accept: 'text/html', 'accept-encoding': 'br' });
  expect(answer.body).toBe('page in brotli');
  expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
  expect(answer.headers['content-security-policy']).toContain("script-src 'self'");
});

test('no cache stores the address of a shared session', async () => {
  const asPage = { accept: 'text/html' };
  expect((await get('/s/a-token', asPage)).headers['cache-control']).toBe('no-store');
  expect((await get('/sessions/ses_1', asPage)).headers['cache-control']).toBe('no-cache');
});
