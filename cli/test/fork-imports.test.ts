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
