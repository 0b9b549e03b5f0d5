import { appendFileSync, copyFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createRedactor } from '../../redact/redactor.ts';
import { codex } from '../agents/codex/codex.ts';
import { readEvents } from '../upload/refusals.ts';
import { makeFolder, write } from './folder.ts';
import { openReading, spooledEvents, textsOf } from './reading.ts';
import { mode, prompt, sessionId } from './transcripts.ts';

const session = sessionId(1);
const lines = (...all: string[]) => all.map((line) => `${line}\n`).join('');

function setUp(content: string) {
  const root = join(makeFolder(), 'root');
  const file = write(join(root, 'project', `${session}.jsonl`), content);
  return { root, file, ...openReading(root) };
}

const one = prompt(1, 1, 'one');
const two = prompt(1, 2, 'two');
const three = prompt(1, 3, 'three');

test('a rewritten file gives only its new records', async () => {
  const { file, read, spool } = setUp(lines(one, mode(1), mode(1)));
  await read();
  writeFileSync(file, lines(mode(1), one, mode(1), mode(1), two));
  await read();
  // Three equal lines are three records: two were captured before.
  expect(textsOf(spool, session).slice(3)).toEqual(['session.meta', 'two'].map(() => expect.any(String)));
  expect(textsOf(spool, session).at(-1)).toBe('two');
  expect(spool.counters()).toMatchObject({ recordsCaptured: 5, recordsRepeated: 3 });
});

test('a truncated file that grows again gives only its new records', async () => {
  const { file, read, spool } = setUp(lines(one, two));
  await read();
  writeFileSync(file, lines(one));
  await read();
  appendFileSync(file, lines(three));
  await read();
  writeFileSync(file, '');
  await read();
  writeFileSync(file, lines(two, one, three));
  await read();
  expect(textsOf(spool, session).filter((text) => /one|two|three/.test(text))).toEqual(['one', 'two', 'three']);
});

test('a file that moves to another folder keeps its cursor', async () => {
  const { root, file, read, findWork, spool } = setUp(lines(one, mode(1)));
  await read();
  mkdirSync(join(root, 'other'));
  renameSync(file, join(root, 'other', `${session}.jsonl`));
  expect(findWork().bytes).toBe(0);
  appendFileSync(join(root, 'other', `${session}.jsonl`), lines(two));
  expect(findWork().bytes).toBe(two.length + 1);
  await read();
  expect(spool.counters()).toMatchObject({ recordsCaptured: 3, recordsRepeated: 0 });
  expect(spool.files.ofSession('claude-code', session).map(({ path }) => path)).toEqual([`other/${session}.jsonl`]);
});

test('a file that disappears and reappears repeats nothing', async () => {
  const { file, read, spool } = setUp(lines(one, mode(1)));
  await read();
  copyFileSync(file, `${file}.kept`);
  rmSync(file);
  await read();
  copyFileSync(`${file}.kept`, file);
  await read();
  expect(spool.counters()).toMatchObject({ recordsCaptured: 2, recordsRepeated: 0 });
});

test('a copy gives only the records that the original lacks', async () => {
  const { root, read, spool } = setUp(lines(one, mode(1)));
  await read();
  write(join(root, 'copy', `${session}.jsonl`), lines(one, mode(1), mode(1)));
  await read();
  expect(spool.counters()).toMatchObject({ recordsCaptured: 3, recordsRepeated: 0 });
});

test('a fork gives only its own records', async () => {
  const { root, read, spool } = setUp(lines(one, two));
  write(join(root, 'project', `${sessionId(2)}.jsonl`), lines(one, two, prompt(2, 3, 'of the fork')));
  await read();
  expect(textsOf(spool, session)).toContain('two');
  expect(textsOf(spool, sessionId(2)).filter((text) => text !== 'session.meta')).toEqual(['of the fork']);
  expect(spool.counters()).toMatchObject({ recordsReplayed: 2 });
});

test('a fork captured before its parent keeps the shared records, and the parent still has them all', async () => {
  const { root, file, read, spool } = setUp('');
  const said = { sessionId: sessionId(2), forkedFrom: { sessionId: session } };
  const fork = [prompt(1, 1, 'one', said), prompt(1, 2, 'two', said), prompt(2, 9, 'another way', said)];
  const forkFile = write(join(root, 'project', `${sessionId(2)}.jsonl`), lines(...fork));
  await read();
  writeFileSync(file, lines(one, two, three));
  await read();
  // A new first record makes the reader read both files again from the beginning.
  writeFileSync(forkFile, lines(mode(2), ...fork));
  writeFileSync(file, lines(mode(1), one, two, three));
  await read();
  const textsIn = (of: string) => textsOf(spool, of).filter((text) => !/^(mode|session\.meta)$/.test(text));
  expect(textsIn(sessionId(2))).toEqual(['one', 'two', 'another way']);
  expect(textsIn(session)).toEqual(['one', 'two', 'three']);
});

test('joined, torn and binary lines lose nothing', async () => {
  const torn = one.slice(0, 40);
  const binary = Buffer.from([0xff, 0x00, 0xfe, 0x41]);
  const { file, read, spool } = setUp(`${one}${two}\n${torn}${three}\n\u0000\u0000\n`);
  appendFileSync(file, Buffer.concat([binary, Buffer.from('\n')]));
  await read();
  const events = spooledEvents(spool).get(session) ?? [];
  const raw = events.filter(({ eventType }) => eventType === 'unreadable').map(({ payload }) => payload);
  expect(textsOf(spool, session).filter((text) => /^(one|two|three)$/.test(text))).toEqual(['one', 'two', 'three']);
  expect(raw).toMatchObject([
    { raw: torn, encoding: 'utf8', reason: 'not a JSON object' },
    { raw: binary.toString('base64'), encoding: 'base64' },
  ]);
});

