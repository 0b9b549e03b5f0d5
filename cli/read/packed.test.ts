import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { codex } from '../agents/codex/codex.ts';
import { makeFolder, write } from '../test/folder.ts';
import { openReading, textsOf } from '../test/reading.ts';
import { uuid } from '../test/transcripts.ts';
import { findTranscripts, transcriptAt } from './discover.ts';
import { findPacked } from './unknown.ts';

const THREAD = uuid(3, 0);
const NAME = `sessions/2026/11/20/rollout-2026-11-20T09-00-00-${THREAD}.jsonl`;

/** Records without a number, as versions before 0.149 wrote them, are recognized by their position in the file. */
function turn(number: number): string {
  const timestamp = new Date(Date.UTC(2026, 10, 20, 9, number)).toISOString();
  const line = (type: string, payload: object) => `${JSON.stringify({ timestamp, type, payload })}\n`;
  const meta = number === 0 ? line('session_meta', { id: THREAD, cwd: '/home/dev/shop' }) : '';
  return `${meta}${line('event_msg', { type: 'user_message', message: `prompt ${number}` })}${line('event_msg', { type: 'error', message: 'same error' })}`;
}

/** Packs a transcript as Codex does: under the same name and with the same time of the last change. */
function pack(path: string): void {
  const mtime = statSync(path).mtimeMs / 1000;
  writeFileSync(`${path}.zst`, zstdCompressSync(readFileSync(path)));
  utimesSync(`${path}.zst`, mtime, mtime);
  rmSync(path);
}

function setUp() {
  const home = makeFolder();
  const path = write(join(home, NAME), turn(0) + turn(1));
  const reading = openReading(home, ':memory:', { agent: codex });
  const said = () => textsOf(reading.spool, THREAD).filter((text) => text !== 'session.meta');
  const both = ['prompt 0', 'same error', 'prompt 1', 'same error'];
  return { ...reading, home, path, said, both };
}

test('a transcript that was never read is captured although it is packed', async () => {
  const { path, read, said, both, troubles } = setUp();
  pack(path);
  await read();
  expect(said()).toEqual(both);
  expect(troubles).toEqual([]);
});

test('a transcript that was read is not read again after it was packed, wherever it lies then', async () => {
  const { home, path, read, said, both, findWork, spool } = setUp();
  await read();
  pack(path);
  expect(findWork().sessions).toEqual([]);
  const archived = join(home, 'archived_sessions', NAME.split('/').at(-1) ?? '');
  mkdirSync(dirname(archived), { recursive: true });
  renameSync(`${path}.zst`, `${archived}.zst`);
  await read();
  expect(said()).toEqual(both);
  expect(spool.sessions.list()).toHaveLength(1);
});

test('a transcript that was read before it was packed is not unpacked', async () => {
  const { path, read, troubles } = setUp();
  await read();
  const mtime = statSync(path).mtimeMs / 1000;
  rmSync(path);
  writeFileSync(`${path}.zst`, 'unpacking this would fail');
  utimesSync(`${path}.zst`, mtime, mtime);
  await read();
  expect(troubles).toEqual([]);
});

test('a packed transcript of which only a part was read is read from there on', async () => {
  const { path, read, said, both } = setUp();
  writeFileSync(path, turn(0));
  await read();
  writeFileSync(path, turn(0) + turn(1));
  const later = new Date(Date.now() + 5000);
  utimesSync(path, later, later);
  pack(path);
  await read();
  expect(said()).toEqual(both);
});

test('a transcript that is unpacked to go on continues where it was', async () => {
  const { path, read, said, both } = setUp();
  pack(path);
  await read();
  // For a moment, both are there.
  writeFileSync(path, turn(0) + turn(1));
  await read();
  rmSync(`${path}.zst`);
  writeFileSync(path, turn(0) + turn(1) + turn(2));
  await read();
  expect(said()).toEqual([...both, 'prompt 2', 'same error']);
});

test('a packed transcript of which a copy lies elsewhere has not moved', async () => {
  const { home, path, read, spool } = setUp();
  await read();
  write(join(home, 'archived_sessions', 'copy.jsonl'), readFileSync(path, 'utf8'));
  pack(path);
  await read();
  expect(spool.files.find('codex', home, NAME)).toBeDefined();
});

test('a damaged packed transcript is reported, and the others are captured', async () => {
  const { home, path, read, said, both, troubles } = setUp();
  pack(path);
  const broken = write(join(home, `sessions/2026/11/21/rollout-2026-11-21T09-00-00-${uuid(3, 1)}.jsonl.zst`), 'broken');
  await read();
  expect(said()).toEqual(both);
  expect(troubles).toEqual([
    { path: broken.replace(/\.zst$/, ''), reason: expect.stringContaining('it is damaged, or not packed with zstd') },
  ]);
});

test('a change of a packed file is a change of the transcript that it contains', () => {
  expect(transcriptAt(codex, `${NAME}.zst`)).toBe(NAME);
  expect(transcriptAt(codex, 'sessions/notes.txt.zst')).toBeUndefined();
});

test('a packed transcript is not data of an unknown form', () => {
  const home = makeFolder();
  const path = write(join(home, '.codex', NAME), turn(0));
  pack(path);
  expect(existsSync(path)).toBe(false);
  const others: string[] = [];
  const place = { agent: codex, root: join(home, '.codex'), below: '', onOther: (other: string) => others.push(other) };
  expect(findTranscripts([place], () => {})).toHaveLength(1);
  expect(findPacked(codex, others)).toEqual([]);
});
