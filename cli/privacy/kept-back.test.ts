import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeFolder, removeFiles, write } from '../test/folder.ts';
import { run } from '../test/program.ts';
import { startService } from '../test/service.ts';
import { uuid } from '../test/transcripts.ts';

const DAY = 86_400_000;
const LAST_WEEK = Date.now() - 7 * DAY;

/** A home, a recording service, and transcripts of Claude Code. */
async function prepare() {
  const home = makeFolder();
  const service = await startService();
  onTestFinished(service.stop);
  const options = { home, url: service.url, secret: 'sk_live_test' };
  const record = (session: string, id: number, folder: string, text: string, time = Date.now()) => ({
    type: 'user',
    uuid: uuid(1, id, Number.parseInt(session, 16)),
    sessionId: session,
    cwd: join(home, folder),
    timestamp: new Date(time).toISOString(),
    message: { role: 'user', content: text },
  });
  const transcript = (session: string) => join(home, '.claude/projects/p', `${session}.jsonl`);
  return {
    home,
    service,
    options,
    record,
    transcript,
    append: (path: string, ...records: object[]) => {
      mkdirSync(join(path, '..'), { recursive: true });
      for (const one of records) writeFileSync(path, `${JSON.stringify(one)}\n`, { flag: 'a' });
    },
    preferences: (value: object) => write(join(home, 'state/preferences.json'), JSON.stringify(value)),
    capture: (...args: string[]) => run(args, options),
    /** Everything that arrived, as text. */
    arrived: () => JSON.stringify([...service.state.sessions.values(), ...service.state.environments.values()]),
    clone(folder: string, remote: string) {
      write(join(home, folder, '.git/config'), `[remote "origin"]\n\turl = ${remote}\n`);
      write(join(home, folder, '.git/HEAD'), 'ref: refs/heads/main\n');
    },
  };
}

test.each([
  [
    'a remote',
    (world: Awaited<ReturnType<typeof prepare>>) => world.preferences({ exclude: ['git.example.com/me/*'] }),
  ],
  [
    'a file in the repository',
    ({ home }: Awaited<ReturnType<typeof prepare>>) =>
      write(join(home, 'secret/.session-capture.json'), '{"capture": false}'),
  ],
])('a session excluded by %s stays here when its clone is deleted', async (_, exclude) => {
  const world = await prepare();
  const { home, record, append, transcript, capture, arrived } = world;
  world.clone('secret', 'https://git.example.com/me/diary.git');
  exclude(world);
  append(transcript('aaaa'), record('aaaa', 0, 'secret', 'kept-back one'));
  await capture('import');
  rmSync(join(home, 'secret'), { recursive: true });
  append(transcript('aaaa'), record('aaaa', 1, 'secret', 'kept-back two'));
  await capture('import');
  expect(arrived()).not.toContain('kept-back');
});

test('a session of a clone that was deleted before it was met stays here if repositories are excluded', async () => {
  const { preferences, record, append, transcript, capture, arrived } = await prepare();
  preferences({ exclude: ['git.example.com/me/*'] });
  append(transcript('aaaa'), record('aaaa', 0, 'gone', 'kept-back'));
  await capture('import');
  expect(arrived()).not.toContain('kept-back');
});

test('the last known facts of its repository decide about a deleted sub-folder', async () => {
  const { home, clone, preferences, record, append, transcript, capture, arrived } = await prepare();
  clone('shop', 'https://github.com/acme/shop.git');
  preferences({ exclude: ['git.example.com/me/*'] });
  append(transcript('aaaa'), record('aaaa', 0, 'shop', 'one'));
  await capture('import');
  rmSync(join(home, 'shop'), { recursive: true });
  append(transcript('bbbb'), record('bbbb', 0, 'shop/src', 'two'));
  await capture('import');
  expect(arrived()).toContain('two');
});

test.each([['link'], ['real']])('an excluded folder is left out by its %s path', async (named) => {
  const { home, preferences, record, append, transcript, capture, arrived } = await prepare();
  mkdirSync(join(home, 'real/deep'), { recursive: true });
  symlinkSync(join(home, 'real'), join(home, 'link'));
  preferences({ exclude: [`~/${named}`] });
  append(transcript('aaaa'), record('aaaa', 0, 'real/deep', 'kept-back one'));
  append(transcript('bbbb'), record('bbbb', 0, 'link/deep', 'kept-back two'));
  append(transcript('cccc'), record('cccc', 0, 'other', 'wanted'));
  await capture('import');
  expect(arrived()).toContain('wanted');
  expect(arrived()).not.toContain('kept-back');
});

