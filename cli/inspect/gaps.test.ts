import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { AGENTS } from '../agents/all.ts';
import { claudeCode } from '../agents/claude-code/claude-code.ts';
import { KNOWN_FOLDERS } from '../read/known-folders.ts';
import type { FormCount } from '../spool/forms.ts';
import { openSpool } from '../spool/open.ts';
import { makeFolder, write } from '../test/folder.ts';
import { setUpMachine } from '../test/machine.ts';
import { createContext, run } from '../test/program.ts';
import { openReading } from '../test/reading.ts';
import { placeFixtures } from '../test/real-service.ts';
import { prompt, sessionId, uuid } from '../test/transcripts.ts';
import { VERSION } from '../version.ts';
import { findGaps, reportGaps } from './gaps.ts';
import { createStateReport } from './report.ts';
import { inspectTranscripts } from './transcripts.ts';

/** A home folder with transcripts of every agent. */
function fillHome(): string {
  const home = makeFolder();
  placeFixtures(home);
  write(join(home, '.aider.chat.history.md'), '# aider chat started at 2026-11-20 09:00:00\n\n#### hello\n');
  return home;
}

const MINUTE_MS = 60_000;

test('a reader that is missing is named by status at once, and within a minute by the machine', async () => {
  const home = fillHome();
  const unnamed: string[] = [];
  for (const { id } of AGENTS) {
    const agents = AGENTS.filter((agent) => agent.id !== id);
    const name = KNOWN_FOLDERS.find(({ agent }) => agent === id)?.name;
    const { stdout } = await run(['status'], { home, context: { agents } });
    if (!stdout.includes(` of ${name}, and no reader of this version reads them`)) unnamed.push(`status: ${id}`);

    const clock = { now: Date.now() };
    const { context } = createContext({ home, context: { now: () => clock.now } });
    const spool = openSpool(':memory:');
    const report = createStateReport(context);
    const missing = async () => (await report({ spool, aheadMs: 0 })).gaps?.filter(({ kind }) => kind === 'agent');
    expect(await missing()).toEqual([]);
    clock.now += MINUTE_MS;
    Object.assign(context, { agents });
    const [gap, ...others] = (await missing()) ?? [];
    if (gap?.agent !== id || gap.count === 0 || others.length > 0) unnamed.push(`report: ${id}`);
    spool.close();
  }
  expect(unnamed).toEqual([]);
});

test('every agent that is not supported is in the table with a reason, until a reader covers its folder', () => {
  const supported = new Set<string>(AGENTS.map(({ id }) => id));
  for (const { agent, reason } of KNOWN_FOLDERS)
    expect([agent, reason !== undefined]).toEqual([agent, !supported.has(agent)]);
  const home = makeFolder();
  write(join(home, '.kimi/sessions/shop/1/wire.jsonl'), '{}');
  const kimi = { ...claudeCode, folder: () => join(home, '.kimi'), roots: () => [join(home, '.kimi/sessions')] };
  const gapsWith = (agents: typeof AGENTS) => {
    const { context } = createContext({ home, context: { agents } });
    const spool = openSpool(':memory:');
    onTestFinished(() => spool.close());
    return findGaps(context, spool, [], true).map(({ agent }) => agent);
  };
  expect(gapsWith(AGENTS)).toEqual(['kimi']);
  expect(gapsWith([...AGENTS, kimi])).toEqual([]);
});

/** Captures records of Claude Code, and returns the gaps. */
async function capture(lines: readonly string[], maxLineBytes?: number) {
  const root = makeFolder();
  write(join(root, 'shop', `${sessionId(1)}.jsonl`), `${lines.join('\n')}\n`);
  const { spool, read } = openReading(root, ':memory:', { ...(maxLineBytes !== undefined && { maxLineBytes }) });
  onTestFinished(() => spool.close());
  await read();
  const { context } = createContext({ home: makeFolder() });
  return { spool, gaps: (at = Date.now()) => findGaps({ ...context, now: () => at }, spool, [], true) };
}

