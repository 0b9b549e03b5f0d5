import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runProgram } from '../program.ts';
import { makeFolder, write } from '../test/folder.ts';
import { createContext, type RunOptions, run } from '../test/program.ts';
import { type FakeOptions, startService } from '../test/service.ts';
import { prompt, sessionId } from '../test/transcripts.ts';

/** A home with two captured sessions in two folders. `refuses` names events that the service refuses. */
async function prepare(options: FakeOptions = {}) {
  const service = await startService(options);
  onTestFinished(service.stop);
  const home = makeFolder();
  const say = (session: number, id: number, text: string, cwd: string) =>
    write(
      join(home, '.claude/projects/shop', `${sessionId(session)}.jsonl`),
      `${prompt(session, 0, text, { cwd })}\n${id > 0 ? `${prompt(session, id, `${text} ${id}`, { cwd })}\n` : ''}`,
    );
  say(1, 0, 'first \u001b[31mred', join(home, 'shop'));
  say(2, 0, 'second', join(home, 'else'));
  const capture = (args: string[], more: Partial<RunOptions> = {}) =>
    run(args, { home, url: service.url, secret: 'sk_live_test', ...more });
  const json = async (...args: string[]) => JSON.parse((await capture([...args, '--json'])).stdout);
  await capture(['import']);
  return { service, home, say, capture, json };
}

const failAppends: typeof fetch = (input, init) =>
  String(input).endsWith('/appends') ? Promise.reject(new TypeError('fetch failed')) : fetch(input, init);
const offline: Partial<RunOptions> = { context: { fetch: failAppends } };

test('sessions are listed from the latest to the oldest, without terminal escapes', async () => {
  const { capture, json, home } = await prepare();
  const { stdout } = await capture(['sessions']);
  expect(stdout).toMatch(
    /^SESSION .*TITLE\n0{5}abc-0002 +claude-code +\d+d +2 sent +else +second\n0{5}abc-0001 .* shop +first red\n$/,
  );
  const [latest] = (await json('sessions')).sessions;
  expect(latest).toMatchObject({
    ...{ agent: 'claude-code', session: sessionId(2), folder: join(home, 'else') },
    ...{ state: expect.stringMatching(/^(sent|closed)$/), eventsSent: 2, serviceIds: ['ses_000002'] },
  });
  expect(await json('sessions', '--agent', 'codex')).toMatchObject({ total: 0 });
  expect(await json('sessions', '--since', '1m')).toMatchObject({ total: 0 });
  expect(await capture(['sessions', '--agent', 'nobody'])).toMatchObject({ exitCode: 2 });
});

test('all facts of one session are shown, with its page in the dashboard', async () => {
  const { capture, json, home, service } = await prepare();
  const { stdout } = await capture(['sessions', sessionId(1)]);
  expect(stdout).toContain(`Session   claude-code ${sessionId(1)}\nTitle     first red\nFolder    ~/shop\n`);
  expect(stdout).toContain(`Service   ses_000001  ${service.url}/sessions/ses_000001\n`);
  expect(stdout).toContain('Visible   team: every member of the organization sees all of it\n');
  expect(stdout).toContain(`File      ~/.claude/projects/shop/${sessionId(1)}.jsonl, read to `);
  expect(await json('sessions', 'ses_000002')).toMatchObject({
    sessions: [
      {
        session: sessionId(2),
        dashboard: [`${service.url}/sessions/ses_000002`],
        files: [{ readBytes: expect.any(Number) }],
      },
    ],
  });
  await capture(['skip', sessionId(1)]);
  expect(await json('sessions', sessionId(1))).toMatchObject({ sessions: [{ state: 'skipped' }] });
  expect(await capture(['sessions', 'nothing'], { home })).toMatchObject({ exitCode: 2 });
});

test('sessions says so before anything was captured', async () => {
  const home = makeFolder();
  expect(await run(['sessions'], { home })).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('Nothing was'),
  });
  expect(JSON.parse((await run(['sessions', '--json'], { home })).stdout)).toEqual({ total: 0, sessions: [] });
  expect(existsSync(join(home, 'state'))).toBe(false);
});

