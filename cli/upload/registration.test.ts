import { expect, onTestFinished, test } from 'vitest';
import { startService } from '../test/service.ts';
import { createRegistration } from './registration.ts';
import { createRetry } from './retry.ts';
import { createService } from './service.ts';

const NOW = Date.now();
const HOUR = 3_600_000;
const YEAR = 365 * 86_400_000;

/** The version that the service knows after the sessions of several processes. */
async function registerAll(...processes: (readonly [version: string, at: number])[][]) {
  const service = await startService();
  onTestFinished(() => service.stop());
  for (const sessions of processes) {
    const client = createService({ url: service.url, secret: 'sk_live_test', fetch });
    const retry = createRetry({ random: Math.random, signal: new AbortController().signal });
    const registration = createRegistration(client, retry, { hostname: 'host', platform: 'linux', now: Date.now });
    for (const [version, at] of sessions) await registration.installation('codex', version, at);
  }
  return service.state.installations.get('ins_codex')?.version;
}

test.each([
  ['a', 'b', 'c'],
  ['c', 'b', 'a'],
  ['b', 'c', 'a'],
])("of today's sessions, the latest sets the version at the service: %s, %s, %s", async (...order) => {
  const sessions = order.map((version) => [version, NOW - HOUR + version.charCodeAt(0)] as const);
  expect(await registerAll(sessions)).toBe('c');
});

test('an old imported session sets the version if the service knows none', async () => {
  expect(await registerAll([['1', NOW - YEAR]])).toBe('1');
});

test("an old imported session does not replace today's version", async () => {
  expect(await registerAll([['2', NOW]], [['1', NOW - YEAR]])).toBe('2');
});