test('a link to a deleted folder is followed', async () => {
  const { home, preferences, record, append, transcript, capture, arrived } = await prepare();
  symlinkSync(join(home, 'real'), join(home, 'link'));
  preferences({ exclude: ['~/link'] });
  append(transcript('aaaa'), record('aaaa', 0, 'real/deep', 'kept-back'));
  await capture('import');
  expect(arrived()).not.toContain('kept-back');
});

test('a link into a repository that forbids capturing is left out', async () => {
  const { home, record, append, transcript, capture, arrived } = await prepare();
  write(join(home, 'repo/.session-capture.json'), '{"capture": false}');
  mkdirSync(join(home, 'repo/deep'));
  symlinkSync(join(home, 'repo/deep'), join(home, 'link'));
  append(transcript('aaaa'), record('aaaa', 0, 'link', 'kept-back'));
  await capture('import');
  expect(arrived()).not.toContain('kept-back');
});

test('a folder that forbids capturing after the link to it is gone is left out', async () => {
  const { home, record, append, transcript, capture, arrived } = await prepare();
  mkdirSync(join(home, 'real'));
  symlinkSync(join(home, 'real'), join(home, 'link'));
  append(transcript('aaaa'), record('aaaa', 0, 'link', 'wanted'));
  await capture('import');
  rmSync(join(home, 'link'));
  write(join(home, 'real/.session-capture.json'), '{"capture": false}');
  append(transcript('aaaa'), record('aaaa', 1, 'link', 'kept-back'));
  await capture('import');
  expect(arrived()).toContain('wanted');
  expect(arrived()).not.toContain('kept-back');
});

test.each(['work/secret', 'secret', 'work/secret/deep'])(
  'the exclusion %s, neither path nor address, is refused',
  async (text) => {
    const { preferences, record, append, transcript, capture, arrived } = await prepare();
    preferences({ exclude: [text] });
    append(transcript('aaaa'), record('aaaa', 0, 'work/secret', 'kept-back'));
    const { exitCode, stderr } = await capture('import');
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(`~/${text}`)]);
    expect(arrived()).not.toContain('kept-back');
  },
);

test('a history that Gemini rewrites does not bring back messages from before capturing began', async () => {
  const { home, capture, arrived, append } = await prepare();
  const file = join(home, '.gemini/tmp/hash/chats/session-2026-01-01T00-00-abcdef12.jsonl');
  const at = (time: number) => new Date(time).toISOString();
  const message = (id: string, text: string, time: number) => ({
    id,
    timestamp: at(time),
    type: 'user',
    content: text,
  });
  append(
    file,
    {
      sessionId: 'abcdef12-0000-4000-8000-000000000000',
      projectHash: 'hash',
      startTime: at(LAST_WEEK),
      lastUpdated: at(LAST_WEEK),
    },
    message('m1', 'kept-back', LAST_WEEK),
  );
  utimesSync(file, LAST_WEEK / 1000, LAST_WEEK / 1000);
  await decide(home, 'none');
  await capture('import');
  append(
    file,
    { $set: { messages: [message('m1', 'kept-back', LAST_WEEK)], lastUpdated: at(Date.now()) } },
    message('m2', 'wanted', Date.now()),
  );
  await capture('import');
  expect(arrived()).toContain('wanted');
  expect(arrived()).not.toContain('kept-back');
});

/** A session of Codex and its fork. */
function codexFork(home: string) {
  const parent = '01900000-0000-7000-8000-000000000001';
  const fork = '01900000-0000-7000-8000-000000000002';
  const path = (id: string) => join(home, `.codex/sessions/2026/01/01/rollout-2026-01-01T00-00-00-${id}.jsonl`);
  const said = (text: string, time: number) => ({
    timestamp: new Date(time).toISOString(),
    type: 'event_msg',
    payload: { type: 'user_message', message: text },
  });
  const meta = (id: string, time: number, more = {}) => ({
    timestamp: new Date(time).toISOString(),
    type: 'session_meta',
    payload: { id, timestamp: new Date(time).toISOString(), cwd: home, cli_version: '0.120.0', ...more },
  });
  return { parent, fork, path, said, meta };
}

test('a fork of an older Codex does not bring back messages from before capturing began', async () => {
  const { home, capture, arrived, append } = await prepare();
  const { parent, fork, path, said, meta } = codexFork(home);
  append(path(parent), meta(parent, LAST_WEEK), said('kept-back', LAST_WEEK));
  utimesSync(path(parent), LAST_WEEK / 1000, LAST_WEEK / 1000);
  await decide(home, 'none');
  const now = Date.now();
  append(
    path(fork),
    meta(fork, now, { forked_from_id: parent }),
    meta(parent, now),
    said('kept-back', now),
    said('on', now + 5),
  );
  await capture('import');
  expect(arrived()).not.toContain('kept-back');
});

