import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { securityHeaders } from '../http/app.ts';
import { startTestService, type TestService } from './harness.ts';

const OWN = 'http://capture.test';
const CONFIGURED = 'https://dashboard.example.com';
const FOREIGN = 'https://evil.example.com';

describe('headers', () => {
  let service: TestService;
  let port: number;
  beforeAll(async () => {
    service = await startTestService('sqlite', { CORS_ORIGINS: [CONFIGURED] });
    port = Number(new URL(await service.app.listen({ port: 0 })).port);
  });
  afterAll(() => service.close());

  test.each(['/health', '/v1/me', '/nope', '/%zz'])(
    '%s is answered with headers that keep browsers safe',
    async (url) => {
      const { headers } = await service.call('GET', url);
      expect(headers).toMatchObject({
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'permissions-policy': expect.stringContaining('camera=()'),
        'cache-control': 'no-store',
      });
      expect(headers).not.toHaveProperty('x-powered-by');
      expect(headers).not.toHaveProperty('server');
    },
  );

  test('browsers are bound to https only if the service is reached by it', async () => {
    expect((await service.call('GET', '/health')).headers).not.toHaveProperty('strict-transport-security');
    expect(securityHeaders('https://capture.example.com')).toMatchObject({
      'strict-transport-security': 'max-age=31536000',
    });
  });

  test('each answer has its own request id, whatever id the caller sends', async () => {
    const ids = await Promise.all(
      ['/health', '/nope', '/v1/me', '/%zz'].map(
        async (url) =>
          (await service.call('GET', url, { headers: { 'x-request-id': 'mine' } })).headers['x-request-id'],
      ),
    );
    expect(new Set(ids).size).toBe(4);
    expect(ids).not.toContain('mine');
    expect(ids).not.toContain(undefined);
  });

  test.each([OWN, CONFIGURED])('a page of %s may read answers and errors', async (origin) => {
    for (const url of ['/health', '/v1/me', '/nope']) {
      const { headers } = await service.call('GET', url, { headers: { origin } });
      expect(headers['access-control-allow-origin']).toBe(origin);
      expect(headers['access-control-expose-headers']).toContain('retry-after');
      expect(headers.vary).toContain('Origin');
    }
  });

  test('a page of another origin may not read answers', async () => {
    for (const origin of [FOREIGN, 'null', `${OWN}.evil.example.com`, 'http://capture.test:8080']) {
      const { headers } = await service.call('GET', '/health', { headers: { origin } });
      expect(headers).not.toHaveProperty('access-control-allow-origin');
    }
  });

  const preflight = (origin: string) =>
    service.call('OPTIONS', '/v1/organizations/me', {
      headers: { origin, 'access-control-request-method': 'PATCH', 'access-control-request-headers': 'authorization' },
    });

  test('a preflight allows every method of the routes, and the requested headers', async () => {
    const { status, headers } = await preflight(CONFIGURED);
    expect(status).toBe(204);
    expect(headers['access-control-allow-origin']).toBe(CONFIGURED);
    expect(headers['access-control-allow-methods']).toBe('GET, POST, PUT, PATCH, DELETE');
    expect(headers['access-control-allow-headers']).toContain('authorization');
    expect(headers).not.toHaveProperty('access-control-allow-credentials');
  });

  test('a preflight of another origin allows nothing', async () => {
    expect((await preflight(FOREIGN)).headers).not.toHaveProperty('access-control-allow-origin');
  });

  /** The raw answer to bytes that no client library would send. */
  async function sendRaw(text: string): Promise<string> {
    const socket = connect(port, '127.0.0.1');
    let reply = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      reply += chunk;
    });
    socket.end(text);
    await once(socket, 'close');
    return reply;
  }

  test.each([
    ['no HTTP', 'HELLO\r\n\r\n'],
    ['an unknown method', 'FETCH /health HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a broken header', 'GET /health HTTP/1.1\r\nHost: x\r\nbad header\r\n\r\n'],
    ['two lengths', 'POST /v1/sessions HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
    ['a header of 64 KiB', `GET /health HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(65_536)}\r\n\r\n`],
  ])('%s gets an error in the documented shape', async (_, text) => {
    const [head, body] = (await sendRaw(text)).split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(head).toContain('content-type: application/json; charset=utf-8');
    expect(JSON.parse(String(body))).toEqual({ error: expect.any(String), code: 'validation_failed' });
  });
});
