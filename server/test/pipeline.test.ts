import { EventEmitter, once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { type AddressInfo, connect, Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createPipeline } from '../http/pipeline.ts';
import { startWorld, type World } from './world.ts';

describe('requests on one connection', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld('sqlite');
    await world.service.app.listen({ port: 0, host: '127.0.0.1' });
  });
  afterAll(() => world.service.close());

  test('wait until those before them are answered', async () => {
    const pipeline = createPipeline();
    const socket = new Socket();
    const [first, second, third] = Array.from({ length: 3 }, () => new EventEmitter() as ServerResponse);
    const order: string[] = [];
    expect(pipeline(socket, first as ServerResponse)).toBeUndefined();
    const waits = [
      pipeline(socket, second as ServerResponse)?.then(() => void order.push('second')),
      pipeline(socket, third as ServerResponse)?.then(() => void order.push('third')),
    ];
    expect(pipeline(new Socket(), new EventEmitter() as ServerResponse)).toBeUndefined();
    first?.emit('close');
    await waits[0];
    expect(order).toEqual(['second']);
    second?.emit('close');
    await waits[1];
    expect(order).toEqual(['second', 'third']);
  });

  test('are served one by one, and answered in their order, when they come in one write', async () => {
    const { service, ours } = world;
    const { port } = service.app.server.address() as AddressInfo;
    // Each is authenticated when its turn comes: by then all before it are answered.
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
