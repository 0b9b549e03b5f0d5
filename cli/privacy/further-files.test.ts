import { join } from 'node:path';
import { expect, test } from 'vitest';
import { write } from '../test/folder.ts';
import { startRealService } from '../test/real-service.ts';
import { uuid } from '../test/transcripts.ts';

const THREAD = uuid(3, 0);

/** A machine with a thread of Codex, which goes on in a further file after each resume. */
async function setUp() {
  const real = await startRealService();
  const line = (ordinal: number, type: string, payload: object) => {
    const timestamp = new Date(Date.UTC(2026, 10, 20, 9, ordinal)).toISOString();
    return `${JSON.stringify({ timestamp, ordinal, type, payload })}\n`;
  };
  return {
    ...real,
    /** Writes one of the files. Only the first one names the branch. */
    go(file: number, text: string) {
      const day = `2026/11/2${file}/rollout-2026-11-2${file}T09-00-00`;
      const name = file === 0 ? THREAD : `${THREAD}_${uuid(4, file)}`;
      const git = file === 0 ? { git: { branch: 'main' } } : {};
      write(
        join(real.home, `.codex/sessions/${day}-${name}.jsonl`),
        line(file * 2, 'session_meta', { id: THREAD, cwd: join(real.home, 'work'), ...git }) +
          line(file * 2 + 1, 'event_msg', { type: 'user_message', message: text }),
      );
    },
    sessions: () => real.service.store.db.selectFrom('sessions').selectAll().where('deleted_at', 'is', null).execute(),
    said: async () =>
      (await real.events()).flatMap(({ eventType, payload }) => (eventType === 'user.message' ? [payload.text] : [])),
  };
}

test('a thread of Codex in three files is one session with the branch of its first file', async () => {
  const { go, run, sessions, said } = await setUp();
  for (const file of [0, 1, 2]) go(file, `prompt ${file}`);
  expect(await run('import')).toMatchObject({ exitCode: 0, stderr: '' });
  expect(await sessions()).toMatchObject([{ git_branch: 'main' }]);
  expect(await said()).toEqual(['prompt 0', 'prompt 1', 'prompt 2']);
});

test.each([
  ['skip', [], { sessions: [{ visibility: 'team' }], said: ['first'] }],
  ['delete', ['--yes'], { sessions: [], said: [] }],
  ['visibility', ['private'], { sessions: [{ visibility: 'private' }], said: ['first', 'later'] }],
])('`%s` also applies to the files in which a thread of Codex goes on', async (command, words, expected) => {
  const { go, run, sessions, said } = await setUp();
  go(0, 'first');
  await run('import');
  expect(await run(command, THREAD, ...words)).toMatchObject({ exitCode: 0 });
  go(1, 'later');
  await run('import');
  expect(await sessions()).toMatchObject(expected.sessions);
  expect((await sessions()).length).toBe(expected.sessions.length);
  // A deleted session is removed from the store a little later.
  await expect.poll(said).toEqual(expected.said);
});
