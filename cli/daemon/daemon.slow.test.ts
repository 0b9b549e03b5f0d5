import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { AGENTS } from '../agents/all.ts';
import { setUpDaemon } from '../test/daemon.ts';

const until = (check: () => void | Promise<void>) => vi.waitFor(check, { timeout: 60_000, interval: 10 });

test('a revoked machine sends nothing, keeps everything, says so, and continues when it is allowed again', async () => {
  const { start, say, service, status, texts, waitForTexts } = await setUpDaemon();
  say(1, 0, 'one');
  const { warnings } = await start();
  await waitForTexts(1, ['one']);
  service.state.environmentStatus = 'revoked';
  await until(() => expect(warnings()).toContain('This machine was revoked'));
  say(1, 1, 'two');
  await until(async () => expect(await status()).toMatchObject({ spooled: { events: 1 } }));
  expect(await status()).toMatchObject({
    troubles: expect.arrayContaining([expect.objectContaining({ sentence: expect.stringContaining('revoked') })]),
  });
  expect(texts(1)).toEqual(['one']);
  service.state.environmentStatus = 'active';
  await waitForTexts(1, ['one', 'two']);
  await until(async () => expect(JSON.stringify(await status())).not.toContain('This machine was revoked'));
});

test('an agent that is enabled again is sent without a restart', async () => {
  const { start, say, service, status, waitForTexts } = await setUpDaemon();
  service.state.installationStatus = 'disabled';
  say(1, 0, 'one');
  await start();
  await until(async () =>
    expect(await status()).toMatchObject({
      troubles: expect.arrayContaining([expect.objectContaining({ sentence: expect.stringContaining('disabled') })]),
    }),
  );
  service.state.installationStatus = 'active';
  await waitForTexts(1, ['one']);
});

test('a session that is closed repeatedly is continued in another one after a rest', async () => {
  const { start, say, service, status, waitForTexts } = await setUpDaemon();
  service.state.closesAll = true;
  say(1, 0, 'one');
  await start();
  await until(async () => expect(await status()).toMatchObject({ troubles: [expect.anything()] }));
  for (const session of service.state.sessions.values()) session.status = 'completed';
  service.state.closesAll = false;
  await waitForTexts(1, ['one']);
});

test('an agent that is disabled during capture does not block the others', async () => {
  const { start, say, service, status, waitForTexts } = await setUpDaemon({ timing: { refusedMs: 60_000 } });
  say(1, 0, 'one');
  await start();
  await waitForTexts(1, ['one']);
  service.state.installationStatus = 'disabled';
  say(2, 0, 'of a new session');
  const sentence = expect.stringContaining('disabled the capture of claude-code');
  await until(async () => expect(await status()).toMatchObject({ troubles: [expect.objectContaining({ sentence })] }));
  say(1, 1, 'two');
  await waitForTexts(1, ['one', 'two']);
});

test('a warning about the network names the service', async () => {
  const { start, say, service, waitForTexts } = await setUpDaemon();
  say(1, 0, 'one');
  const { warnings } = await start();
  await waitForTexts(1, ['one']);
  await service.stop();
  say(1, 1, 'two');
  await until(() => expect(warnings()).toContain(`Sending to ${service.url} fails and will be retried: `));
});

test('a machine that has slept gives up its dead connections', async () => {
  let time = Date.now();
  const { start, say, service, waitForTexts } = await setUpDaemon({
    context: { now: () => time },
    timing: { farewellMs: 100 },
  });
  say(1, 0, 'one');
  await start();
  await waitForTexts(1, ['one']);
  // The connection was cut while the machine slept: nothing answers, and nothing refuses.
  const { port } = new URL(service.url);
  await service.stop();
  const silent = createServer(() => {}).listen(Number(port), '127.0.0.1');
  say(1, 1, 'two');
  await new Promise((resolve) => silent.once('connection', resolve));
  silent.close();
  await service.restart();
  time += 8 * 60 * 60_000;
  await waitForTexts(1, ['one', 'two']);
  time -= 24 * 60 * 60_000;
  say(1, 2, 'three');
  await waitForTexts(1, ['one', 'two', 'three']);
});

test('a long look at transcripts does not count as a sleep of the machine', async () => {
  const { start, say, waitForTexts, state } = await setUpDaemon({
    timing: { jumpMs: 100 },
    context: { agents: AGENTS.map((agent) => ({ ...agent, isTranscript: slowly(agent.isTranscript) })) },
  });
  say(1, 0, 'one');
  await start();
  await waitForTexts(1, ['one']);
  await new Promise((resolve) => setTimeout(resolve, 1000));
  expect(readFileSync(join(state, 'daemon.log'), 'utf8')).not.toContain('has slept');
});

/** Imitates a slow disk. */
const slowly = (isTranscript: (path: string) => boolean) => (path: string) => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 120);
  return isTranscript(path);
};

test('a full spool stops reading with a warning, and reading continues when there is room', async () => {
  const set = await setUpDaemon({ preferences: { spool: { maxMegabytes: 0.02 } } });
  const { start, say, service, status, file, waitForTexts, texts } = set;
  say(1, 0, 'one');
  const { warnings } = await start();
  await waitForTexts(1, ['one']);
  service.state.faults = { unavailable: 1 };
  const noise = (n: number) => Array.from({ length: 3000 }, (_, i) => Math.sin(i * n + 1).toString(36)).join('');
  const words = Array.from({ length: 10 }, (_, n) => noise(n));
  words.forEach((text, n) => void say(2, n, text));
  await until(() => expect(warnings()).toContain('The spool is full'));
  expect(await status()).toMatchObject({
    troubles: expect.arrayContaining([expect.objectContaining({ sentence: expect.stringContaining('full') })]),
  });
  say(3, 0, 'kept by its transcript');
  service.state.faults = {};
  await waitForTexts(2, words);
  await waitForTexts(3, ['kept by its transcript']);
  expect(existsSync(file(2))).toBe(true);
  expect(texts(1)).toEqual(['one']);
  await until(async () => expect(JSON.stringify(await status())).not.toContain('spool is full'));
});

test('a damaged spool is made anew, and nothing is lost or doubled', async () => {
  const { start, say, service, state, waitForTexts, texts } = await setUpDaemon();
  say(1, 0, 'one');
  const first = await start();
  await waitForTexts(1, ['one']);
  service.state.faults = { unavailable: 1 };
  say(1, 1, 'two');
  await until(() => expect(first.warnings()).toContain('warning'));
  await first.end();
  const path = join(state, 'spool.db');
  const bytes = readFileSync(path);
  bytes.fill(0x5a, 4096, bytes.length - 4096);
  writeFileSync(path, bytes);
  service.state.faults = {};
  await start();
  await waitForTexts(1, ['one', 'two']);
  expect(texts(1)).toHaveLength(2);
});

test("an agent's folder that appears later is read", async () => {
  const { start, say, waitForTexts } = await setUpDaemon();
  await start();
  say(1, 0, 'one');
  await waitForTexts(1, ['one']);
});