test('numbers that a double cannot represent keep their digits', async () => {
  const number = '12345678901234567890.10';
  const { read, spool } = setUp(`${one.slice(0, -1)},"cost":${number},"much":1e400,"none":-0}\n`);
  await read();
  const { events } = { events: [...spooledEvents(spool).values()].flat() };
  expect(events.length).toBeGreaterThan(0);
  const [waiting] = spool.batches.perSession();
  const [batch] = spool.batches.ofSession(waiting?.session ?? 0);
  expect(batch && readEvents(batch).join()).toContain(`"cost":${number},"much":1e400,"none":-0`);
});

test('a folder with the name of a transcript does not stop the reading of other files', async () => {
  const { root, read, spool, troubles } = setUp(lines(one));
  mkdirSync(join(root, 'project', `${sessionId(3)}.jsonl`));
  await read();
  expect(troubles).toEqual([]);
  expect(spool.counters()).toMatchObject({ recordsCaptured: 1 });
});

test('a line of 10 MB arrives whole, in parts', async () => {
  const text = 'ü"\n'.repeat(2_500_000);
  const { read, spool } = setUp(lines(prompt(1, 1, text), two));
  await read();
  const parts = (spooledEvents(spool).get(session) ?? []).filter(({ payload }) => 'part' in payload);
  const { isPart, joinParts } = await import('../../transcript/parts.ts');
  const payload = joinParts(parts.map(({ payload }) => payload).filter(isPart)) as { text: string };
  expect(payload.text).toBe(text);
  for (const part of parts) expect(Buffer.byteLength(JSON.stringify(part.payload))).toBeLessThanOrEqual(256 * 1024);
  expect(textsOf(spool, session)).toContain('two');
});

test('a line over the size limit is left out, counted and reported', async () => {
  const root = join(makeFolder(), 'root');
  write(join(root, 'project', `${session}.jsonl`), lines(one, prompt(1, 5, 'x'.repeat(300_000)), two));
  const { read, spool } = openReading(root, ':memory:', { maxLineBytes: 200_000 });
  await read();
  expect(spool.counters()).toMatchObject({ recordsCaptured: 2, linesTooLong: 1 });
  expect(
    spooledEvents(spool)
      .get(session)
      ?.map(({ payload }) => payload.reason)
      .filter(Boolean),
  ).toEqual([expect.stringMatching(/^a line of 300\d\d\d bytes is too long$/)]);
});

test('files of a session are interleaved by time, each in its own order', async () => {
  const { root, read, spool } = setUp(
    lines(prompt(1, 1, 'main 1'), prompt(1, 9, 'main 9'), prompt(1, 5, 'main 5, written late')),
  );
  const of = (id: number, text: string) => prompt(1, id, text, { uuid: undefined, isSidechain: true, agentId: 'a' });
  write(join(root, 'project', session, 'subagents', 'agent-a.jsonl'), lines(of(3, 'sub 3'), of(10, 'sub 10')));
  await read();
  expect(textsOf(spool, session).filter((text) => /^(main|sub) /.test(text))).toEqual([
    'main 1',
    'sub 3',
    'main 9',
    'main 5, written late',
    'sub 10',
  ]);
});

test('many small files are read with few commits', async () => {
  const root = join(makeFolder(), 'root');
  for (let n = 0; n < 200; n++) write(join(root, 'project', `${sessionId(n)}.jsonl`), lines(prompt(n, 1, 'small')));
  const { read, commits, spool } = openReading(root);
  await read();
  expect(spool.counters()).toMatchObject({ recordsCaptured: 200 });
  expect(commits.length).toBeLessThan(20);
});

test('a file named several times is read once', async () => {
  const root = join(makeFolder(), 'root');
  const path = `project/${session}.jsonl`;
  const file = write(join(root, path), lines(one));
  const { read, spool } = openReading(root, ':memory:', { also: [path, 'project', path] });
  await read();
  appendFileSync(file, lines(mode(1), mode(1)));
  await read();
  expect(spool.counters()).toMatchObject({ recordsCaptured: 3, recordsRepeated: 0 });
});

test('a backup of a Codex session adds no events', async () => {
  const root = join(makeFolder(), 'root');
  const said = [
    { type: 'event_msg', payload: { type: 'user_message', message: 'continue' } },
    { type: 'response_item', payload: { type: 'message', role: 'assistant', content: [] } },
    { type: 'response_item', payload: { type: 'web_search_call', action: { query: 'tides' } } },
  ];
  const records = [...said, ...said].map((record, at) =>
    JSON.stringify({ timestamp: `2026-11-01T10:00:0${at}.000Z`, ...record }),
  );
  for (const folder of ['2026', 'backup']) write(join(root, folder, `rollout-${session}.jsonl`), lines(...records));
  const { read, spool } = openReading(root, ':memory:', { agent: codex });
  await read();
  expect(spool.counters()).toMatchObject({ recordsCaptured: 6, recordsRepeated: 6 });
});

test('a record nested 50,000 levels deep is kept as text, and later records are captured', async () => {
  const depth = 50_000;
  const deep = mode(1).replace('{', `{"deep":${'['.repeat(depth)}1${']'.repeat(depth)},`);
  const { root } = setUp(lines(deep, one, deep, two));
  const redactor = createRedactor();
  const reading = openReading(root, ':memory:', { redactor });
  await reading.read();
  expect(reading.spool.counters()).toMatchObject({ recordsUnreadable: 2 });
  const texts = (spooledEvents(reading.spool).get(session) ?? []).map(({ payload }) => String(payload.raw ?? ''));
  expect(texts.filter((text) => text.includes(']'.repeat(depth)))).toHaveLength(2);
  expect(texts).toHaveLength(4);
});
