import { statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeFolder, write } from './folder.ts';
import { type RunOptions, run } from './program.ts';
import { type FakeOptions, startService } from './service.ts';
import { mode, prompt, sessionId } from './transcripts.ts';

async function setUp(options: FakeOptions = {}) {
  const service = await startService(options);
  onTestFinished(service.stop);
  const home = makeFolder();
  const file = (session: number) => join(home, '.claude/projects/shop', `${sessionId(session)}.jsonl`);
  return {
    service,
    home,
    /** Writes a session's file anew, with prompts of the given texts. */
    write(session: number, texts: string[], more: object = {}) {
      write(file(session), texts.map((text, id) => `${prompt(session, id, text, more)}\n`).join(''));
      // When it was written to last is a sign of life, too.
      const written = new Date('2026-03-01T09:05:00.000Z');
      utimesSync(file(session), written, written);
    },
    capture: (args: string[] = [], more: Partial<RunOptions> = {}) =>
      run(['import', '--patience', '0', ...args], { home, url: service.url, secret: 'sk_live_test', ...more }),
    texts: (session: number) =>
      (service.eventsBySession().get(sessionId(session)) ?? []).flatMap(({ payload }) => payload.text ?? []),
    sessions: () => [...service.state.sessions.values()],
  };
}

test('a session is opened with its title and time, and completed when it has been quiet', async () => {
  const { write, capture, service, sessions } = await setUp();
  write(1, ['Add a dark mode\nplease', 'thanks'], { cwd: '/home/dev/shop', gitBranch: 'main' });
  expect(await capture()).toMatchObject({ exitCode: 0, stderr: '' });
  expect(sessions()).toMatchObject([
    {
      body: {
        title: 'Add a dark mode',
        startedAt: '2026-03-01T09:01:00.000Z',
        repoRoot: '/home/dev/shop',
        gitBranch: 'main',
        agentId: 'claude-code',
      },
      status: 'completed',
      endedAt: '2026-03-01T09:01:01.000Z',
    },
  ]);
  expect([...service.state.environments.values()]).toMatchObject([{ hostname: 'box', platform: 'linux' }]);
});

test('a session that tells no time began when its file was made', async () => {
  const { home, capture, sessions } = await setUp();
  const file = join(home, '.claude/projects/shop', `${sessionId(1)}.jsonl`);
  write(file, `${mode(1)}\n`);
  const later = Date.now() + 24 * 60 * 60 * 1000;
  expect(await capture([], { context: { now: () => later } })).toMatchObject({ exitCode: 0 });
  const { birthtimeMs } = statSync(file);
  expect(sessions()).toMatchObject([{ body: { startedAt: new Date(Math.floor(birthtimeMs)).toISOString() } }]);
});

test('many batches make a request', async () => {
  const { write, capture, service } = await setUp();
  write(
    1,
    Array.from({ length: 500 }, (_, n) => `prompt ${n}`),
  );
  await capture();
  const appends = service.state.requests.filter((request) => request.endsWith('/appends'));
  expect(appends.length).toBeGreaterThanOrEqual(1);
  expect(appends.length).toBeLessThanOrEqual(4);
});

test('one refused event is set aside, the others of its batch are sent', async () => {
  const { write, capture, texts, home, service } = await setUp({ refuses: ({ payload }) => payload.text === 'bad' });
  write(1, ['one', 'two', 'bad', 'three', 'four']);
  const { exitCode, stdout } = await capture();
  expect(exitCode).toBe(1);
  expect(stdout).toContain('refused 1 event');
  expect(texts(1)).toEqual(['one', 'two', 'three', 'four']);
  const status = await run(['status', '--json'], { home, url: service.url, secret: 'sk_live_test' });
  expect(JSON.parse(status.stdout)).toMatchObject({ counters: { eventsRefused: 1 }, refused: [{ events: 1 }] });
});

test('records after the session was closed open another one', async () => {
  const { write, capture, texts, sessions } = await setUp();
  write(1, ['one']);
  await capture();
  write(1, ['one', 'two']);
  expect(await capture()).toMatchObject({ exitCode: 0 });
  expect(texts(1)).toEqual(['one', 'two']);
  expect(sessions().map(({ events }) => events.length)).toEqual([1, 1]);
});

