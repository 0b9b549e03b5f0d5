import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeFolder, write } from './folder.ts';
import { setUpImports } from './importing.ts';
import { run } from './program.ts';
import { mode, sessionId } from './transcripts.ts';

test('a session is opened with its title and time, and completed after a quiet time', async () => {
  const { write, capture, service, sessions } = await setUpImports();
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

test('a session without times starts at the creation time of its file', async () => {
  const { home, capture, sessions } = await setUpImports();
  const file = join(home, '.claude/projects/shop', `${sessionId(1)}.jsonl`);
  write(file, `${mode(1)}\n`);
  const later = Date.now() + 24 * 60 * 60 * 1000;
  expect(await capture([], { context: { now: () => later } })).toMatchObject({ exitCode: 0 });
  const { birthtimeMs } = statSync(file);
  expect(sessions()).toMatchObject([{ body: { startedAt: new Date(Math.floor(birthtimeMs)).toISOString() } }]);
});

test('one request carries many batches', async () => {
  const { write, capture, service } = await setUpImports();
  write(
    1,
    Array.from({ length: 500 }, (_, n) => `prompt ${n}`),
  );
  await capture();
  const appends = service.state.requests.filter((request) => request.endsWith('/appends'));
  expect(appends.length).toBeGreaterThanOrEqual(1);
  expect(appends.length).toBeLessThanOrEqual(4);
});

test('one refused event is set aside, and the others of its batch are sent', async () => {
  const { write, capture, texts, home, service } = await setUpImports({
    refuses: ({ payload }) => payload.text === 'bad',
  });
  write(1, ['one', 'two', 'bad', 'three', 'four']);
  const { exitCode, stdout } = await capture();
  expect(exitCode).toBe(1);
  expect(stdout).toContain('refused 1 event');
  expect(texts(1)).toEqual(['one', 'two', 'three', 'four']);
  const status = await run(['status', '--json'], { home, url: service.url, secret: 'sk_live_test' });
  expect(JSON.parse(status.stdout)).toMatchObject({ counters: { eventsRefused: 1 }, refused: [{ events: 1 }] });
});

test('new records of a closed session open another session', async () => {
  const { write, capture, texts, sessions } = await setUpImports();
  write(1, ['one']);
  await capture();
  write(1, ['one', 'two']);
  expect(await capture()).toMatchObject({ exitCode: 0 });
  expect(texts(1)).toEqual(['one', 'two']);
  expect(sessions().map(({ events }) => events.length)).toEqual([1, 1]);
});

test.each(['closed', 'lost'])('a session that the service has %s continues in another session', async (how) => {
  const { write, capture, texts, service, sessions } = await setUpImports();
  const now = () => Date.parse('2026-03-01T09:10:00.000Z');
  write(1, ['one']);
  await capture([], { context: { now } });
  const [session] = sessions();
  if (how === 'lost') service.state.sessions.clear();
  else if (session) session.status = 'failed';
  write(1, ['one', 'two']);
  expect(await capture([], { context: { now } })).toMatchObject({ exitCode: 0 });
  expect(texts(1)).toEqual(how === 'lost' ? ['two'] : ['one', 'two']);
});

test('a revoked secret stops the upload without loss', async () => {
  const { write, capture, texts, service } = await setUpImports();
  write(1, ['one']);
  await capture();
  write(1, ['one', 'two']);
  service.state.secret = 'sk_live_another';
  const refused = await capture();
  expect(refused.exitCode).toBe(4);
  expect(refused.stderr).toContain('Sign in with `capture login`');
  // Another secret of the same organization continues where the first one stopped.
  expect(await capture([], { secret: 'sk_live_another' })).toMatchObject({ exitCode: 0 });
  expect(texts(1)).toEqual(['one', 'two']);
});

test('a secret of another organization starts from the beginning and sends no spooled events of the first', async () => {
  const { write, capture, service, sessions } = await setUpImports();
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

test('events are kept while the service is down and sent by the next import', async () => {
  const { write, capture, texts, service } = await setUpImports();
  write(1, ['one', 'two']);
  await service.stop();
  const down = await capture();
  expect(down.exitCode).toBe(75);
  expect(down.stderr).toMatch(/^error: 2 events could not be sent yet .*\nhint: Nothing is lost/);
  await service.restart();
  expect(await capture()).toMatchObject({ exitCode: 0 });
  expect(texts(1)).toEqual(['one', 'two']);
});

test('events of a disabled agent stay in the spool, and the command line reports them after one request', async () => {
  const { write, capture, service, texts, home } = await setUpImports();
  for (let session = 1; session <= 5; session++) write(session, ['one']);
  service.state.installationStatus = 'disabled';
  const disabled = await capture();
  expect(disabled).toMatchObject({ exitCode: 1 });
  expect(disabled.stderr).toContain('disabled the capture of claude-code');
  expect(service.state.requests.filter((request) => request.endsWith('/agents'))).toHaveLength(1);
  const status = await run(['status', '--json'], { home, url: service.url, secret: 'sk_live_test' });
  const { deferred } = JSON.parse(status.stdout) as {
    deferred: { session: string; sentence: string; until: string }[];
  };
  expect(deferred.map(({ session }) => session).sort()).toEqual([1, 2, 3, 4, 5].map(sessionId));
  expect(deferred[0]?.sentence).toContain('disabled the capture of claude-code');
  expect(Date.parse(deferred[0]?.until ?? '')).toBeGreaterThan(Date.now());
  service.state.installationStatus = 'active';
  expect(await capture()).toMatchObject({ exitCode: 0 });
  expect(texts(1)).toEqual(['one']);
});

test('a session refused for its title is sent without it, and a refused session does not stop the others', async () => {
  const refusesSession = ({ title, startedAt }: Record<string, unknown>) =>
    title === 'odd' || String(startedAt).startsWith('2026-03-01T09:02');
  const { write, capture, texts } = await setUpImports({ refusesSession });
  write(1, ['odd']);
  write(2, ['hopeless']);
  write(3, ['fine']);
  const { exitCode, stderr } = await capture();
  expect(exitCode).toBe(1);
  expect(stderr).toContain(`The service refuses session ${sessionId(2)} of claude-code`);
  expect([texts(1), texts(2), texts(3)]).toEqual([['odd'], [], ['fine']]);
});

test('an import waits out a rate limit and does not count it as an outage', async () => {
  let limited = 8;
  const random = () => (limited-- > 0 ? 0 : 1);
  const { write, capture, texts } = await setUpImports({ faults: { rateLimited: 0.5 }, random });
  write(1, ['one']);
  expect(await capture()).toMatchObject({ exitCode: 0 });
  expect(texts(1)).toEqual(['one']);
});

test('a revoked machine stops with a message', async () => {
  const { write, capture, service } = await setUpImports();
  write(1, ['one']);
  service.state.environmentStatus = 'revoked';
  const revoked = await capture();
  expect(revoked).toMatchObject({ exitCode: 1 });
  expect(revoked.stderr).toContain('This machine was revoked');
});

test('two concurrent imports repeat nothing', async () => {
  const { write, capture, texts, service } = await setUpImports();
  const words = Array.from({ length: 300 }, (_, n) => `prompt ${n}`);
  for (const session of [1, 2, 3]) write(session, words);
  const runs = await Promise.all([capture(['--patience', '20']), capture(['--patience', '20'])]);
  expect(runs.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
  for (const session of [1, 2, 3]) expect(texts(session)).toEqual(words);
  expect(service.state.sessions.size).toBe(3);
});

test("after a loss of capture's state, sending continues after the service's last event without duplicates", async () => {
  const { write, capture, texts, sessions } = await setUpImports();
  write(1, ['one', 'two', 'two']);
  await capture();
  const elsewhere = { variables: { CAPTURE_HOME: makeFolder() } };
  write(1, ['one', 'two', 'two', 'three']);
  expect(await capture([], elsewhere)).toMatchObject({ exitCode: 0 });
  expect(texts(1)).toEqual(['one', 'two', 'two', 'three']);
  // The first session was completed, so the second one continues it.
  const [first, second] = sessions();
  expect(second?.body.continues).toBe(first?.body.clientKey);
  expect(await capture([], elsewhere)).toMatchObject({ exitCode: 0 });
  expect(sessions()).toHaveLength(2);
});

test("after a loss of capture's state, events of completed sessions open no new session", async () => {
  const { write, capture, texts, sessions } = await setUpImports();
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

test('a session deleted at the service is not captured again', async () => {
  const { write, capture, texts, sessions, service } = await setUpImports();
  write(1, ['one']);
  await capture();
  service.state.deletedKeys.add(String(sessions()[0]?.body.clientKey));
  service.state.sessions.clear();
  write(1, ['one', 'two']);
  const again = { variables: { CAPTURE_HOME: makeFolder() } };
  expect(await capture([], again)).toMatchObject({ exitCode: 0 });
  expect(texts(1)).toEqual([]);
});

test('`capture spool retry` sends refused events again', async () => {
  const refusing = { is: true };
  const { write, capture, texts, home, service } = await setUpImports({
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

test('a service that refuses everything gets few requests, and no event is set aside', async () => {
  const refusing = { is: true };
  const { write, capture, texts, service } = await setUpImports({ refuses: () => refusing.is });
  for (const session of [1, 2, 3, 4, 5, 6])
    write(
      session,
      Array.from({ length: 40 }, (_, n) => `prompt ${n}`),
    );
  const refused = await capture();
  expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('The service refuses every event') });
  expect(service.state.requests.filter((request) => request.endsWith('/appends')).length).toBeLessThan(40);
  refusing.is = false;
  expect(await capture()).toMatchObject({ exitCode: 0 });
  expect([1, 2, 3, 4, 5, 6].map((session) => texts(session).length)).toEqual([40, 40, 40, 40, 40, 40]);
});

test('a text blocked by a firewall delays only its own session', async () => {
  const { write, capture, texts } = await setUpImports({ blocks: 'dropTables' });
  write(1, ['dropTables']);
  write(2, ['fine']);
  write(3, ['fine as well']);
  const result = await capture(['--patience', '5']);
  expect(result.exitCode).toBe(75);
  expect(result.stderr).toContain(`The text of session ${sessionId(1)} is blocked on the way`);
  expect([texts(1), texts(2), texts(3)]).toEqual([[], ['fine'], ['fine as well']]);
});

test('capture gives up on a session that the service repeatedly closes', async () => {
  const { write, capture, service } = await setUpImports();
  write(1, ['one']);
  service.state.closesAll = true;
  expect((await capture()).exitCode).toBe(1);
  expect(service.state.sessions.size).toBeLessThan(8);
});
