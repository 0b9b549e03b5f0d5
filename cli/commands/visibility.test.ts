import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
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

test('new sessions are as a person says, and the other settings stay', async () => {
  const { home, capture, seen } = await prepare();
  write(join(home, 'state/preferences.json'), '{"exclude":["~/taxes"]}');
  expect((await capture(['visibility'])).stdout).toContain('your organization');
  expect((await capture(['visibility', 'private'])).exitCode).toBe(0);
  expect((await capture(['visibility', 'nobody'])).exitCode).toBe(2);
  expect(JSON.parse((await capture(['visibility', '--json'])).stdout)).toMatchObject({ visibility: 'private' });
  await capture(['import']);
  expect(seen()).toEqual(['private']);
});

test('it does not promise that everybody sees what the organization may hide', async () => {
  const { capture } = await prepare();
  expect((await capture(['visibility'])).stdout).toContain('your organization and their repository decide');
  expect((await capture(['visibility', 'facts'])).stdout).toContain(
    'Fewer people see them where your organization or their repository',
  );
});

test('it says of one session who may see it, also before it was sent, and changes nothing', async () => {
  const { capture, seen } = await prepare();
  expect((await capture(['visibility', sessionId(1)])).stdout).toContain('was not sent yet');
  await capture(['import']);
  expect((await capture(['visibility', sessionId(1)])).stdout).toContain('is team at the service');
  await capture(['visibility', sessionId(1), 'private']);
  const { stdout } = await capture(['visibility', sessionId(1), '--json']);
  expect(JSON.parse(stdout)).toMatchObject({ session: sessionId(1), visibility: 'private' });
  expect(seen()).toEqual(['private']);
});

test('a word that is neither a session nor one of the three is answered with the three', async () => {
  const { capture } = await prepare();
  const { exitCode, stderr } = await capture(['visibility', 'privat']);
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining('team, facts or private')]);
});

test('a session that was sent is hidden at once, and is shown again by the dashboard only', async () => {
  const { capture, seen } = await prepare();
  await capture(['import']);
  expect(seen()).toEqual(['team']);
  expect(await capture(['visibility', sessionId(1), 'facts'])).toMatchObject({ exitCode: 0 });
  expect(seen()).toEqual(['facts']);
  const { exitCode, stderr } = await capture(['visibility', sessionId(1), 'team']);
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining('dashboard')]);
  expect(seen()).toEqual(['facts']);
});

const failing: typeof fetch = () => Promise.reject(new TypeError('fetch failed'));

test.each<[string, Partial<RunOptions>]>([
  ['signed out', { variables: { CAPTURE_SECRET: '' } }],
  ['offline', { context: { fetch: failing, stop: AbortSignal.any([]) } }],
])(
  '%s, it is noted and not claimed, and done by the next that sends, though nothing waits',
  async (_, more) => {
    const { capture, seen } = await prepare();
    await capture(['import']);
    const { exitCode, stdout } = await capture(['visibility', sessionId(1), 'private'], more);
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining('becomes private once')]);
    expect(seen()).toEqual(['team']);
    await capture(['import']);
    expect(seen()).toEqual(['private']);
  },
  30_000,
);

test('a session of somebody else stays as it is, and the person is told', async () => {
  const { service, capture, seen } = await prepare();
  await capture(['import']);
  service.state.isOwn = false;
  const { exitCode, stderr } = await capture(['visibility', sessionId(1), 'private']);
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining('does not let this machine hide')]);
  expect(seen()).toEqual(['team']);
});

test('where an earlier part of a session cannot be hidden, the person is told', async () => {
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
  expect([exitCode, stdout]).toEqual([0, expect.stringContaining('but for an earlier part')]);
  expect(seen()).toEqual(['private']);
});
