import { readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { write } from '../test/folder.ts';
import { startRealService } from '../test/real-service.ts';
import { uuid } from '../test/transcripts.ts';

const THREAD = uuid(3, 0);

/** A machine with a thread of Codex, whose file is packed after a week. */
async function setUp() {
  const real = await startRealService();
  const timestamp = '2026-11-20T09:00:00.000Z';
  const line = (ordinal: number, type: string, payload: object) =>
    `${JSON.stringify({ timestamp, ordinal, type, payload })}\n`;
  const path = write(
    join(real.home, `.codex/sessions/2026/11/20/rollout-2026-11-20T09-00-00-${THREAD}.jsonl`),
    line(0, 'session_meta', { id: THREAD, cwd: join(real.home, 'work') }) +
      line(1, 'event_msg', { type: 'user_message', message: 'first' }),
  );
  return {
    ...real,
    pack() {
      const { mtime } = statSync(path);
      writeFileSync(`${path}.zst`, zstdCompressSync(readFileSync(path)));
      utimesSync(`${path}.zst`, mtime, mtime);
      rmSync(path);
    },
    packed: `${path}.zst`,
    sessions: () => real.service.store.db.selectFrom('sessions').selectAll().where('deleted_at', 'is', null).execute(),
    said: async () =>
      (await real.events()).flatMap(({ eventType, payload }) => (eventType === 'user.message' ? [payload.text] : [])),
  };
}

test.each([
  ['skip', [], { sessions: [], said: [] }],
  ['visibility', ['private'], { sessions: [{ visibility: 'private' }], said: ['first'] }],
])(
  '`%s` of a thread that was never captured remains in force after its file was packed',
  async (command, words, expected) => {
    const { pack, run, sessions, said } = await setUp();
    expect(await run(command, THREAD, ...words)).toMatchObject({ exitCode: 0 });
    pack();
    await run('import');
    expect(await sessions()).toMatchObject(expected.sessions);
    expect((await sessions()).length).toBe(expected.sessions.length);
    expect(await said()).toEqual(expected.said);
  },
);

test('`delete` of a thread remains in force after its file was packed', async () => {
  const { pack, run, sessions } = await setUp();
  await run('import');
  expect(await run('delete', THREAD, '--yes')).toMatchObject({ exitCode: 0 });
  pack();
  await run('import');
  expect(await sessions()).toEqual([]);
});

test('`skip` works for a thread whose file is already packed', async () => {
  const { pack, run, sessions } = await setUp();
  pack();
  expect(await run('skip', THREAD)).toMatchObject({ exitCode: 0 });
  await run('import');
  expect(await sessions()).toEqual([]);
});

test('verify does not say that everything is there while a packed file cannot be unpacked', async () => {
  const { packed, pack, run, verify } = await setUp();
  await run('import');
  pack();
  expect(await verify()).toMatchObject({ exitCode: 0 });
  write(packed.replace(THREAD, uuid(3, 1)), 'damaged');
  expect(await verify()).toMatchObject({ exitCode: 1, gaps: [{ kind: 'unreadable', agent: 'codex', count: 1 }] });
});

test('a packed thread is verified, and a person can import it by its name', async () => {
  const { pack, packed, run, said, verify } = await setUp();
  pack();
  expect(await run('import', packed)).toMatchObject({ exitCode: 0, stderr: '' });
  expect(await said()).toEqual(['first']);
  await run('import');
  expect(await said()).toEqual(['first']);
  expect(await verify()).toMatchObject({ exitCode: 0, sessions: 1, records: 2, problems: {} });
});
