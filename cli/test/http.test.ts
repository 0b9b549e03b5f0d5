import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { describe } from '../failure.ts';
import { fetchPlainly } from '../http.ts';
import { isTemporary } from '../upload/problem.ts';

async function listen(listener: RequestListener) {
  const sockets = new Set<Socket>();
  const server = createServer(listener).on('connection', (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stop = () => {
    server.close();
    server.closeAllConnections();
  };
  onTestFinished(stop);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, sockets, stop };
}

/** Expects a temporary failure. @returns the error */
async function refusal(promise: Promise<unknown>): Promise<TypeError> {
  const error = await promise.then(
    () => expect.fail('it succeeded'),
    (thrown: unknown) => thrown as TypeError,
  );
  expect(isTemporary(error)).toBe(true);
  return error;
}

test('the request arrives with its bytes and headers, and the whole answer is read', async () => {
  const { url } = await listen(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString('hex');
    const { authorization, 'content-length': length } = request.headers;
    response.writeHead(207, { 'content-type': 'application/json', 'X-Request-Id': 'r-1' });
    response.end(JSON.stringify({ method: request.method, body, authorization, length, text: 'é€😀' }));
  });
  const headers = { authorization: 'Bearer a' };
  const reply = await fetchPlainly(url, { method: 'POST', headers, body: new Uint8Array([0, 255, 10]) });
  expect(reply).toMatchObject({ status: 207, ok: true });
  expect([reply.headers.get('x-request-id'), reply.headers.get('X-Request-Id'), reply.headers.get('date-x')]).toEqual([
    ...['r-1', 'r-1', null],
  ]);
  const answer = { method: 'POST', body: '00ff0a', authorization: 'Bearer a', length: '3', text: 'é€😀' };
  expect(await reply.json()).toEqual(answer);
});

test('an answer larger than any page is refused before it fills the memory', async () => {
  const { url } = await listen((_request, response) => response.end(Buffer.alloc(64 * 1024 * 1024 + 1, ' ')));
  const { cause } = await refusal((await fetchPlainly(url)).text());
  expect(String(cause)).toMatch(/larger than 6\d{7} bytes/);
});

test('a redirect is not followed, and a POST without a body is empty', async () => {
  const { url } = await listen((request, response) => {
    if (request.url === '/there') return response.end('followed');
    response.writeHead(302, { location: '/there' }).end(String(request.headers['content-length']));
  });
  const reply = await fetchPlainly(url, { method: 'POST', redirect: 'manual' });
  expect(reply).toMatchObject({ status: 302, ok: false });
  expect(await reply.text()).toBe('0');
});

test('a connection is reused, and a dead connection is replaced', async () => {
  const { url, sockets } = await listen((_request, response) => response.end('ok'));
  const ask = async () => (await fetchPlainly(url)).text();
  await ask();
  await ask();
  expect(sockets.size).toBe(1);
  for (const socket of sockets) socket.resetAndDestroy();
  // The first request may still fail on the dead connection; a retry succeeds.
  await ask().catch((error: unknown) => expect(isTemporary(error)).toBe(true));
  expect(await ask()).toBe('ok');
  expect(sockets.size).toBeGreaterThan(1);
});

test('a refused connection fails with the same error as the built-in fetch', async () => {
  const { url, stop } = await listen(() => {});
  stop();
  const error = await refusal(fetchPlainly(url));
  expect(error).toMatchObject({ name: 'TypeError', message: 'fetch failed', cause: { code: 'ECONNREFUSED' } });
  const own = await refusal(fetch(url));
  expect(describe(error)).toBe(describe(own));
});

test('a connection that breaks before or during the answer is a temporary failure', async () => {
  const { url } = await listen((request, response) => {
    if (request.url === '/') return request.socket.resetAndDestroy();
    response.writeHead(200, { 'content-length': 100 }).write('begun');
    setTimeout(() => request.socket.destroy(), 50);
  });
  expect(await refusal(fetchPlainly(url))).toMatchObject({ message: 'fetch failed', cause: { code: 'ECONNRESET' } });
  const reply = await fetchPlainly(`${url}amid`);
  expect(await refusal(reply.text())).toMatchObject({ message: 'terminated', cause: { code: 'ECONNRESET' } });
});

test.each([
  ['before the answer', '/', false],
  ['during the answer', '/amid', true],
])('aborting a request %s rejects it with the reason of the signal', async (_when, path, isBegun) => {
  const { url } = await listen((request, response) => {
    if (request.url === '/amid') response.writeHead(200).write('begun');
  });
  const stop = new AbortController();
  const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(10_000)]);
  const asked = fetchPlainly(new URL(path, url).href, { signal });
  const waited = isBegun ? (await asked).text() : asked;
  setTimeout(() => stop.abort(), 50);
  expect(await refusal(waited)).toBe(stop.signal.reason);
  await expect(fetchPlainly(url, { signal })).rejects.toBe(stop.signal.reason);
  expect((await refusal(fetchPlainly(url, { signal: AbortSignal.timeout(50) }))).name).toBe('TimeoutError');
});

test('an invalid header is not a temporary failure', async () => {
  const wrong = await fetchPlainly('http://127.0.0.1:1/', { headers: { authorization: 'a\nb' } }).catch(
    (error) => error,
  );
  expect([wrong.code, isTemporary(wrong)]).toEqual(['ERR_INVALID_CHAR', false]);
});

test('requests use the proxy of HTTP_PROXY if NODE_USE_ENV_PROXY is set', async () => {
  const { url } = await listen((request, response) => response.end(`proxied ${request.url}`));
  const script = `import { fetchPlainly } from ${JSON.stringify(new URL('../http.ts', import.meta.url).href)};
    const reply = await fetchPlainly('http://capture.invalid/healthz');
    process.stdout.write(await reply.text());`;
  const env = { HTTP_PROXY: url, NODE_USE_ENV_PROXY: '1' };
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { env });
  const [[code], text] = await Promise.all([once(child, 'exit'), child.stdout.toArray()]);
  expect([code, Buffer.concat(text).toString()]).toEqual([0, 'proxied http://capture.invalid/healthz']);
});

test('a broken connection of an unread answer raises no error', async () => {
  const { url } = await listen((request, response) => {
    response.writeHead(200).write('begun');
    setTimeout(() => request.socket.resetAndDestroy(), 20);
  });
  const { body } = await fetchPlainly(url);
  await new Promise((resolve) => setTimeout(resolve, 100));
  await body?.cancel();
});
