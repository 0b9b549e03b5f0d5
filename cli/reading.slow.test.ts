import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Trouble } from './read/discover.ts';
import { ownPlaces } from './read/places.ts';
import type { Progress } from './read/reader.ts';
import { LARGE_BYTES, openReader, READ_APART, readApart, type Task } from './reading.ts';
import { openSpool } from './spool/open.ts';
import { setUpDaemon } from './test/daemon.ts';
import { makeFolder, write } from './test/folder.ts';
import { createContext, run } from './test/program.ts';
import { openReading, spooledEvents } from './test/reading.ts';
import { startService } from './test/service.ts';
import { generateTranscripts, prompt, sessionId } from './test/transcripts.ts';

const SECRET = 'sk_live_test';
/** Shares the compile cache, so that the next process need not compile again. */
const variables = { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '' };

function setUp(home: string) {
  const { context } = createContext({ home, variables, secret: SECRET, url: 'http://127.0.0.1:1' });
  const spool = join(home, 'spool.db');
  const places = ownPlaces(context);
  const commits: number[] = [];
  const troubles: string[] = [];
  const choices = { patienceMs: 0, onTrouble: ({ path }: Trouble) => void troubles.push(path) };
  const onCommit = (bytes: number) => commits.push(bytes);
  const catchUp = (progress: Partial<Progress> = {}) =>
    readApart(context, { spool, places }, choices, { isStopped: () => false, onCommit, ...progress });
  return { context, spool, places, commits, troubles, catchUp };
}

/** Sessions of a megabyte each. */
function writeLarge(home: string, sessions: number): void {
  for (let session = 0; session < sessions; session++) {
    const lines = Array.from({ length: 100 }, (_, id) => prompt(session, id, `${id} ${'words '.repeat(1750)}`));
    write(join(home, '.claude/projects/shop', `${sessionId(session)}.jsonl`), `${lines.join('\n')}\n`);
  }
}

test('another process reads the same records as this one would, and leaves nothing to read', async () => {
  const home = makeFolder();
  generateTranscripts(home, { seed: 3, sessions: 4, records: 60 });
  const { spool: path, places, commits, catchUp } = setUp(home);
  expect(await catchUp()).toBe(true);
  const here = openReading('', ':memory:', { places });
  await here.read();
  const spool = openSpool(path);
  expect(spooledEvents(spool)).toEqual(spooledEvents(here.spool));
  expect(commits.length).toBeGreaterThan(0);
  expect(openReading('', path, { places }).findWork().bytes).toBe(0);
  spool.close();
});

test('another process masks the secrets of this machine and of the transcripts', async () => {
  const home = makeFolder();
  const token = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a';
  write(join(home, '.claude/projects/shop', `${sessionId(1)}.jsonl`), `${prompt(1, 0, `${SECRET} and ${token}`)}\n`);
  const { spool: path, catchUp } = setUp(home);
  expect(await catchUp()).toBe(true);
  const spool = openSpool(path);
  const [[event] = []] = spooledEvents(spool).values();
  expect(event?.payload.text).toMatch(/^\[REDACTED:known-value:\w+\] and \[REDACTED:github-token:\w+\]$/);
  spool.close();
});

test('a stopped process ends with a whole commit, and the rest is read later, once', async () => {
  const home = makeFolder();
  writeLarge(home, 8);
  const { spool: path, commits, catchUp } = setUp(home);
  expect(await catchUp({ isStopped: () => commits.length >= 1 })).toBe(false);
  const spool = openSpool(path);
  const { recordsCaptured: some } = spool.counters();
  expect(some).toBeGreaterThan(0);
  expect(some).toBeLessThan(800);
  expect(await catchUp()).toBe(true);
  expect(spool.counters()).toMatchObject({ recordsCaptured: 800, recordsRepeated: 0, recordsReplayed: 0 });
  spool.close();
});

