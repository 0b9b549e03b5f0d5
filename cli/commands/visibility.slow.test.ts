import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { makeFolder, write } from '../test/folder.ts';
import { type RunOptions, run } from '../test/program.ts';
import { startService } from '../test/service.ts';
import { prompt, sessionId } from '../test/transcripts.ts';

async function prepare() {
  const service = await startService();
  onTestFinished(service.stop);
  const home = makeFolder();
  write(
    join(home, '.claude/projects/shop', `${sessionId(1)}.jsonl`),
    `${prompt(1, 0, 'a secret plan', { cwd: home })}\n`,
  );
  const capture = (args: string[], more: Partial<RunOptions> = {}) =>
    run(args, { home, url: service.url, secret: 'sk_live_test', ...more });
  const seen = () => [...service.state.sessions.values()].map(({ visibility }) => visibility);
  return { home, service, capture, seen };
}

test('a person sets who sees new sessions, and the other settings stay', async () => {
  const { home, capture, seen } = await prepare();
  write(join(home, 'state/preferences.json'), '{"exclude":["~/taxes"]}');
  expect((await capture(['visibility'])).stdout).toContain('your organization');
  expect((await capture(['visibility', 'private'])).exitCode).toBe(0);
  expect((await capture(['visibility', 'nobody'])).exitCode).toBe(2);
  expect(JSON.parse((await capture(['visibility', '--json'])).stdout)).toMatchObject({ visibility: 'private' });
  await capture(['import']);
  expect(seen()).toEqual(['private']);
});

test('visibility does not promise more than the organization allows', async () => {
  const { capture } = await prepare();
  expect((await capture(['visibility'])).stdout).toContain('your organization and their repository decide');
  expect((await capture(['visibility', 'facts'])).stdout).toContain(
    'Fewer people see them where your organization or their repository',
  );
});

test('visibility shows who may see one session, even before it was sent, and changes nothing', async () => {
  const { capture, seen } = await prepare();
  expect((await capture(['visibility', sessionId(1)])).stdout).toContain('was not sent yet');
  await capture(['import']);
  expect((await capture(['visibility', sessionId(1)])).stdout).toContain('is team at the service');
  await capture(['visibility', sessionId(1), 'private']);
  const { stdout } = await capture(['visibility', sessionId(1), '--json']);
  expect(JSON.parse(stdout)).toMatchObject({ session: sessionId(1), visibility: 'private' });
  expect(seen()).toEqual(['private']);
});

test('an unknown word is answered with the three visibilities', async () => {
  const { capture } = await prepare();
  const { exitCode, stderr } = await capture(['visibility', 'privat']);
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining('team, facts or private')]);
});

test('a sent session is hidden at once, and only the dashboard shows it again', async () => {
  const { capture, seen } = await prepare();
  await capture(['import']);
  expect(seen()).toEqual(['team']);
  expect(await capture(['visibility', sessionId(1), 'facts'])).toMatchObject({ exitCode: 0 });
  expect(seen()).toEqual(['facts']);
  const { exitCode, stderr } = await capture(['visibility', sessionId(1), 'team']);
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining('dashboard')]);
  expect(seen()).toEqual(['facts']);
});

/** The command gives up after ten seconds. */
function shortenDeadlines(): void {
  const { timeout } = AbortSignal;
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => timeout.call(AbortSignal, ms / 20));
}

const failing: typeof fetch = () => Promise.reject(new TypeError('fetch failed'));

test.each<[string, Partial<RunOptions>]>([
  ['signed out', { variables: { CAPTURE_SECRET: '' } }],
  ['offline', { context: { fetch: failing, stop: AbortSignal.any([]) } }],
])('%s, the wish is stored without claiming success, and the next sender hides the session', async (_, more) => {
  const { capture, seen } = await prepare();
  await capture(['import']);
  shortenDeadlines();
  const { exitCode, stdout } = await capture(['visibility', sessionId(1), 'private'], more);
  vi.restoreAllMocks();
  expect([exitCode, stdout]).toEqual([0, expect.stringContaining('becomes private when')]);
  expect(seen()).toEqual(['team']);
  await capture(['import']);
  expect(seen()).toEqual(['private']);
});

test('the session of another person stays as it is, and the command says so', async () => {
  const { service, capture, seen } = await prepare();
  await capture(['import']);
  service.state.isOwn = false;
  const { exitCode, stderr } = await capture(['visibility', sessionId(1), 'private']);
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining('does not let this machine hide')]);
  expect(seen()).toEqual(['team']);
});

test('a part that cannot be hidden is reported', async () => {
  const { home, service, capture, seen } = await prepare();
  await capture(['import']);
  const [[key, first] = []] = service.state.sessions;
  if (first) first.status = 'completed';
  appendFileSync(
    join(home, '.claude/projects/shop', `${sessionId(1)}.jsonl`),
    `${prompt(1, 1, 'another plan', { cwd: home })}\n`,
  );
  await capture(['import']);
  expect(seen()).toEqual(['team', 'team']);
  service.state.sessions.delete(key ?? '');
  const { exitCode, stdout } = await capture(['visibility', sessionId(1), 'private']);
  expect([exitCode, stdout]).toEqual([0, expect.stringContaining('except for an earlier part')]);
  expect(seen()).toEqual(['private']);
});
