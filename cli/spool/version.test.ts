import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { makeFolder, write } from '../test/folder.ts';
import { openDecisions } from './decisions.ts';
import { openSpool } from './open.ts';
import { READABLE_VERSION, SPOOL_VERSION, VERSION_7_COLUMNS, VERSION_8_COLUMNS, VERSION_10_COLUMN } from './schema.ts';

test.each([
  [SPOOL_VERSION + 1, 'by a newer version of capture'],
  [READABLE_VERSION - 1, 'before its first release'],
])('a spool of version %i is left unchanged, and the person is told', (version, told) => {
  const path = join(makeFolder(), 'spool.db');
  openSpool(path).close();
  const other = new DatabaseSync(path);
  other.exec(`PRAGMA user_version = ${version}`);
  expect(() => openSpool(path)).toThrow(told);
  expect(other.prepare('PRAGMA user_version').get()).toEqual({ user_version: version });
  other.close();
});

function removeColumns(db: DatabaseSync): void {
  const drop = (table: string, columns: readonly string[]) => {
    for (const column of columns) db.exec(`ALTER TABLE ${table} DROP COLUMN ${column.split(' ')[0]}`);
  };
  drop('sessions', [...VERSION_7_COLUMNS, VERSION_10_COLUMN]);
  drop('opened', VERSION_8_COLUMNS);
}

/** A spool as version 5 left it, with one captured session and one deleted session. */
function leaveVersion5(state: string): string {
  const path = join(state, 'spool.db');
  const spool = openSpool(path);
  const captured = spool.sessions.ensure('codex', 'captured');
  spool.sessions.learn(captured, { cwd: '/home/ada/shop', forkedFrom: 'parent' });
  spool.sessions.ensure('codex', 'deleted');
  spool.setMeta('daemon', '{}');
  spool.close();
  const db = new DatabaseSync(path);
  removeColumns(db);
  db.exec(`ALTER TABLE sessions ADD COLUMN deleted INTEGER NOT NULL DEFAULT 0;
    UPDATE sessions SET deleted = 1 WHERE agent_session = 'deleted';
    DELETE FROM meta WHERE name = 'decisions';
    PRAGMA user_version = 5`);
  db.close();
  for (const end of ['', '-wal', '-shm']) rmSync(join(state, `decisions.db${end}`), { force: true });
  return path;
}

test('a spool of version 5 keeps its sessions, and the decisions in files beside it', () => {
  const state = makeFolder();
  const path = leaveVersion5(state);
  write(join(state, 'history.json'), '{"since":5,"history":["/work"]}');
  write(join(state, 'skipped.json'), '["codex captured"]');
  const spool = openSpool(path);
  expect(spool.sessions.list().map(({ agentSession, verdict }) => [agentSession, verdict])).toEqual([
    ['captured', 'skipped'],
    ['deleted', 'deleted'],
  ]);
  expect(spool.decisions.consent()).toEqual({ since: 5, history: ['/work'], isSaid: true });
  spool.close();
  // A daemon of that version may still run, and takes a missing file for a yes to everything.
  expect(readdirSync(state).filter((name) => name.endsWith('.json'))).toEqual(['history.json', 'skipped.json']);
  expect(openDecisions(state)?.consent()?.since).toBe(5);
});

test('a spool of version 5 without decisions allows no earlier session', () => {
  const path = leaveVersion5(makeFolder());
  const spool = openSpool(path);
  expect(spool.decisions.consent()).toMatchObject({ history: 'none', isLost: true });
  spool.close();
});

test('the sessions of a spool of version 6 wait to be sent, and a dry run reads it unchanged', () => {
  const path = join(makeFolder(), 'spool.db');
  const earlier = openSpool(path);
  earlier.sessions.ensure('codex', 'captured');
  earlier.close();
  const db = new DatabaseSync(path);
  removeColumns(db);
  db.exec('PRAGMA user_version = 6');
  db.close();
  const rehearsal = openSpool(':memory:');
  rehearsal.copyCursors(path);
  expect(rehearsal.sessions.list()).toMatchObject([{ agentSession: 'captured' }]);
  rehearsal.close();
  const spool = openSpool(path);
  const [session] = spool.sessions.list();
  spool.batches.add({ session: Number(session?.id), key: 'one', events: 1, body: new Uint8Array(), madeAt: 0 });
  const query = { order: 'oldest', limit: 10, changedSince: 0, without: [], now: 0 } as const;
  expect(spool.batches.waiting(query)).toEqual([session?.id]);
  spool.close();
});

test('each session in a spool of version 5 gets a verdict at once, with its folder and its parent', () => {
  const state = makeFolder();
  const path = leaveVersion5(state);
  write(join(state, 'history.json'), '{"since":5,"history":"none"}');
  const { decisions, close } = openSpool(path);
  expect(decisions.find('codex', 'captured')).toMatchObject({
    verdict: 'wanted',
    folder: '/home/ada/shop',
    parents: ['parent'],
    isSaid: false,
  });
  expect(decisions.find('codex', 'deleted')).toMatchObject({ verdict: 'deleted', isSaid: true });
  expect(decisions.say('codex', 'parent', 'skipped', 8).map(({ session }) => session)).toEqual(['parent', 'captured']);
  close();
});

test('each session in a spool gets a verdict again after the decisions were lost', () => {
  const state = makeFolder();
  const path = join(state, 'spool.db');
  const first = openSpool(path);
  first.sessions.learn(first.sessions.ensure('codex', 'captured'), { cwd: '/home/ada/shop', forkedFrom: 'parent' });
  first.close();
  for (const end of ['', '-wal', '-shm']) rmSync(join(state, `decisions.db${end}`), { force: true });
  const { decisions, close } = openSpool(path);
  expect(decisions.find('codex', 'captured')).toMatchObject({ folder: '/home/ada/shop', parents: ['parent'] });
  close();
});