const record = (id: number, more: object) => prompt(1, id, 'hello', { uuid: uuid(1, id), version: '2.2.0', ...more });

test('a type of record that no reader knows is named, and ordinary ones are not', async () => {
  const { gaps } = await capture([
    record(0, {}),
    record(1, { type: 'file-history-snapshot' }),
    record(2, { type: 'tape-drive' }),
    record(3, { type: 'tape-drive' }),
  ]);
  const gap = { kind: 'record', agent: 'claude-code', version: '2.2.0', count: 1 };
  expect(gaps()).toEqual([{ ...gap, name: 'Claude Code', what: 'tape-drive' }]);
  expect(reportGaps(gaps())).toEqual([gap]);
  expect(gaps(Date.now() + 31 * 86_400_000)).toEqual([]);
});

test('a line that is too long is named', async () => {
  const { gaps } = await capture([record(0, {}), record(1, { text: 'x'.repeat(5000) })], 2000);
  expect(reportGaps(gaps())).toEqual([{ kind: 'line', agent: 'claude-code', version: '2.2.0', count: 1 }]);
});

test('fields that come with an update of the agent are named if they are in many records', async () => {
  const { spool, gaps } = await capture([record(0, {})]);
  const add = (version: string, kind: FormCount['kind'], records: number, name = '') =>
    spool.transact(() => spool.forms.add({ agent: 'claude-code', version, kind, name, records }, VERSION, Date.now()));
  add('2.9.0', 'all', 1000);
  add('2.9.0', 'field', 900, 'slug');
  add('2.10.0', 'all', 200);
  add('2.10.0', 'field', 150, 'slug');
  add('2.10.0', 'field', 10, 'seldom');
  expect(gaps()).toEqual([]);
  add('2.10.0', 'field', 100, 'mood.name');
  expect(reportGaps(gaps())).toEqual([{ kind: 'field', agent: 'claude-code', version: '2.10.0', count: 1 }]);
  add('2.9.0', 'field', 1, 'mood.name');
  expect(gaps()).toEqual([]);
});

test('names that are data are neither kept as fields nor as types', async () => {
  const { spool } = await capture([
    record(0, { '/home/ada/secret.txt': 1, files: { 'a/b.ts': 1, name: 2 } }),
    record(1, { type: 'a\u0000b' }),
  ]);
  const names = spool.forms.list().map(({ kind, name }) => `${kind} ${name}`);
  expect(names).toEqual(expect.arrayContaining(['field files.name', 'record ']));
  expect(names.join()).not.toMatch(/ada|b\.ts|\0/);
});

/** Counts the calls of the work by name. */
function countCalls(names: readonly ('statSync' | 'readdirSync' | 'openSync' | 'readSync')[], work: () => void) {
  const calls: Record<string, number> = {};
  const originals = names.map((name) => [name, fs[name]] as const);
  for (const [name, original] of originals) {
    calls[name] = 0;
    Object.assign(fs, {
      [name](...given: never[]) {
        calls[name] = (calls[name] ?? 0) + 1;
        return (original as (...given: never[]) => unknown)(...given);
      },
    });
  }
  syncBuiltinESMExports();
  try {
    work();
  } finally {
    for (const [name, original] of originals) Object.assign(fs, { [name]: original });
    syncBuiltinESMExports();
  }
  return calls;
}