test("open prints the address of this folder's session, and asks the service for the dashboard's address", async () => {
  const { capture, json, home, service } = await prepare();
  const here = { context: { folder: join(home, 'shop/deep') } };
  expect(await capture(['open', '--print'], here)).toMatchObject({
    exitCode: 0,
    stdout: `${service.url}/sessions/ses_000001\n`,
    stderr: '',
  });
  service.state.publicUrl = 'https://capture.example.com/';
  expect(await json('open', '--print', sessionId(2))).toMatchObject({
    url: 'https://capture.example.com/sessions/ses_000002',
    serviceId: 'ses_000002',
    opened: false,
  });
  service.state.publicUrl = 'javascript:alert(1)';
  expect(await json('open', '--print', sessionId(2))).toMatchObject({ url: `${service.url}/sessions/ses_000002` });
  await service.stop();
  expect(await json('open', '--print', sessionId(2))).toMatchObject({ url: `${service.url}/sessions/ses_000002` });
  expect(await capture(['open'], { context: { folder: join(home, 'nowhere') } })).toMatchObject({ exitCode: 2 });
});

test('open uses a browser if there is a screen, and says so if there is none', async () => {
  const { capture, home, service } = await prepare();
  const log = join(home, 'opened');
  const address = `${service.url}/sessions/ses_000001`;
  write(join(home, 'bin/xdg-open'), `#!/bin/sh\nprintf %s "$1" > ${log}\n`, 0o755);
  const PATH = `${join(home, 'bin')}:/usr/bin:/bin`;
  const none = await capture(['open', sessionId(1)], { variables: { PATH } });
  expect(none).toMatchObject({ exitCode: 0, stdout: `${address}\n`, stderr: expect.stringContaining('No browser') });
  const some = await capture(['open', sessionId(1)], { variables: { PATH, DISPLAY: ':0' } });
  expect(some).toMatchObject({ exitCode: 0, stdout: `${address}\n`, stderr: '' });
  expect(readFileSync(log, 'utf8')).toBe(address);
  write(join(home, 'bin/xdg-open'), '#!/bin/sh\nexit 3\n', 0o755);
  const failed = await capture(['open', sessionId(1)], { variables: { PATH, DISPLAY: ':0' } });
  expect(failed).toMatchObject({ exitCode: 0, stdout: `${address}\n`, stderr: expect.stringContaining('No browser') });
});

test('open reports an unsent session, and an unknown service', async () => {
  const { capture, say, home } = await prepare();
  say(3, 0, 'third', home);
  await capture(['import', '--patience', '0'], {
    context: { fetch: () => Promise.reject(new TypeError('fetch failed')) },
  });
  expect(await capture(['open', sessionId(3)])).toMatchObject({
    exitCode: 75,
    stderr: expect.stringContaining('was sent yet'),
  });
  expect(await run(['open'], { home: makeFolder() })).toMatchObject({ exitCode: 4 });
});

test('--waiting lists only sessions with waiting or refused events', async () => {
  const { capture, json, say, home } = await prepare({ refuses: ({ payload }) => payload.text === 'second' });
  say(1, 1, 'first \u001b[31mred', join(home, 'shop'));
  await capture(['import', '--patience', '0'], offline);
  expect(await json('sessions', '--waiting')).toMatchObject({
    total: 2,
    sessions: [
      { session: sessionId(2), eventsRefused: 1 },
      { session: sessionId(1), eventsWaiting: 1 },
    ],
  });
  expect((await capture(['sessions', '--waiting'])).stdout).toMatch(/ 1 sent, 1 refused .*\n.* 2 sent, 1 waiting /);
});

test('at any terminal width, a session takes one line, and wide characters take two cells', async () => {
  const { capture, say, home, service } = await prepare();
  const signedIn = { url: service.url, secret: 'sk_live_test' };
  say(3, 0, '日本語のとても長い題名です、画面に入りません', join(home, 'a/folder/with/a/long/name'));
  await capture(['import']);
  for (const columns of [40, 60, 70, 100]) {
    const { context, written } = createContext({ home, ...signedIn, isTTY: true, variables: { NO_COLOR: '1' } });
    await runProgram({ ...context, stdout: { ...context.stdout, columns } }, ['sessions']);
    const line = written.stdout.split('\n').find((text) => text.includes('日')) ?? '';
    expect(line).toMatch(columns === 40 ? /sent +日.*…$/ : /name +日.*…?$/);
    const cells = Array.from(line).reduce((sum, character) => sum + (character.charCodeAt(0) > 0x2e80 ? 2 : 1), 0);
    expect(cells).toBeLessThanOrEqual(columns);
  }
});

test('the latest sessions are listed, with the number of the others', async () => {
  const { capture, json, say, home } = await prepare();
  for (let session = 3; session <= 22; session++) say(session, 0, 'one more', home);
  await capture(['import']);
  expect((await capture(['sessions'])).stdout).toMatch(/\n2 more sessions: `capture sessions --all`\n$/);
  expect((await json('sessions', '--all')).sessions).toHaveLength(22);
});

