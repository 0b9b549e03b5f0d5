import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { closeAll, createFatal } from '../shutdown.ts';
import { createTenant } from './factories.ts';
import { startTestService, type TestService } from './harness.ts';

describe('closing', () => {
  let service: TestService;
  let stuck: Socket;
  const lines: unknown[] = [];
  const log = { error: (...line: unknown[]) => lines.push(line), warn: (...line: unknown[]) => lines.push(line) };
  beforeEach(async () => {
    lines.length = 0;
    service = await startTestService('sqlite');
    const port = Number(new URL(await service.app.listen({ port: 0 })).port);
    stuck = connect(port, '127.0.0.1').on('error', () => undefined);
    const arrived = once(service.app.server, 'request');
    // The request's body never ends.
    const credential = `authorization: Bearer ${(await createTenant(service)).live}`;
    stuck.write(`POST /v1/sessions HTTP/1.1\r\nHost: x\r\n${credential}\r\ncontent-length: 9\r\n\r\n`);
    await arrived;
  });
  afterEach(async () => {
    stuck.destroy();
    await service.store.dispose();
  });

  const closedBelow: string[] = [];
  const part = (name: string, error?: Error) => ({
    async close() {
      closedBelow.push(name);
      if (error) throw error;
    },
  });

  test('a request that does not end is cut off at the deadline, and everything below is closed after it', async () => {
    closedBelow.length = 0;
    const cut = once(stuck, 'close');
    expect(await closeAll({ app: service.app, below: [part('one'), part('two')], log, deadlineMs: 100 })).toBe(0);
    await cut;
    expect(closedBelow).toEqual(['one', 'two']);
    expect(JSON.stringify(lines)).toContain('some requests took too long');
  });

  test('a failure is logged, does not keep other parts open, and makes the exit code 1', async () => {
    closedBelow.length = 0;
    stuck.destroy();
    const broken = new Error('the very reason');
    const app = { server: service.app.server, close: () => service.app.close().then(() => Promise.reject(broken)) };
    const below = [{}, part('one', broken), part('two')];
    expect(await closeAll({ app, below, log })).toBe(1);
    expect(closedBelow).toEqual(['one', 'two']);
    expect(lines).toHaveLength(2);
    expect(lines[0]).toEqual([{ err: broken }, expect.any(String)]);
  });

  test('a close that never ends is given up', async () => {
    const never = { close: () => new Promise<void>(() => undefined) };
    expect(await closeAll({ app: service.app, below: [never], log, deadlineMs: 50 })).toBe(1);
    expect(JSON.stringify(lines)).toContain('closing took too long');
  });
});

test('a store that cannot be trusted ends the service with a message and an exit code of its own', () => {
  const written: string[] = [];
  const logged: unknown[] = [];
  const codes: number[] = [];
  const fatal = createFatal({
    log: { fatal: (...line: unknown[]) => logged.push(line) },
    write: (text) => written.push(text),
    exit: (code) => codes.push(code),
  });
  const error = new Error('disk I/O error');
  fatal(error);
  expect(codes).toEqual([70]);
  expect(written.join('')).toMatch(/^The service ended because its store failed for good: disk I\/O error\. Check /);
  expect(logged).toEqual([[{ err: error }, expect.any(String)]]);
});
