import { join } from 'node:path';
import { expect, test } from 'vitest';
import { write } from './folder.ts';
import { setUpImports } from './importing.ts';
import { mode, prompt, sessionId } from './transcripts.ts';

/** A fork as newer Claude Code writes it: what it was asked to do, then the records of its parent under their ids. */
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

test('a fork that does not say so is one of the session whose records it begins with', async () => {
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

test('a fork that was captured first makes no fork of its parent, and one that names its parent is believed', async () => {
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

/** Each is forked from the one before, and begins with all that it said. */
const CHAIN = [1, 2, 3, 4];

test.each([
  ['in one import', [[4], [1, 2, 3]]],
  ['the oldest first', [[4], [1], [2], [3]]],
  ['the newest first', [[4], [3], [2], [1]]],
  ['the oldest last', [[4], [2], [3], [1]]],
  ['beside the captured part of the newest two', [[3], [4], [1, 2]]],
])('sessions whose forks were captured first have all their messages: %s', async (_name, imports) => {
  const { home, capture, texts, sessions } = await setUpImports();
  const put = (session: number, before: string[]) => {
    const said = session > 1 ? { forkedFrom: { sessionId: sessionId(session - 1) } } : {};
    const lines = CHAIN.filter((from) => from <= session).map((from) =>
      prompt(from, 0, `of ${from}`, { sessionId: sessionId(session), ...said }),
    );
    write(join(home, '.claude/projects/shop', `${sessionId(session)}.jsonl`), `${[...before, ...lines].join('\n')}\n`);
  };
  // At last all are read again from their beginning.
  for (const together of [...imports, CHAIN]) {
    for (const session of together) put(session, together === CHAIN ? [mode(session)] : []);
    expect(await capture()).toMatchObject({ exitCode: 0 });
  }
  const keys = sessions().map(({ body }) => body.clientKey);
  expect(keys).toHaveLength(CHAIN.length);
  for (const { body } of sessions()) if (body.forkedFrom !== undefined) expect(keys).toContain(body.forkedFrom);
  const held = (session: number) => CHAIN.filter((from) => texts(session).includes(`of ${from}`));
  for (const session of CHAIN) {
    expect(held(session)).toContain(session);
    expect(new Set(CHAIN.slice(0, session).flatMap(held))).toEqual(new Set(CHAIN.slice(0, session)));
    expect(texts(session)).toHaveLength(held(session).length);
  }
});

test('of forks of a session that is gone, and of forks of those, the first alone has what they share', async () => {
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
  // Nothing tells that what this one was forked from is no ancestor of the first.
  await lay(6, 5);
  for (const [fork, named] of [[2, 1], [3, 1], [4], [6, 5]] as const) await lay(fork, named, `${mode(fork, 'plan')}\n`);
  for (const fork of [2, 6]) expect(texts(fork)).toEqual([...shared, 'another way']);
  for (const fork of [3, 4]) expect(texts(fork)).toEqual(['another way']);
  expect(sessions()[2]?.body.forkedFrom).toBe(sessions()[0]?.body.clientKey);
});