test.each(['closed', 'forgotten'])(
  'a session that the service has %s meanwhile is continued in another one',
  async (how) => {
    const { write, capture, texts, service, sessions } = await setUp();
    const now = () => Date.parse('2026-03-01T09:10:00.000Z');
    write(1, ['one']);
    await capture([], { context: { now } });
    const [session] = sessions();
    if (how === 'forgotten') service.state.sessions.clear();
    else if (session) session.status = 'failed';
    write(1, ['one', 'two']);
    expect(await capture([], { context: { now } })).toMatchObject({ exitCode: 0 });
    expect(texts(1)).toEqual(how === 'forgotten' ? ['two'] : ['one', 'two']);
  },
);

test('a secret that was revoked stops the upload, and nothing is lost', async () => {
  const { write, capture, texts, service } = await setUp();
  write(1, ['one']);
  await capture();
  write(1, ['one', 'two']);
  service.state.secret = 'sk_live_another';
  const refused = await capture();
  expect(refused.exitCode).toBe(4);
  expect(refused.stderr).toContain('hint: Sign in with `capture login`');
  // Another secret of the same organization goes on where the first one stopped.
  expect(await capture([], { secret: 'sk_live_another' })).toMatchObject({ exitCode: 0 });
  expect(texts(1)).toEqual(['one', 'two']);
});

test('a secret of another organization starts anew, and gets nothing that was meant for the first', async () => {
  const { write, capture, service, sessions } = await setUp();
  write(1, ['one']);
  service.state.faults = { unavailable: 1 };
  expect(await capture()).toMatchObject({ exitCode: 75 });
  service.state.faults = {};
  service.state.organizationId = 'org_2';
  service.state.secret = 'sk_live_second';
  expect(await capture([], { secret: 'sk_live_second' })).toMatchObject({ exitCode: 0 });
  expect(sessions()).toHaveLength(1);
  service.state.organizationId = 'org_1';
  service.state.secret = 'sk_live_test';
  expect(await capture()).toMatchObject({ exitCode: 0 });
  expect(sessions().map(({ events }) => events.length)).toEqual([1, 1]);
});

test('while the service is down all is kept, and sent by the next import', async () => {
  const { write, capture, texts, service } = await setUp();
  write(1, ['one', 'two']);
  await service.stop();
  const down = await capture();
  expect(down.exitCode).toBe(75);
  expect(down.stderr).toMatch(/^error: 2 events could not be sent yet .*\nhint: Nothing is lost/);
  await service.restart();
  expect(await capture()).toMatchObject({ exitCode: 0 });
  expect(texts(1)).toEqual(['one', 'two']);
});

test('a disabled agent is left in the spool and told of', async () => {
  const { write, capture, service, texts } = await setUp();
  write(1, ['one']);
  service.state.installationStatus = 'disabled';
  const disabled = await capture();
  expect(disabled).toMatchObject({ exitCode: 1 });
  expect(disabled.stderr).toContain('disabled the capture of claude-code');
  service.state.installationStatus = 'active';
  expect(await capture()).toMatchObject({ exitCode: 0 });
  expect(texts(1)).toEqual(['one']);
});

test('a session that is refused for its title goes without; one that is refused at all does not stop the others', async () => {
  const refusesSession = ({ title, startedAt }: Record<string, unknown>) =>
    title === 'odd' || String(startedAt).startsWith('2026-03-01T09:02');
  const { write, capture, texts } = await setUp({ refusesSession });
  write(1, ['odd']);
  write(2, ['hopeless']);
  write(3, ['fine']);
  const { exitCode, stderr } = await capture();
  expect(exitCode).toBe(1);
  expect(stderr).toContain(`The service refuses session ${sessionId(2)} of claude-code`);
  expect([texts(1), texts(2), texts(3)]).toEqual([['odd'], [], ['fine']]);
});

test('a rate limit is waited for, however long, and is no outage', async () => {
  let limited = 8;
  const random = () => (limited-- > 0 ? 0 : 1);
  const { write, capture, texts } = await setUp({ faults: { rateLimited: 0.5 }, random });
  write(1, ['one']);
  expect(await capture()).toMatchObject({ exitCode: 0 });
  expect(texts(1)).toEqual(['one']);
});

test('a revoked machine stops and says so', async () => {
  const { write, capture, service } = await setUp();
  write(1, ['one']);
  service.state.environmentStatus = 'revoked';
  const revoked = await capture();
  expect(revoked).toMatchObject({ exitCode: 1 });
  expect(revoked.stderr).toContain('This machine was revoked');
});

