import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findAllowedRepository, openPolicy } from '../pipeline.ts';
import { preferencesPath } from '../privacy/preferences.ts';
import { openSpool } from '../spool/open.ts';
import { makeFolder, write } from '../test/folder.ts';
import { createContext } from '../test/program.ts';
import { startRealService } from '../test/real-service.ts';
import { prompt, sessionId } from '../test/transcripts.ts';

/** A clone whose remote is a URL. */
function clone(url: string): string {
  const root = makeFolder();
  write(join(root, '.git/config'), `[remote "origin"]\n\turl = ${url}\n`);
  return root;
}

test('each session is opened with the remote of its own folder', async () => {
  const { home, run, service } = await startRealService();
  const [shop, docs] = [
    clone('https://ada:hunter2@git.example.com/acme/shop.git'),
    clone('git@git.example.com:acme/docs'),
  ];
  const sessions = [join(shop, 'src'), docs, makeFolder()];
  for (const [number, cwd] of sessions.entries()) {
    const file = join(home, '.claude/projects/p', `${sessionId(number)}.jsonl`);
    write(file, '');
    appendFileSync(file, `${prompt(number, 0, 'hello', { cwd })}\n`);
  }
  expect(await run('import')).toMatchObject({ exitCode: 0 });
  const rows = await service.store.db.selectFrom('sessions').select(['repo_root', 'repository']).execute();
  expect(rows.toSorted((a, b) => sessions.indexOf(a.repo_root ?? '') - sessions.indexOf(b.repo_root ?? ''))).toEqual([
    { repo_root: shop, repository: 'git.example.com/acme/shop' },
    { repo_root: docs, repository: 'git.example.com/acme/docs' },
    { repo_root: sessions[2], repository: null },
  ]);
});

test('the path and the remote of an excluded folder are not sent', () => {
  const home = makeFolder();
  const root = clone('https://git.example.com/acme/secret.git');
  let time = Date.now();
  const { context } = createContext({ home, context: { now: () => time } });
  const spool = openSpool(':memory:');
  const policy = openPolicy(context, spool);
  expect(findAllowedRepository(policy, root)).toEqual({ root, remote: 'https://git.example.com/acme/secret.git' });
  write(join(root, '.session-capture.json'), '{"capture": false}');
  time += 60_000;
  expect(findAllowedRepository(policy, root)).toBe('kept back');
  write(preferencesPath(context), 'no JSON');
  expect(findAllowedRepository(policy, clone('https://git.example.com/acme/other.git'))).toBe('kept back');
  spool.close();
});

test("a folder's objection that is found while its remote is read keeps its session back", () => {
  const home = makeFolder();
  const root = clone('https://git.example.com/acme/secret.git');
  let time = Date.now();
  const { context } = createContext({ home, context: { now: () => time } });
  const spool = openSpool(':memory:');
  const id = spool.sessions.ensure('codex', 'early');
  spool.batches.add({
    session: id,
    key: 'key',
    events: 1,
    digests: new Uint8Array(),
    marks: {},
    body: Buffer.from('body'),
    madeAt: time,
  });
  const policy = openPolicy(context, spool);
  policy.refresh();
  policy.objection('codex', { session: 'early', cwd: root }, { startedAt: time, firstRecords: () => [] });
  policy.store();
  write(join(root, '.session-capture.json'), '{"capture": false}');
  time += 60_000;
  expect(findAllowedRepository(policy, root)).toBe('kept back');
  expect(spool.sessions.get(id).verdict).toBe('excluded');
  spool.close();
});
