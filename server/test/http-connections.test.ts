import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Connections } from '../http/connections.ts';
import { startWorld, type World } from './world.ts';

describe('requests on one connection', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld('sqlite');
    await world.service.app.listen({ port: 0, host: '127.0.0.1' });
  });
  afterAll(() => world.service.close());

  test('are served one by one, and answered in their order, even if they arrive in one write', async () => {
    const { service, ours } = world;
    const { port } = service.app.server.address() as AddressInfo;
    // Each request is authenticated when its turn comes, after all earlier requests are answered.
    const ahead: number[] = [];
    let answered = 0;
    service.app.server.on('request', (_request, response) => void response.once('close', () => answered++));
    const { verify } = service.identity;
    service.identity.verify = (token) => {
      ahead.push(ahead.length - answered);
      return verify(token);
    };
    const socket = connect(port, '127.0.0.1');
    const head = `HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${ours.member}\r\n\r\n`;
    const sizes = Array.from({ length: 20 }, (_, index) => (index % 2) + 1);
    socket.write(sizes.map((size) => `GET /v1/organizations/me/sessions?limit=${size} ${head}`).join(''));
    let text = '';
    const bodies = () => text.match(/\{"sessions":.*?"nextCursor":[^}]*\}/g) ?? [];
    while (bodies().length < sizes.length) text += String((await once(socket, 'data'))[0]);
    socket.destroy();
    expect(bodies().map((body) => JSON.parse(body).sessions.length)).toEqual(sizes);
    expect(ahead).toEqual(sizes.map(() => 0));
  });
});

describe('connections of several networks', () => {
  let server: Server;
  let open: Socket[];
  beforeEach(async () => {
    open = [];
    // The server never answers a request to /slow.
    server = createServer(({ url }, response) => (url === '/slow' ? undefined : response.end('ok')));
    const connections = new Connections(server, 4);
    server.on('request', ({ socket }, response) => connections.begin(socket, response));
    await once(server.listen(0, '127.0.0.1'), 'listening');
  });
  afterEach(async () => {
    for (const socket of open) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  /** Connects from a local address. The result tells whether the server has closed the connection. */
  async function connectFrom(localAddress: string, path?: string) {
    const { port } = server.address() as AddressInfo;
    const socket = connect({ port, host: '127.0.0.1', localAddress }).on('error', () => undefined);
    open.push(socket);
    const arrived = once(server, path === undefined ? 'connection' : 'request');
    if (path !== undefined) socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`);
    await arrived;
    const closed = once(socket.resume(), 'close').then(() => true);
    return { isClosed: () => Promise.race([closed, pause(50).then(() => false)]) };
  }
  const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

  test('may all belong to one network, whose oldest idle connection makes room for another network', async () => {
    const crowd = [];
    for (const path of ['/slow', undefined, '/answered', undefined]) crowd.push(await connectFrom('127.0.0.2', path));
    const other = await connectFrom('127.0.0.3');
    expect(await other.isClosed()).toBe(false);
    expect(await Promise.all(crowd.map(({ isClosed }) => isClosed()))).toEqual([false, true, false, false]);
    const third = await connectFrom('127.0.0.3');
    expect(await third.isClosed()).toBe(false);
    expect(await Promise.all(crowd.map(({ isClosed }) => isClosed()))).toEqual([false, true, true, false]);
  });

  test('are refused to a network that has its share, and to all if every other connection is busy', async () => {
    for (let count = 0; count < 4; count++) await connectFrom('127.0.0.2', '/slow');
    expect(await (await connectFrom('127.0.0.2')).isClosed()).toBe(true);
    expect(await (await connectFrom('127.0.0.3')).isClosed()).toBe(true);
    open[0]?.destroy();
    await pause(20);
    expect(await (await connectFrom('127.0.0.3')).isClosed()).toBe(false);
  });
});

describe('a connection that is idle again after a live stream', () => {
  test('does not delay closing', async () => {
    const { service, ours } = await startWorld('sqlite');
    const url = await service.app.listen({ port: 0, host: '127.0.0.1' });
    const headers = { authorization: `Bearer ${ours.member}` };
    const leaving = new AbortController();
    const stream = await fetch(`${url}/v1/organizations/me/live`, { headers, signal: leaving.signal });
    expect(stream.status).toBe(200);
    // fetch opens a spare connection to replace the one that it drops.
    const spare = once(service.app.server, 'connection');
    leaving.abort();
    await spare;
    const asked = Date.now();
    await service.close();
    expect(Date.now() - asked).toBeLessThan(5_000);
  });
});
