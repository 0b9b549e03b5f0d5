import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { setUpDaemon } from '../test/daemon.ts';
import { write } from '../test/folder.ts';
import { run } from '../test/program.ts';
import { startRealService } from '../test/real-service.ts';
import { prompt, sessionId } from '../test/transcripts.ts';

/** A prompt that is written now. */
const now = (session: number, id: number, text: string, more: object = {}) =>
  prompt(session, id, text, { timestamp: new Date().toISOString(), ...more });

async function setUp() {
  const real = await startRealService();
  const path = join(real.home, '.claude/projects/shop', `${sessionId(1)}.jsonl`);
  const said: string[] = [];
  return {
    ...real,
    say(text: string): void {
      said.push(now(1, said.length, text, { cwd: real.home }));
      write(path, `${said.join('\n')}\n`);
    },
    texts: async () => (await real.events()).flatMap(({ payload }) => payload.text ?? []),
  };
}

test('records written during a pause are not captured, then or later, and verify reports no missing events', async () => {
  const { say, run: capture, texts, verify } = await setUp();
  say('before');
  await capture('import');
  expect(await capture('pause')).toMatchObject({
    exitCode: 0,
    stdout: 'Paused until `capture resume`. What agents write meanwhile is not captured later either.\n',
  });
  say('during');
  expect((await capture('import')).stdout).toContain('Capture is paused');
  const status = await capture('status');
  expect(status.stdout).toMatch(/^Warning {2}Capture is paused \(since .*\)\. What agents write is not captured/m);
  expect(status.stdout).toContain('→ capture resume');
  expect((await capture('resume')).stdout).toMatch(/^Captured again from now on\./);
  say('after');
  await capture('import');
  expect(await texts()).toEqual(['before', 'after']);
  expect(await verify()).toMatchObject({ exitCode: 0, findings: [], records: 2, keptBack: 1 });
  expect((await capture('resume')).stdout).toBe('Capture is not paused.\n');
});

test('verify reports events from before a pause that the service lost, even without a time', async () => {
  const real = await startRealService();
  const path = join(real.home, '.claude/projects/shop', `${sessionId(1)}.jsonl`);
  const queued = (content: string) => JSON.stringify({ type: 'queue-operation', operation: 'enqueue', content });
  const written = [now(1, 0, 'before'), queued('queued before'), queued('queued twice'), queued('queued twice')];
  write(path, `${written.join('\n')}\n`);
  await real.run('import');
  await real.run('pause');
  written.push(queued('queued during'), queued('queued twice'));
  write(path, `${written.join('\n')}\n`);
  await real.run('import');
  await real.run('resume');
  expect(await real.verify()).toMatchObject({ exitCode: 0, findings: [], records: 4, keptBack: 2 });
  const texts = (await real.events()).map(({ payload }) => JSON.stringify(payload));
  await real.remove(texts.findIndex((text) => text.includes('queued before')));
  expect(await real.verify()).toMatchObject({ exitCode: 1, findings: [{ problem: 'missing' }], keptBack: 2 });
});

test('a pause survives the loss of the decisions, and its records stay on the machine if the spool is lost', async () => {
  const { say, run: capture, texts, home } = await setUp();
  say('before');
  await capture('import');
  await capture('pause');
  const lose = (name: string) => {
    for (const end of ['-wal', '-shm', '']) rmSync(join(home, 'state', name + end), { force: true });
  };
  lose('decisions.db');
  say('during');
  await capture('import');
  expect((await capture('status')).stdout).toContain('Capture is paused');
  await capture('resume');
  lose('spool.db');
  await capture('import');
  expect(await texts()).toEqual(['before']);
});

test('a running daemon obeys a pause at once, and continues after it', async () => {
  const { home, state, start, file, waitForTexts, texts } = await setUpDaemon();
  await start();
  const variables = { CAPTURE_HOME: state };
  const said: string[] = [];
  const say = (id: number, text: string) => {
    said.push(now(1, id, text));
    write(file(1), `${said.join('\n')}\n`);
  };
  say(0, 'before');
  await waitForTexts(1, ['before']);
  await run(['pause', '--for', '1h'], { home, variables });
  say(1, 'during');
  await run(['resume'], { home, variables });
  say(2, 'after');
  await waitForTexts(1, ['before', 'after']);
  expect(texts(1)).not.toContain('during');
});

test('after the clock was set back during a pause, resume names the time from which records are captured', async () => {
  const { home } = await setUpDaemon();
  const at = (time: number) => ({ home, context: { now: () => time } });
  const begun = Date.now();
  await run(['pause'], at(begun));
  const { stdout } = await run(['resume'], at(begun - 3_600_000));
  expect(stdout).toMatch(
    /^The clock was set back during the pause, so .* is captured again from \d{4}-\S+ \d\d:\d\d on\./,
  );
});

test('an import after the clock was set back during a pause says until when records are left out', async () => {
  const { options, run: capture } = await setUp();
  await run(['pause'], { ...options, context: { now: () => Date.now() + 3_600_000 } });
  expect(await capture('resume')).toMatchObject({ exitCode: 0 });
  expect((await capture('import')).stdout).toMatch(/^The clock was set back, .* They are left out until \d{4}-/m);
});

test.each(['2', '2w', '0h', '-1h', 'soon', '400d'])('--for %s is refused with an example', async (time) => {
  const { home } = await setUpDaemon();
  expect(await run(['pause', '--for', time], { home })).toEqual({
    exitCode: 2,
    stdout: '',
    stderr: expect.stringMatching(/is not a time to pause for\.\nhint: Write minutes, hours or days/),
  });
});

test('a session that a pause kept back counts as the last active one', async () => {
  const { say, run: capture, home } = await setUp();
  write(join(home, '.claude/projects/shop', `${sessionId(2)}.jsonl`), `${prompt(2, 0, 'old', { cwd: home })}\n`);
  await capture('import');
  await capture('pause');
  say('during');
  await capture('import');
  expect((await capture('sessions')).stdout).toMatch(/claude-code .* nothing captured /);
  const { stdout } = await capture('skip', '--last', '--json');
  expect(JSON.parse(stdout)).toMatchObject({ session: sessionId(1), sent: 0 });
});

test('a run of `capture exec` during a pause warns that nothing is captured', async () => {
  const { run: capture, say, texts } = await setUp();
  await capture('pause', '--for', '2h');
  say('during');
  const { stderr } = await capture('exec', '--', process.execPath, '-e', '');
  expect(stderr).toContain('Capture is paused, so nothing of this run is captured.');
  expect(await texts()).toEqual([]);
});
