import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startProbe } from './probe.ts';
import type { Waits } from './prober.ts';

const SELF = fileURLToPath(import.meta.url);

/** Measures how long a prober waits for a bare HTTP server on an idle machine, and while a loop keeps one core busy. */
export async function measureFloor(seconds: number): Promise<{ idle: Waits; busy: Waits }> {
  const server = fork(SELF, ['serve']);
  const [port] = (await once(server, 'message')) as [number];
  const probe = await startProbe(port);
  await sleep(500);
  const idle = await probe.during(() => sleep(seconds * 1000));
  const loop = fork(SELF, ['loop']);
  const busy = await probe.during(() => sleep(seconds * 1000));
  probe.stop();
  for (const child of [server, loop]) child.kill();
  return { idle, busy };
}

if (process.argv[1] === SELF && process.argv[2] === 'serve') {
  const server = createServer((_request, response) => response.end('{"status":"ok"}'));
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as { port: number }).port));
} else if (process.argv[1] === SELF && process.argv[2] === 'loop') {
  for (;;);
}
