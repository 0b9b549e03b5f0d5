import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { heavy } from '../turns.ts';

test('between two heavy steps others are served', async () => {
  const served: string[] = [];
  const server = createServer((socket) => socket.on('data', () => served.push('request'))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as { port: number }).port, '127.0.0.1');
  const [[peer]] = await Promise.all([once(server, 'connection'), once(client, 'connect')]);
  const step = (name: string) =>
    heavy(() => {
      served.push(name);
      client.write('x');
      return name;
    });
  expect(await Promise.all([step('first'), step('second'), step('third')])).toEqual(['first', 'second', 'third']);
  expect(served).toEqual(['first', 'request', 'second', 'request', 'third']);
  client.destroy();
  peer.destroy();
  server.close();
});

test('a heavy step that fails holds up nobody', async () => {
  const failed = heavy(() => {
    throw new Error('cannot');
  });
  const next = heavy(() => 'done');
  await expect(failed).rejects.toThrow('cannot');
  expect(await next).toBe('done');
});
