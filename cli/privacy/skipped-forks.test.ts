import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { write } from '../test/folder.ts';
import { startRealService } from '../test/real-service.ts';
import { prompt, sessionId } from '../test/transcripts.ts';

/** A machine with sessions of Claude Code. Their prompts are numbered within the session that wrote them. */
async function setUp() {
  const { home, run, events } = await startRealService();
  return {
    run,
    /**
     * Writes the transcript of a session: prompts of its own and of other sessions. A copy names the session of the transcript,
     * unless another one is given.
     */
    write: (session: number, ...prompts: [author: number, id: number, named?: number][]) =>
      write(
        join(home, '.claude/projects/shop', `${sessionId(session)}.jsonl`),
        prompts
          .map(([author, id, named = session]) =>
            prompt(author, id, `${author}.${id}`, { cwd: home, sessionId: sessionId(named) }),
          )
          .join('\n')
          .concat('\n'),
      ),
    loseSpool: () => {
      for (const end of ['', '-wal', '-shm']) rmSync(join(home, `state/spool.db${end}`), { force: true });
    },
    /** The prompts at the service. */
    said: async () =>
      (await events()).flatMap(({ eventType, payload }) => (eventType === 'user.message' ? [payload.text] : [])).sort(),
  };
}

test('a session is captured although a fork of its fork was skipped and the spool was lost', async () => {
  const { run, write, said, loseSpool } = await setUp();
  write(1, [1, 0]);
  await run('import');
  write(2, [1, 0], [2, 1]);
  write(3, [1, 0], [2, 1], [3, 2]);
  expect(await run('skip', sessionId(3))).toMatchObject({ exitCode: 0 });
  loseSpool();
  write(1, [1, 0], [1, 1]);
  await run('import');
  expect(await said()).toEqual(['1.0', '1.1', '2.1']);
});

const OWN = Array.from({ length: 12 }, (_, id): [number, number] => [3, id]);

test('a session is captured although a fork of its fork, which begins with records of its own, was skipped', async () => {
  const { run, write, said } = await setUp();
  write(1, [1, 0]);
  write(2, [1, 0], [2, 1]);
  write(3, [2, 1], ...OWN, [1, 0]);
  expect(await run('skip', sessionId(3))).toMatchObject({ exitCode: 0 });
  await run('import');
  expect(await said()).toEqual(['1.0', '2.1']);
});

test('a late fork of a skipped session is not captured although another fork with its records is wanted', async () => {
  const { run, write, said } = await setUp();
  write(1, [1, 0]);
  write(2, [1, 0], [2, 1]);
  expect(await run('skip', sessionId(2))).toMatchObject({ exitCode: 0 });
  expect(await run('skip', sessionId(2), '--undo')).toMatchObject({ exitCode: 0 });
  expect(await run('skip', sessionId(1))).toMatchObject({ exitCode: 0 });
  await run('import');
  write(3, ...OWN, [1, 0]);
  await run('import');
  expect(await said()).toEqual(['1.0', '2.1']);
});

test.each([
  ['the session that it was forked from', 2],
  ['the session that this one was forked from', 1],
])('a prompt that names a skipped fork stays here although %s contains it', async (_, other) => {
  const { run, write, said } = await setUp();
  const prompts: Record<number, [number, number][]> = {
    1: [[1, 0]],
    2: [
      [1, 0],
      [2, 1],
    ],
  };
  write(1, ...(prompts[1] ?? []));
  write(2, ...(prompts[2] ?? []));
  write(3, [1, 0], [2, 1], [3, 2]);
  await run('import');
  expect(await run('skip', sessionId(3))).toMatchObject({ exitCode: 0 });
  write(other, ...(prompts[other] ?? []), [3, 3, 3], [other, 4]);
  write(3, [1, 0], [2, 1], [3, 2], [3, 3]);
  await run('import');
  expect(await said()).toEqual(['1.0', '2.1', '3.2']);
  expect(await run('verify')).toMatchObject({ exitCode: 0 });
  await run('skip', sessionId(other), '--undo');
  await run('import');
  expect(await said()).toEqual(['1.0', '2.1', '3.2', '3.3', `${other}.4`].sort());
});