test('the process ends when its parent is gone', async () => {
  const home = makeFolder();
  writeLarge(home, 8);
  const { context, spool, places } = setUp(home);
  const child = spawn(process.execPath, [...context.program.slice(1), READ_APART], {
    env: { ...context.variables },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const task: Task = {
    ...{ spool, consent: undefined, patienceMs: 0 },
    places: places.map(({ agent, root, below }) => ({ agent: context.agents.indexOf(agent), root, below })),
  };
  child.stdin.write(`${JSON.stringify(task)}\n`);
  await once(child.stdout, 'data');
  child.stdin.destroy();
  child.stdout.resume();
  expect((await once(child, 'exit'))[0]).toBe(0);
});

test('the process reports unreadable files and reads the others', async () => {
  const home = makeFolder();
  const project = join(home, '.claude/projects/shop');
  write(join(project, `${sessionId(1)}.jsonl`), `${prompt(1, 0, 'one')}\n`);
  symlinkSync('loop.jsonl', join(project, 'loop.jsonl'));
  const { spool: path, troubles, catchUp } = setUp(home);
  expect(await catchUp()).toBe(true);
  expect(troubles).toEqual([join(project, 'loop.jsonl')]);
  const spool = openSpool(path);
  expect(spool.counters().recordsCaptured).toBe(1);
  spool.close();
});

test('a process that cannot start, or fails, is an error', async () => {
  const home = makeFolder();
  const { context, catchUp } = setUp(home);
  await expect(catchUp({}).then(() => 'read')).resolves.toBe('read');
  write(join(home, 'spool.db'), 'no spool at all'.repeat(1000));
  await expect(catchUp()).rejects.toThrow(/is damaged/);
  Object.assign(context, { program: ['/nonexistent/capture'] });
  await expect(catchUp()).rejects.toThrow('ENOENT');
});

test('this process reads if the other one cannot, and always reads into a spool in memory', async () => {
  const home = makeFolder();
  const megabytes = Math.ceil(LARGE_BYTES / 1e6) + 1;
  writeLarge(home, megabytes);
  const { context, spool: path, places } = setUp(home);
  Object.assign(context, { program: ['/nonexistent/capture'] });
  const reasons: string[] = [];
  const choices = { patienceMs: 0, onTrouble: () => {}, onReadHere: (reason: string) => void reasons.push(reason) };
  const progress = { isStopped: () => false, onCommit: () => {} };
  const spool = openSpool(path);
  const reader = openReader(context, { folder: home, settings: {}, spool }, choices);
  const work = reader.findWork(places);
  expect(reader.isLarge(work)).toBe(true);
  expect(await reader.read(work, progress)).toBe(false);
  expect(reasons).toEqual([expect.stringContaining('ENOENT')]);
  expect(await reader.read(reader.findWork(places), progress)).toBe(true);
  expect(spool.counters().recordsCaptured).toBe(megabytes * 100);
  const kept = openSpool(':memory:');
  expect(openReader(context, { folder: home, settings: {}, spool: kept }, choices).isLarge(work)).toBe(false);
  kept.close();
  spool.close();
});

test('`capture import` of a backlog uses another process, with the same report', async () => {
  const service = await startService();
  onTestFinished(service.stop);
  const home = makeFolder();
  const megabytes = Math.ceil(LARGE_BYTES / 1e6) + 1;
  writeLarge(home, megabytes);
  const { exitCode, stdout } = await run(['import', '--json'], {
    ...{ home, variables, url: service.url, secret: SECRET },
  });
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ recordsCaptured: megabytes * 100, eventsSent: megabytes * 100 });
  expect([...service.eventsBySession().values()].map((events) => events.length)).toEqual(Array(megabytes).fill(100));
});

test('a daemon captures new records while another process reads a backlog', async () => {
  const { home, start, say, waitForTexts, service } = await setUpDaemon();
  const megabytes = Math.ceil(LARGE_BYTES / 1e6) + 1;
  writeLarge(home, megabytes);
  await start();
  say(500, 0, 'now');
  await waitForTexts(500, ['now']);
  await expect
    .poll(() => [...service.eventsBySession().values()].flat().length, { timeout: 60_000 })
    .toBe(megabytes * 100 + 1);
});

test('a small session is captured while a growing large one is still to be caught up with', async () => {
  // A backlog of gigabytes takes minutes.
  const endless = `while echo '{"readBytes": 0}' && read -r _; do sleep 0.1; done`;
  const { file, start, say, waitForTexts } = await setUpDaemon({ context: { program: ['sh', '-c', endless] } });
  const record = (id: number, text: string) => `${prompt(7, id, text)}\n`;
  const long = 'word '.repeat(2000);
  write(file(7), Array.from({ length: LARGE_BYTES / 10_000 + 1 }, (_, id) => record(id, long)).join(''));
  await start();
  let next = 10_000;
  const writing = setInterval(() => appendFileSync(file(7), record(next++, 'more')), 3);
  onTestFinished(() => clearInterval(writing));
  const said: string[] = [];
  for (const text of ['one', 'two', 'three', 'four', 'five']) {
    say(5, said.push(text), text);
    await waitForTexts(5, said);
  }
});