/** A fork as newer Claude Code writes it: what it was asked to do, then the records of its parent under their ids. */
function forkOf(parent: number, fork: number, texts: string[], more: object = {}): string {
  const place = { cwd: '/home/dev/shop', gitBranch: 'main', sessionId: sessionId(fork), ...more };
  const timestamp = new Date(Date.parse('2026-03-01T09:00:00.000Z') + fork * 60_000).toISOString();
  const asked = JSON.stringify({
    type: 'queue-operation',
    operation: 'enqueue',
    timestamp,
    sessionId: sessionId(fork),
  });
  const copied = texts.map((text, id) => prompt(parent, id, text, place));
  return [mode(fork), asked, ...copied, prompt(fork, 3, 'another way', place)].join('\n');
}

test('a fork that does not say so is one of the session whose records it begins with', async () => {
  const { home, write: writeSession, capture, texts, sessions } = await setUp();
  writeSession(1, ['one', 'two'], { cwd: '/home/dev/shop', gitBranch: 'main' });
  write(join(home, '.claude/projects/shop', `${sessionId(2)}.jsonl`), forkOf(1, 2, ['one', 'two']));
  expect(await capture()).toMatchObject({ exitCode: 0 });
  expect(texts(2)).toEqual(['another way']);
  const [parent, fork] = sessions();
  expect(fork?.body).toMatchObject({
    forkedFrom: parent?.body.clientKey,
    repoRoot: '/home/dev/shop',
    gitBranch: 'main',
  });
  expect(parent?.body.forkedFrom).toBeUndefined();
});

test('a fork that was captured first makes no fork of its parent, and one that names its parent is believed', async () => {
  const { home, write: writeSession, capture, sessions } = await setUp();
  const folder = join(home, '.claude/projects/shop');
  write(join(folder, `${sessionId(2)}.jsonl`), forkOf(1, 2, ['one', 'two']));
  expect(await capture()).toMatchObject({ exitCode: 0 });
  writeSession(1, ['one', 'two', 'three']);
  const said = { forkedFrom: { sessionId: sessionId(2) } };
  write(join(folder, `${sessionId(3)}.jsonl`), forkOf(1, 3, ['one', 'two'], said));
  expect(await capture()).toMatchObject({ exitCode: 0 });
  const [first, parent, third] = sessions();
  expect(parent?.body.forkedFrom).toBeUndefined();
  expect(third?.body.forkedFrom).toBe(first?.body.clientKey);
});

test('a fork that was captured alone keeps its beginning, and its parent is whole all the same', async () => {
  const { home, capture, texts, sessions } = await setUp();
  const lay = (session: number, lines: string[]) =>
    write(
      join(home, '.claude/projects/shop', `${sessionId(session)}.jsonl`),
      lines.map((line) => `${line}\n`).join(''),
    );
  const said = { sessionId: sessionId(2), forkedFrom: { sessionId: sessionId(1) } };
  const fork = [prompt(1, 0, 'one', said), prompt(1, 1, 'two', said), prompt(2, 3, 'another way', said)];
  const parent = ['one', 'two', 'three'].map((text, id) => prompt(1, id, text));
  lay(2, fork);
  expect(await capture()).toMatchObject({ exitCode: 0 });
  lay(1, parent);
  expect(await capture()).toMatchObject({ exitCode: 0 });
  // Both are read again from their beginning.
  lay(2, [mode(2), ...fork]);
  lay(1, [mode(1), ...parent]);
  expect(await capture()).toMatchObject({ exitCode: 0 });
  expect(texts(2)).toEqual(['one', 'two', 'another way']);
  expect(texts(1)).toEqual(['one', 'two', 'three']);
  const [first, second] = sessions();
  expect(first?.body.forkedFrom).toBe(second?.body.clientKey);
});