test('refused events are dropped after a yes', async () => {
  const { capture, json } = await prepare({ refuses: ({ payload }) => payload.text === 'second' });
  const asked = await capture(['spool', 'drop'], { isTTY: true, input: 'n\n' });
  expect(asked).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('Throw 1 refused event away?') });
  expect(await json('sessions', '--waiting')).toMatchObject({ total: 1 });
  expect(await json('spool', 'drop', '--yes')).toEqual({ droppedEvents: 1 });
  expect(await json('spool', 'drop')).toEqual({ droppedEvents: 0 });
  expect((await capture(['sessions', '--waiting'])).stdout).toBe('Nothing waits, and nothing was refused.\n');
});

test('a deleted session is deleted at the service and no longer captured', async () => {
  const { service, capture, json, say, home } = await prepare();
  const [first] = service.state.sessions.values();
  expect(await capture(['delete', sessionId(1)])).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('no terminal'),
  });
  const asked = await capture(['delete', 'ses_000001'], { isTTY: true, input: 'n\n' });
  expect(asked).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('at the service, with 2 events?') });
  expect(service.state.sessions.size).toBe(2);

  Object.assign(first ?? {}, { status: 'completed' });
  say(1, 1, 'first \u001b[31mred', join(home, 'shop'));
  await capture(['import']);
  say(1, 2, 'first \u001b[31mred', join(home, 'shop'));
  await capture(['import', '--patience', '0'], offline);
  const away = { context: { fetch: () => Promise.reject(new TypeError('fetch failed')) } };
  const kept = expect.stringContaining('Nothing was deleted.');
  expect(await capture(['delete', 'ses_000001', '--yes'], away)).toMatchObject({ exitCode: 75, stderr: kept });
  service.state.secret = 'sk_live_other';
  expect(await capture(['delete', 'ses_000001', '--yes'])).toMatchObject({ exitCode: 4, stderr: kept });
  service.state.secret = 'sk_live_test';
  expect(await json('sessions', sessionId(1))).toMatchObject({ sessions: [{ state: 'waiting', eventsWaiting: 1 }] });
  expect(await json('delete', sessionId(1), '--yes')).toMatchObject({ session: sessionId(1), deletedAtService: 2 });
  expect([...service.state.sessions.keys()]).toEqual(['ses_000002']);
  expect(await capture(['open', '--print', sessionId(1)])).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('was deleted at the service'),
  });

  say(1, 3, 'first \u001b[31mred', join(home, 'shop'));
  await capture(['import']);
  await capture(['import'], { variables: { CAPTURE_HOME: makeFolder() } });
  expect([...service.state.sessions.keys()]).toEqual(['ses_000002']);
  expect(await json('sessions', sessionId(1))).toMatchObject({ sessions: [{ state: 'deleted', eventsWaiting: 0 }] });
});

test('a session on hold at the service is kept on the machine too, and is still captured', async () => {
  const { service, capture, json, say, home } = await prepare();
  service.state.held.add('ses_000001');
  say(1, 1, 'more', join(home, 'shop'));
  await capture(['import', '--patience', '0'], offline);
  const { exitCode, stderr } = await capture(['delete', sessionId(1), '--yes']);
  expect(exitCode).toBe(1);
  expect(stderr).toContain('a sentence about held');
  expect(stderr).toContain('This machine keeps the session too');
  expect(await json('sessions', sessionId(1))).toMatchObject({ sessions: [{ state: 'waiting', eventsWaiting: 1 }] });
  await capture(['import']);
  expect(service.state.sessions.get('ses_000001')?.events).toHaveLength(3);
});

test('deleting a session that the service never had says so', async () => {
  const { capture, say, home } = await prepare();
  say(3, 0, 'third', home);
  await capture(['import', '--patience', '0'], {
    context: {
      fetch: (input, init) =>
        init?.method === 'POST' ? Promise.reject(new TypeError('fetch failed')) : fetch(input, init),
    },
  });
  const { exitCode, stdout } = await capture(['delete', sessionId(3), '--yes']);
  expect([exitCode, stdout]).toEqual([0, expect.stringContaining('The service had')]);
});

test('sessions that were captured are not denied after a sign-out', async () => {
  const { home } = await prepare();
  for (const args of [['sessions'], ['sessions', sessionId(1)], ['spool', 'retry']]) {
    expect(await run(args, { home })).toMatchObject({ exitCode: 4, stderr: expect.stringContaining('not signed in') });
  }
});