test('a fork of an excluded earlier session stays here, whatever folder it continues in', async () => {
  const { home, preferences, capture, arrived, append } = await prepare();
  const { parent, fork, path, said, meta } = codexFork(home);
  const folder = (name: string) => ({ cwd: join(home, name) });
  for (const name of ['secret', 'open']) mkdirSync(join(home, name));
  append(path(parent), meta(parent, LAST_WEEK, folder('secret')), said('kept-back one', LAST_WEEK));
  utimesSync(path(parent), LAST_WEEK / 1000, LAST_WEEK / 1000);
  preferences({ exclude: ['~/secret'] });
  await decide(home, 'none');
  const now = Date.now();
  const numbered = (ordinal: number, record: object) => ({ ...record, ordinal });
  append(
    path(fork),
    numbered(0, meta(fork, now, { ...folder('open'), forked_from_id: parent })),
    numbered(1, said('kept-back two', now)),
  );
  const other = fork.replace(/2$/, '3');
  append(path(other), meta(other, now, folder('open')), said('wanted', now));
  await capture('import');
  expect(arrived()).toContain('wanted');
  expect(arrived()).not.toContain('kept-back');
});

test('a summary of Qwen Code does not bring back messages from before capturing began', async () => {
  const { home, capture, arrived, append } = await prepare();
  const session = '01900000-0000-4000-8000-000000000003';
  const file = join(home, `.qwen/projects/p/chats/${session}.jsonl`);
  const entry = (uuid: string, time: number, more: object) => ({
    ...{ uuid, sessionId: session, cwd: home, timestamp: new Date(time).toISOString() },
    ...more,
  });
  const user = (text: string) => ({ type: 'user', message: { role: 'user', parts: [{ text }] } });
  append(file, entry('a', LAST_WEEK, user('kept-back')));
  utimesSync(file, LAST_WEEK / 1000, LAST_WEEK / 1000);
  await decide(home, 'none');
  await capture('import');
  const history = [{ role: 'user', parts: [{ text: 'kept-back' }] }];
  append(
    file,
    entry('b', Date.now(), {
      type: 'system',
      subtype: 'chat_compression',
      systemPayload: { info: { originalTokenCount: 9 }, compressedHistory: history },
    }),
    entry('c', Date.now(), user('wanted')),
  );
  await capture('import');
  expect(arrived()).toContain('wanted');
  expect(arrived()).not.toContain('kept-back');
});

test.each([['skip'], ['delete']])('a fork of a session is not captured after `%s`', async (command) => {
  const { record, append, transcript, capture, arrived } = await prepare();
  append(transcript('aaaa'), record('aaaa', 0, 'work', 'one'));
  await capture('import');
  await capture(command, 'aaaa', ...(command === 'delete' ? ['--yes'] : []));
  append(transcript('aaaa'), record('aaaa', 1, 'work', 'kept-back one'));
  const shared = readFileSync(transcript('aaaa'), 'utf8').trim().split('\n');
  const copies = shared.map((line) => ({ ...(JSON.parse(line) as object), sessionId: 'bbbb' }));
  append(transcript('bbbb'), ...copies, record('bbbb', 2, 'work', 'kept-back two'));
  append(transcript('cccc'), record('cccc', 0, 'work', 'wanted'));
  await capture('import');
  expect(arrived()).toContain('wanted');
  expect(arrived()).not.toContain('kept-back');
});

test('a fork of a skipped session is not captured, even if it copies only records that were left out', async () => {
  const { home, record, append, transcript, capture, arrived } = await prepare();
  append(transcript('aaaa'), record('aaaa', 0, 'work', 'kept-back one', LAST_WEEK));
  await decide(home, 'none');
  append(transcript('aaaa'), record('aaaa', 1, 'work', 'wanted'));
  await capture('import');
  // The notes of its first records are lost.
  removeFiles(join(home, 'state'), /^decisions\.db/);
  await capture('skip', 'aaaa');
  append(transcript('bbbb'), firstRecordOf(transcript('aaaa'), 'bbbb'));
  append(transcript('bbbb'), record('bbbb', 2, 'work', 'kept-back two'));
  await decide(home, 'none');
  await capture('import');
  expect(arrived()).toContain('wanted');
  expect(arrived()).not.toContain('kept-back');
});