test('two imports at once repeat nothing', async () => {
  const { write, capture, texts, service } = await setUp();
  const words = Array.from({ length: 300 }, (_, n) => `prompt ${n}`);
  for (const session of [1, 2, 3]) write(session, words);
  const runs = await Promise.all([capture(['--patience', '20']), capture(['--patience', '20'])]);
  expect(runs.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
  for (const session of [1, 2, 3]) expect(texts(session)).toEqual(words);
  expect(service.state.sessions.size).toBe(3);
});

test('whoever lost the state of capture doubles nothing, and goes on where the service is', async () => {
  const { write, capture, texts, sessions } = await setUp();
  write(1, ['one', 'two', 'two']);
  await capture();
  const elsewhere = { variables: { CAPTURE_HOME: makeFolder() } };
  write(1, ['one', 'two', 'two', 'three']);
  expect(await capture([], elsewhere)).toMatchObject({ exitCode: 0 });
  expect(texts(1)).toEqual(['one', 'two', 'two', 'three']);
  // The first was completed: what came later continues it.
  const [first, second] = sessions();
  expect(second?.body.continues).toBe(first?.body.clientKey);
  expect(await capture([], elsewhere)).toMatchObject({ exitCode: 0 });
  expect(sessions()).toHaveLength(2);
});

test('whoever lost the state of capture opens no session for what completed ones hold', async () => {
  const { write, capture, texts, sessions } = await setUp();
  write(1, ['one', 'two', 'two']);
  await capture();
  write(1, ['one', 'two', 'two', 'three']);
  await capture();
  for (const folder of [makeFolder(), makeFolder()]) {
    const elsewhere = { variables: { CAPTURE_HOME: folder } };
    expect(await capture([], elsewhere)).toMatchObject({ exitCode: 0 });
    expect(sessions()).toHaveLength(2);
  }
  const elsewhere = { variables: { CAPTURE_HOME: makeFolder() } };
  await capture([], elsewhere);
  write(1, ['one', 'two', 'two', 'three', 'two']);
  await capture([], elsewhere);
  expect(texts(1)).toEqual(['one', 'two', 'two', 'three', 'two']);
  expect(sessions()).toHaveLength(3);
});

test('a session that was deleted at the service is not captured again', async () => {
  const { write, capture, texts, sessions, service } = await setUp();
  write(1, ['one']);
  await capture();
  service.state.deletedKeys.add(String(sessions()[0]?.body.clientKey));
  service.state.sessions.clear();
  write(1, ['one', 'two']);
  const again = { variables: { CAPTURE_HOME: makeFolder() } };
  expect(await capture([], again)).toMatchObject({ exitCode: 0 });
  expect(texts(1)).toEqual([]);
});

test('what was refused is sent again once a person says so', async () => {
  const refusing = { is: true };
  const { write, capture, texts, home, service } = await setUp({
    refuses: ({ payload }) => refusing.is && payload.text === 'bad',
  });
  write(1, ['one', 'bad']);
  await capture();
  refusing.is = false;
  expect(await capture()).toMatchObject({ exitCode: 0 });
  expect(texts(1)).toEqual(['one']);
  expect(await run(['spool', 'retry'], { home, url: service.url, secret: 'sk_live_test' })).toMatchObject({
    exitCode: 0,
  });
  await capture();
  expect(texts(1)).toEqual(['one', 'bad']);
});

test('a service that refuses everything gets few requests, and nothing is set aside', async () => {
  const refusing = { is: true };
  const { write, capture, texts, service } = await setUp({ refuses: () => refusing.is });
  for (const session of [1, 2, 3, 4, 5, 6])
    write(
      session,
      Array.from({ length: 40 }, (_, n) => `prompt ${n}`),
    );
  const refused = await capture();
  expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('Everything that is sent is refused') });
  expect(service.state.requests.filter((request) => request.endsWith('/appends')).length).toBeLessThan(40);
  refusing.is = false;
  expect(await capture()).toMatchObject({ exitCode: 0 });
  expect([1, 2, 3, 4, 5, 6].map((session) => texts(session).length)).toEqual([40, 40, 40, 40, 40, 40]);
});

test('a text that a firewall dislikes holds up its own session alone', async () => {
  const { write, capture, texts } = await setUp({ blocks: 'dropTables' });
  write(1, ['dropTables']);
  write(2, ['fine']);
  write(3, ['fine as well']);
  const result = await capture(['--patience', '5']);
  expect(result.exitCode).toBe(75);
  expect(result.stderr).toContain(`What session ${sessionId(1)} says does not get through`);
  expect([texts(1), texts(2), texts(3)]).toEqual([[], ['fine'], ['fine as well']]);
});

test('a session that the service closes again and again is left alone', async () => {
  const { write, capture, service } = await setUp();
  write(1, ['one']);
  service.state.closesAll = true;
  expect((await capture()).exitCode).toBe(1);
  expect(service.state.sessions.size).toBeLessThan(8);
});
