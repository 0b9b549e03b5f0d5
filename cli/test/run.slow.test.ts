import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { writeConsent } from '../privacy/consent.ts';
import { VERSION } from '../version.ts';
import { makeFolder, write } from './folder.ts';
import { run, start } from './program.ts';
import { startService } from './service.ts';
import { prompt, sessionId } from './transcripts.ts';

async function setUp() {
  const service = await startService();
  onTestFinished(service.stop);
  const home = makeFolder();
  const file = write(join(home, '.claude/projects/shop', `${sessionId(1)}.jsonl`), `${prompt(1, 0, 'one')}\n`);
  const options = { home, url: service.url, secret: 'sk_live_test' };
  await run(['login', '--secret-stdin', '--url', service.url], { home, input: 'sk_live_test' });
  writeConsent({ home, variables: { CAPTURE_HOME: join(home, 'state') } }, { since: 0, history: 'all' });
  const daemon = start(['run'], { home });
  onTestFinished(() => daemon.signal('SIGKILL'));
  const texts = () => (service.eventsBySession().get(sessionId(1)) ?? []).flatMap(({ payload }) => payload.text ?? []);
  await vi.waitFor(() => expect(texts()).toEqual(['one']), { timeout: 60_000 });
  return { service, options, daemon, file, texts };
}

test('capture run sends new records within moments, and after an outage of the service', async () => {
  const { service, options, daemon, file, texts } = await setUp();
  const written = performance.now();
  appendFileSync(file, `${prompt(1, 1, 'two')}\n`);
  await vi.waitFor(() => expect(texts()).toEqual(['one', 'two']), { timeout: 60_000, interval: 10 });
  expect(performance.now() - written).toBeLessThan(5000);

  await service.stop();
  appendFileSync(file, `${prompt(1, 2, 'three')}\n`);
  await vi.waitFor(() => expect(daemon.output()).toContain('warning: '), { timeout: 60_000 });
  await service.restart();
  await vi.waitFor(() => expect(texts()).toEqual(['one', 'two', 'three']), { timeout: 60_000 });

  const status = await run(['status', '--json'], options);
  expect(JSON.parse(status.stdout)).toMatchObject({ running: true, spooled: { events: 0 } });
  expect(service.state.heartbeats).toBeGreaterThan(0);
});

test('capture run refuses a second instance, allows imports meanwhile, and ends on SIGTERM', async () => {
  const { options, daemon, file, texts } = await setUp();
  const second = await run(['run'], options);
  expect(second).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('running already') });

  appendFileSync(file, `${prompt(1, 1, 'two')}\n`);
  expect(await run(['import'], options)).toMatchObject({ exitCode: 0 });
  expect(texts()).toEqual(['one', 'two']);

  expect(await daemon.end('SIGTERM')).toBe(0);
});

test('a revoked secret stops sending but not capturing; a new sign-in resumes', async () => {
  const { service, options, daemon, file, texts } = await setUp();
  service.state.secret = 'sk_live_another';
  appendFileSync(file, `${prompt(1, 1, 'two')}\n`);
  await vi.waitFor(() => expect(daemon.output()).toContain('Sign in with `capture login`'), { timeout: 60_000 });
  appendFileSync(file, `${prompt(1, 2, 'three')}\n`);
  const status = () => run(['status', '--json'], { ...options, secret: 'sk_live_another' });
  const spooled = async () => JSON.parse((await status()).stdout).spooled.events;
  await vi.waitFor(async () => expect(await spooled()).toBe(2), { timeout: 60_000 });
  expect(daemon.isRunning()).toBe(true);
  expect(texts()).toEqual(['one']);

  await run(['login', '--secret-stdin', '--url', service.url], { home: options.home, input: 'sk_live_another' });
  await vi.waitFor(() => expect(texts()).toEqual(['one', 'two', 'three']), { timeout: 60_000 });
});

test.runIf(existsSync('/dev/full'))('a failed write to stdout is a failure, but a closed pipe is not', () => {
  const main = join(import.meta.dirname, '../main.ts');
  const env = { ...process.env, HOME: makeFolder() };
  const exitCode = (to: string) =>
    spawnSync('bash', ['-c', `"$0" "$1" --help ${to}`, process.execPath, main], { env }).status;
  expect([exitCode('>/dev/full'), exitCode('>/dev/null'), exitCode(`| true; exit $\{PIPESTATUS[0]}`)]).toEqual([
    1, 0, 0,
  ]);
});

test.each(['version', '-v', '--version'])('capture %s prints its version', async (word) => {
  expect(await run([word], { home: makeFolder() })).toMatchObject({ exitCode: 0, stdout: `${VERSION}\n` });
});