test('looking for gaps takes a listing of the home folder and of each folder that no reader reads, and opens no transcript', () => {
  const home = fillHome();
  for (let session = 0; session < 200; session++) {
    write(
      join(home, `.claude/projects/p${session % 10}`, `${sessionId(session)}.jsonl`),
      `${prompt(session, 0, 'x')}\n`,
    );
  }
  const { context } = createContext({ home });
  const spool = openSpool(':memory:');
  onTestFinished(() => spool.close());
  const { agents } = inspectTranscripts(context, spool, true);
  const calls = countCalls(['statSync', 'readdirSync', 'openSync', 'readSync'], () => {
    expect(findGaps(context, spool, agents, true)).toEqual([]);
  });
  // Most folders do not exist. Nothing grows with the number of transcripts.
  const unread = KNOWN_FOLDERS.filter(({ reason }) => reason !== undefined).flatMap(({ folders }) => folders);
  expect(calls.readdirSync).toBe(1 + unread.length);
  expect(calls).toMatchObject({ statSync: 0, openSync: 0, readSync: 0 });
});

test('a folder without a reader is counted up to a limit', () => {
  const home = makeFolder();
  for (let n = 0; n < 2100; n++) write(join(home, '.kimi/sessions/shop', `${n}.jsonl`), '');
  const { context } = createContext({ home });
  const spool = openSpool(':memory:');
  onTestFinished(() => spool.close());
  const calls = countCalls(['readdirSync'], () => {
    expect(findGaps(context, spool, [], true)).toEqual([expect.objectContaining({ agent: 'kimi', count: 1999 })]);
  });
  expect(calls.readdirSync).toBeLessThan(50);
});

test('the report has the numbers of all transcripts, and no name of a file', async () => {
  const { home, state, capture } = await setUpMachine();
  const add = (folder: string, session: number) =>
    write(
      join(home, '.claude/projects', folder, `${sessionId(session)}.jsonl`),
      `${prompt(session, 0, 'x', { cwd: join(home, folder) })}\n`,
    );
  add('shop', 2);
  add('private', 3);
  write(join(home, '.kimi/sessions/secret-project/1/wire.jsonl'), '{}');
  write(join(state, 'preferences.json'), JSON.stringify({ exclude: [join(home, 'private')] }));
  const { context } = createContext({ home });
  const report = await createStateReport(context)(undefined);
  expect(report.coverage).toEqual({ captured: 1, keptBack: 1, waiting: 1 });
  expect(report.gaps).toEqual([{ kind: 'agent', agent: 'kimi', count: 1 }]);
  expect(JSON.stringify(report)).not.toContain('secret-project');
  expect((await capture(['status'])).stdout).toContain(
    'Transcripts   4 seen: 1 captured, 1 kept back, 1 waiting, 1 not read\n',
  );
  await capture(['import']);
  expect((await createStateReport(context)(undefined)).coverage).toEqual({ captured: 2, keptBack: 1, waiting: 0 });
});

test('a daemon tells within a minute that it has captured everything, and then checks transcripts less often', async () => {
  const { home, capture } = await setUpMachine();
  const add = (session: number) =>
    write(
      join(home, '.claude/projects/shop', `${sessionId(session)}.jsonl`),
      `${prompt(session, 0, 'x', { cwd: join(home, 'shop') })}\n`,
    );
  add(2);
  const clock = { now: Date.now() };
  const { context } = createContext({ home, context: { now: () => clock.now } });
  const report = createStateReport(context);
  const captured = async () => {
    const spool = openSpool(join(home, 'state/spool.db'));
    try {
      return (await report({ spool, aheadMs: 0 })).coverage?.captured;
    } finally {
      spool.close();
    }
  };
  expect(await captured()).toBe(1);
  await capture(['import']);
  clock.now += MINUTE_MS;
  expect(await captured()).toBe(2);

  // A new transcript tells at which minutes all transcripts are checked.
  const checkedAt: number[] = [];
  let seen = 2;
  for (let minute = 2; minute <= 5; minute++) {
    add(minute + 1);
    await capture(['import']);
    clock.now += MINUTE_MS;
    const now = (await captured()) ?? 0;
    if (now > seen) checkedAt.push(minute);
    seen = now;
  }
  expect(checkedAt).toEqual([2, 4]);
});
