import { join } from 'node:path';
import { expect, test } from 'vitest';
import { write } from './folder.ts';
import { setUpImports } from './importing.ts';
import { mode, prompt, sessionId } from './transcripts.ts';

/** A fork in the format of newer Claude Code: its queued request, then the records of its parent with their ids. */
function forkOf(parent: number, fork: number, texts: string[], more: object = {}): string {
  const place = { cwd: '/home/dev/shop', gitBranch: 'main', sessionId: sessionId(fork), ...more };
  const timestamp = new Date(Date.parse('2026-03-01T09:00:00.000Z') + fork * 60_000).toISOString();
  const asked = JSON.stringify({
    type: 'queue-operation',
    operation: 'enqueue',
    timestamp,
    sessionId: sessionId(fork),
  });
  const copied = texts.map((text, id) => prompt(parent, id, text, place));
  return [mode(fork), asked, ...copied, prompt(fork, 3, 'another way', place)].join('\n');
}

test('a fork without a named parent is a fork of the session of its first records', async () => {
  const { home, write: writeSession, capture, texts, sessions } = await setUpImports();
  writeSession(1, ['one', 'two'], { cwd: '/home/dev/shop', gitBranch: 'main' });
  write(join(home, '.claude/projects/shop', `${sessionId(2)}.jsonl`), forkOf(1, 2, ['one', 'two']));
  expect(await capture()).toMatchObject({ exitCode: 0 });
  expect(texts(2)).toEqual(['another way']);
  const [parent, fork] = sessions();
  expect(fork?.body).toMatchObject({
    forkedFrom: parent?.body.clientKey,
    repoRoot: '/home/dev/shop',
    gitBranch: 'main',
  });
  expect(parent?.body.forkedFrom).toBeUndefined();
});

test('a fork captured first does not turn its parent into a fork, and a named parent is trusted', async () => {
  const { home, write: writeSession, capture, sessions } = await setUpImports();
  const folder = join(home, '.claude/projects/shop');
  write(join(folder, `${sessionId(2)}.jsonl`), forkOf(1, 2, ['one', 'two']));
  expect(await capture()).toMatchObject({ exitCode: 0 });
  writeSession(1, ['one', 'two', 'three']);
  const said = { forkedFrom: { sessionId: sessionId(2) } };
  write(join(folder, `${sessionId(3)}.jsonl`), forkOf(1, 3, ['one', 'two'], said));
  expect(await capture()).toMatchObject({ exitCode: 0 });
  const [first, parent, third] = sessions();
  expect(parent?.body.forkedFrom).toBeUndefined();
  expect(third?.body.forkedFrom).toBe(first?.body.clientKey);
});

/** Each session is forked from the one before and begins with all its messages. */
const CHAIN = [1, 2, 3, 4];

test.each([
  ['in one import', [[4], [1, 2, 3]]],
  ['oldest first', [[4], [1], [2], [3]]],
  ['newest first', [[4], [3], [2], [1]]],
  ['oldest last', [[4], [2], [3], [1]]],
  ['the older two after both newer ones', [[3], [4], [1, 2]]],
])('sessions have all their messages although a fork was captured first: %s', async (_name, imports) => {
  const { home, capture, texts, sessions } = await setUpImports();
  const put = (session: number, before: string[]) => {
    const said = session > 1 ? { forkedFrom: { sessionId: sessionId(session - 1) } } : {};
    const lines = CHAIN.filter((from) => from <= session).map((from) =>
      prompt(from, 0, `of ${from}`, { sessionId: sessionId(session), ...said }),
    );
    write(join(home, '.claude/projects/shop', `${sessionId(session)}.jsonl`), `${[...before, ...lines].join('\n')}\n`);
  };
  // Finally, all sessions are read again from their beginning.
  for (const together of [...imports, CHAIN]) {
    for (const session of together) put(session, together === CHAIN ? [mode(session)] : []);
    expect(await capture()).toMatchObject({ exitCode: 0 });
  }
  const keys = sessions().map(({ body }) => body.clientKey);
  expect(keys).toHaveLength(CHAIN.length);
  for (const { body } of sessions()) if (body.forkedFrom !== undefined) expect(keys).toContain(body.forkedFrom);
  const has = (session: number) => CHAIN.filter((from) => texts(session).includes(`of ${from}`));
  for (const session of CHAIN) {
    expect(has(session)).toContain(session);
    expect(new Set(CHAIN.slice(0, session).flatMap(has))).toEqual(new Set(CHAIN.slice(0, session)));
    expect(texts(session)).toHaveLength(has(session).length);
  }
});

test('only the first of several forks of a missing session has the shared records', async () => {
  const { home, capture, texts, sessions } = await setUpImports();
  const shared = ['one', 'two'];
  const lay = async (fork: number, named?: number, before = '') => {
    const said = { sessionId: sessionId(fork), forkedFrom: { sessionId: sessionId(named ?? 0) } };
    const copied = shared.map((text, id) => prompt(1, id, text, said));
    const stated = `${[...copied, prompt(fork, 3, 'another way', said)].join('\n')}\n`;
    const lines = before + (named === undefined ? forkOf(1, fork, shared) : stated);
    write(join(home, '.claude/projects/shop', `${sessionId(fork)}.jsonl`), lines);
    expect(await capture()).toMatchObject({ exitCode: 0 });
  };
  await lay(2, 1);
  await lay(3, 1);
  await lay(4);
  // Its missing parent might be an ancestor of the first fork, so it keeps the shared records as well.
  await lay(6, 5);
  for (const [fork, named] of [[2, 1], [3, 1], [4], [6, 5]] as const) await lay(fork, named, `${mode(fork, 'plan')}\n`);
  for (const fork of [2, 6]) expect(texts(fork)).toEqual([...shared, 'another way']);
  for (const fork of [3, 4]) expect(texts(fork)).toEqual(['another way']);
  expect(sessions()[2]?.body.forkedFrom).toBe(sessions()[0]?.body.clientKey);
});