test('a fork of an earlier session is no longer captured once that session is skipped', async () => {
  const { home, record, append, transcript, capture, arrived } = await prepare();
  append(transcript('aaaa'), record('aaaa', 0, 'work', 'kept-back one', LAST_WEEK));
  utimesSync(transcript('aaaa'), LAST_WEEK / 1000, LAST_WEEK / 1000);
  await decide(home, 'none');
  append(transcript('bbbb'), firstRecordOf(transcript('aaaa'), 'bbbb'));
  append(transcript('bbbb'), record('bbbb', 1, 'work', 'wanted'));
  await capture('import');
  await capture('skip', 'aaaa');
  append(transcript('bbbb'), record('bbbb', 2, 'work', 'kept-back two'));
  await capture('import');
  expect(arrived()).toContain('wanted');
  expect(arrived()).not.toContain('kept-back');
});

test('a session is captured although its fork was skipped before', async () => {
  const { home, record, append, transcript, capture, arrived } = await prepare();
  append(transcript('aaaa'), record('aaaa', 0, 'work', 'wanted one', LAST_WEEK));
  utimesSync(transcript('aaaa'), LAST_WEEK / 1000, LAST_WEEK / 1000);
  await decide(home, 'none');
  append(transcript('bbbb'), firstRecordOf(transcript('aaaa'), 'bbbb'));
  append(transcript('bbbb'), record('bbbb', 1, 'work', 'kept-back'));
  await capture('import', '--dry-run');
  await capture('skip', 'bbbb');
  await capture('import');
  await decide(home, 'all');
  append(transcript('aaaa'), record('aaaa', 2, 'work', 'wanted two'));
  await capture('import');
  expect(arrived()).toContain('wanted one');
  expect(arrived()).toContain('wanted two');
  expect(arrived()).not.toContain('kept-back');
});

test('a session is skipped before anything was captured', async () => {
  const { record, append, transcript, capture, arrived } = await prepare();
  append(transcript('aaaa'), record('aaaa', 0, 'work', 'kept-back'));
  append(transcript('bbbb'), record('bbbb', 0, 'work', 'wanted'));
  expect(await capture('skip', 'aaaa')).toMatchObject({ exitCode: 0 });
  await capture('import');
  expect(arrived()).toContain('wanted');
  expect(arrived()).not.toContain('kept-back');
});

test('the last session of a folder is skipped before anything was captured', async () => {
  const { home, options, record, append, transcript, capture, arrived } = await prepare();
  append(transcript('aaaa'), record('aaaa', 0, 'work', 'wanted', LAST_WEEK));
  utimesSync(transcript('aaaa'), LAST_WEEK / 1000, LAST_WEEK / 1000);
  append(transcript('bbbb'), record('bbbb', 0, 'work', 'kept-back'));
  const skipped = await run(['skip', '--last', '--json'], { ...options, context: { folder: join(home, 'work') } });
  expect(JSON.parse(skipped.stdout)).toMatchObject({ session: 'bbbb', skipped: true });
  await capture('import');
  expect(arrived()).toContain('wanted');
  expect(arrived()).not.toContain('kept-back');
});

test('setting up in an excluded repository reveals nothing of it', async () => {
  const { home, options, clone, preferences, service } = await prepare();
  clone('private/diary', 'https://git.example.com/robin/diary.git');
  preferences({ exclude: ['~/private'] });
  const context = { folder: join(home, 'private/diary') };
  await run(['init', '--yes', '--no-daemon', '--no-hooks'], { ...options, context });
  expect(JSON.stringify([...service.state.environments.values()])).toMatch(/box/);
  expect(JSON.stringify([...service.state.environments.values()])).not.toMatch(/diary|main/);
});

test('notes of Cursor’s hooks are deleted once they are captured', async () => {
  const { home, capture, arrived } = await prepare();
  const note = { hook_event_name: 'beforeSubmitPrompt', conversation_id: 'conv', prompt: 'plain text' };
  write(join(home, 'state/inbox/cursor/1.json'), JSON.stringify(note));
  await capture('import');
  expect(arrived()).toContain('plain text');
  const left = readdirSync(join(home, 'state'), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.jsonl?$/.test(name))
    .filter((name) => readFileSync(join(home, 'state', name), 'utf8').includes('plain text'));
  expect(left).toEqual([]);
});

/** A conversation of Cursor in a folder, reported by its hooks. */
const tell = (home: string, id: number, folder?: string) => {
  const roots = folder === undefined ? {} : { workspace_roots: [join(home, folder)] };
  const note = { hook_event_name: 'beforeSubmitPrompt', conversation_id: 'conv', prompt: `told ${id}`, ...roots };
  write(join(home, `state/inbox/cursor/${id}.json`), JSON.stringify(note));
};

