import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeAppends } from '../../contract/appends-body.ts';
import type { TestReply } from './harness.ts';
import { expectProblem } from './shape.ts';
import { startWorld, type World } from './world.ts';

const KB = 1024;

/** A request whose body is incomplete so far. */
interface Unfinished {
  socket: Socket;
  /** The answer that has arrived so far. */
  answer(): string;
}

describe('memory for bodies', () => {
  let world: World;
  let port: number;
  const sockets: Socket[] = [];
  /** The service's ends of the connections, by the port of the other end. */
  const ends = new Map<number | undefined, Socket>();
  beforeAll(async () => {
    // 1 MB in total, 256 KB for each caller.
    world = await startWorld('sqlite', { overrides: { BODY_MEMORY_MB: 1 } });
    world.service.app.server.on('connection', (end) => ends.set(end.remotePort, end));
    port = Number(new URL(await world.service.app.listen({ port: 0 })).port);
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    await world.service.close();
  });

  const path = () => `/v1/sessions/${world.ours.sessionId}/events`;

  /** Sends part of the announced bytes, and waits until the service has read them. */
  async function begin(as: string | undefined, length: number, sent: number): Promise<Unfinished> {
    const socket = connect(port, '127.0.0.1');
    sockets.push(socket);
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    socket.on('error', () => undefined);
    const credential = as === undefined ? '' : `Authorization: Bearer ${as}\r\n`;
    socket.write(`POST ${path()} HTTP/1.1\r\nHost: x\r\n${credential}Content-Length: ${length}\r\n\r\n`);
    socket.write(Buffer.alloc(sent, ' '));
    await expect.poll(() => ends.get(socket.localPort)?.bytesRead, { timeout: 60_000 }).toBeGreaterThan(sent);
    return { socket, answer: () => text };
  }

  const append = (as: string, bytes: number): Promise<TestReply> =>
    world.service.call('POST', path(), { as, body: '{"events":[{"eventType":"notice"}]}'.padEnd(bytes, ' ') });

  /** Repeats the append until its status is the expected one, because the other bytes arrive at any time. */
  const eventually = (as: string, bytes: number, status: number) =>
    expect.poll(async () => (await append(as, bytes)).status, { timeout: 60_000 }).toBe(status);

  test('a request without a credential is answered before its body ends, and its body is not kept', async () => {
    const requests = await Promise.all(
      Array.from({ length: 20 }, () => begin(undefined, 4 * 1024 * KB, 2 * 1024 * KB)),
    );
    for (const { answer } of requests) await expect.poll(answer, { timeout: 60_000 }).toMatch(/^HTTP\/1\.1 401 /);
    for (const secret of [world.ours.live, world.theirs.live]) {
      expect([200, 404]).toContain((await append(secret, 250 * KB)).status);
    }
  });

  test('the connection of a refused request serves the next request once the body has arrived', async () => {
    const { socket, answer } = await begin('nonsense', 1024 * KB, 512 * KB);
    await expect.poll(answer).toMatch(/^HTTP\/1\.1 401 /);
    socket.write(Buffer.alloc(512 * KB, ' '));
    socket.write('GET /health HTTP/1.1\r\nHost: x\r\n\r\n');
    await expect.poll(answer).toContain('HTTP/1.1 200 OK');
  });

  test('one caller may use a quarter of the memory, and other callers are served', async () => {
    const { socket } = await begin(world.ours.live, 200 * KB, 199 * KB);
    await eventually(world.ours.live, 100 * KB, 503);
    const refused = await append(world.ours.live, 100 * KB);
    expectProblem(refused, 503, 'service_unavailable');
    expect(refused.headers['retry-after']).toBe('1');
    expect((await append(world.ours.live, 40 * KB)).status).toBe(200);
    expect((await append(world.theirs.live, 100 * KB)).status).toBe(404);
    socket.destroy();
    await eventually(world.ours.live, 100 * KB, 200);
  });

  test('all callers together may use no more than the whole memory', async () => {
    const { ours, theirs, stranger } = world;
    const four = [ours.live, ours.test, theirs.live, theirs.test];
    const held = await Promise.all(four.map((secret) => begin(secret, 256 * KB, 255 * KB)));
    const create = () =>
      world.service.call('POST', '/v1/organizations', {
        as: stranger,
        body: JSON.stringify({ x: 'x'.repeat(100 * KB) }),
      });
    await expect.poll(async () => (await create()).status, { timeout: 60_000 }).toBe(503);
    for (const { socket } of held) {
      socket.destroy();
      await once(socket, 'close');
    }
    await expect.poll(async () => (await create()).status, { timeout: 60_000 }).toBe(400);
  });

  test('decoded bytes count, and are released with the answer', async () => {
    const one = (bytes: number) => zstdCompressSync('{"events":[{"eventType":"notice"}]}'.padEnd(bytes, ' '));
    const send = (body: Buffer) =>
      world.service.call('POST', path(), { as: world.ours.live, body, headers: { 'content-encoding': 'zstd' } });
    // The service decodes up to 1 MB at once, and larger bodies as a stream.
    for (const bytes of [300 * KB, 3 * 1024 * KB]) expectProblem(await send(one(bytes)), 503, 'service_unavailable');
    for (let i = 0; i < 8; i++) expect((await send(one(250 * KB))).status).toBe(200);
  });

  test('decoded bytes of frames count, and are released with the answer', async () => {
    const { ours, service } = world;
    const send = (bytes: number) => {
      const append = '{"events":[{"eventType":"notice"}]}'.padEnd(bytes / 2);
      const appends = [1, 2].map((number) => ({
        sessionId: ours.sessionId,
        idempotencyKey: `frames-${bytes}-${number}`,
        frame: zstdCompressSync(append),
      }));
      return service.call('POST', '/v1/appends', { as: ours.live, body: writeAppends(appends) });
    };
    for (const bytes of [300 * KB, 3 * 1024 * KB]) expectProblem(await send(bytes), 503, 'service_unavailable');
    for (let i = 0; i < 8; i++) expect((await send(250 * KB)).status).toBe(200);
  });
});
