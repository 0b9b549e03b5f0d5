import { expect, onTestFinished, test } from 'vitest';
import { startService } from '../test/service.ts';
import { createRegistration } from './registration.ts';
import { createRetry } from './retry.ts';
import { createService } from './service.ts';

const NOW = Date.now();
const YEAR = 365 * 86_400_000;

async function registerAll(...groups: (readonly [version: string, at: number])[][]) {
  const service = await startService();
  onTestFinished(() => service.stop());
  for (const group of groups) {
    const client = createService({ url: service.url, secret: 'sk_live_test', fetch });
    const retry = createRetry({ random: Math.random, signal: new AbortController().signal });
    const registration = createRegistration(client, retry, { hostname: 'host', platform: 'linux' });
    await Promise.all(group.map(([version, at]) => registration.installation('codex', version, at)));
  }
  return service.state.installations.get('ins_codex')?.version;
}

test.each([
  ['a', 'b', 'c'],
  ['c', 'b', 'a'],
  ['b', 'c', 'a'],
])('of sessions sent at once the service knows the version of the latest: %s, %s, %s', async (...order) => {
  const sessions = order.map((version) => [version, NOW - YEAR + version.charCodeAt(0)] as const);
  expect(await registerAll(sessions)).toBe('c');
});

test('an old session that is imported later does not take the version of today away', async () => {
  expect(await registerAll([['2', NOW]], [['1', NOW - YEAR]])).toBe('2');
});

test('an old session tells the version where none is known, and a new one corrects it', async () => {
  expect(await registerAll([['1', NOW - YEAR]])).toBe('1');
  expect(await registerAll([['1', NOW - YEAR]], [['2', NOW]])).toBe('2');
});