test("notes from before a conversation's folder is known are captured later", async () => {
  const { home, preferences, capture, arrived } = await prepare();
  mkdirSync(join(home, 'open'));
  preferences({ exclude: ['~/secret'] });
  tell(home, 1);
  await capture('import');
  expect(arrived()).not.toContain('told');
  tell(home, 2, 'open');
  await capture('import');
  expect(arrived()).toContain('told 1');
  expect(arrived()).toContain('told 2');
});

test('notes of an excluded folder are not left on the disk', async () => {
  const { home, preferences, capture, arrived } = await prepare();
  mkdirSync(join(home, 'secret'));
  preferences({ exclude: ['~/secret'] });
  tell(home, 1, 'secret');
  await capture('import');
  expect(arrived()).not.toContain('told');
  expect(readFileSync(join(home, 'state/sessions/cursor/conv.jsonl'), 'utf8')).toBe('');
});

/** The person's answer to `capture init`. */
/** The first record that a fork copies. */
function firstRecordOf(path: string, sessionId: string): object {
  const [first = ''] = readFileSync(path, 'utf8').split('\n');
  return { ...(JSON.parse(first) as object), sessionId };
}

async function decide(home: string, history: string): Promise<void> {
  const service = await startService();
  const options = { home, url: service.url, secret: 'sk_live_test' };
  const args = ['init', '--yes', '--no-daemon', '--no-hooks', '--history', history];
  expect(await run(args, options)).toMatchObject({ exitCode: 0 });
  await service.stop();
}

test.each([
  ['is as old as the session', 0],
  ['begins with an older record', 60_000],
])('a fork that %s stays here if the session was skipped before anything of it was captured', async (_, older) => {
  const { record, append, transcript, capture, arrived } = await prepare();
  const said = [0, 1, 2, 3].map((id) => record('bbbb', id, 'work', 'kept-back', LAST_WEEK));
  append(transcript('bbbb'), ...said);
  utimesSync(transcript('bbbb'), LAST_WEEK / 1000, LAST_WEEK / 1000);
  expect(await capture('skip', 'bbbb')).toMatchObject({ exitCode: 0 });
  // The name sorts before the name of the session.
  const fork = transcript('aaaa');
  if (older > 0) append(fork, record('aaaa', 8, 'work', 'kept-back', LAST_WEEK - older));
  append(
    fork,
    ...said.map((one) => ({ ...one, sessionId: 'aaaa' })),
    record('aaaa', 9, 'work', 'kept-back', LAST_WEEK),
  );
  utimesSync(fork, LAST_WEEK / 1000, LAST_WEEK / 1000);
  append(transcript('cccc'), record('cccc', 0, 'work', 'wanted'));
  await capture('import');
  expect(arrived()).toContain('wanted');
  expect(arrived()).not.toContain('kept-back');
});

test('a session is captured although its fork was skipped before anything of both was captured', async () => {
  const { record, append, transcript, capture, arrived } = await prepare();
  append(transcript('bbbb'), record('bbbb', 0, 'work', 'wanted', LAST_WEEK));
  utimesSync(transcript('bbbb'), LAST_WEEK / 1000, LAST_WEEK / 1000);
  append(transcript('aaaa'), firstRecordOf(transcript('bbbb'), 'aaaa'));
  append(transcript('aaaa'), record('aaaa', 1, 'work', 'kept-back'));
  await capture('skip', 'aaaa');
  await capture('import');
  expect(arrived()).toContain('wanted');
  expect(arrived()).not.toContain('kept-back');
});

test('a fork is private if its session was made private before anything of it was captured', async () => {
  const { service, record, append, transcript, capture } = await prepare();
  const said = [0, 1].map((id) => record('bbbb', id, 'work', 'hello', LAST_WEEK));
  append(transcript('bbbb'), ...said);
  utimesSync(transcript('bbbb'), LAST_WEEK / 1000, LAST_WEEK / 1000);
  await capture('visibility', 'bbbb', 'private');
  append(transcript('aaaa'), ...said.map((one) => ({ ...one, sessionId: 'aaaa' })));
  append(transcript('aaaa'), record('aaaa', 9, 'work', 'more', LAST_WEEK));
  utimesSync(transcript('aaaa'), LAST_WEEK / 1000, LAST_WEEK / 1000);
  await capture('import');
  const visibilities = [...service.state.sessions.values()].map(({ body }) => body.visibility);
  expect(new Set(visibilities)).toEqual(new Set(['private']));
});
