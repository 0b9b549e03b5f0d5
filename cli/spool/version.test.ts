import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { makeFolder } from '../test/folder.ts';
import { openOrReplace, openSpool } from './open.ts';

test.each(['spool.db', 'decisions.db'])('%s of a newer version is left unchanged, and the person is told', (file) => {
  const state = makeFolder();
  openSpool(join(state, 'spool.db')).close();
  const other = new DatabaseSync(join(state, file));
  const version = 99;
  other.exec(`PRAGMA user_version = ${version}`);
  expect(() => openSpool(join(state, 'spool.db'))).toThrow(`${file} was written by a newer version of capture`);
  expect(other.prepare('PRAGMA user_version').get()).toEqual({ user_version: version });
  other.close();
});

test('decisions of an earlier version are left unchanged, the spool too, and the person is told', () => {
  const state = makeFolder();
  openSpool(join(state, 'spool.db')).close();
  const other = new DatabaseSync(join(state, 'decisions.db'));
  other.exec('PRAGMA user_version = 1');
  expect(() => openOrReplace(join(state, 'spool.db'), Date.now)).toThrow(
    'decisions.db was written by a version of capture',
  );
  expect(other.prepare('PRAGMA user_version').get()).toEqual({ user_version: 1 });
  other.close();
  expect(readdirSync(state).filter((name) => name.includes('corrupt'))).toEqual([]);
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
