import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { makeFolder } from '../test/folder.ts';
import { openSpool } from './open.ts';
import { SPOOL_VERSION } from './schema.ts';

test.each([
  [SPOOL_VERSION + 1, 'by a newer version of capture'],
  [SPOOL_VERSION - 1, 'before its first release'],
])('a spool of version %i is left as it is, and the person told', (version, told) => {
  const path = join(makeFolder(), 'spool.db');
  openSpool(path).close();
  const other = new DatabaseSync(path);
  other.exec(`PRAGMA user_version = ${version}`);
  expect(() => openSpool(path)).toThrow(told);
  expect(other.prepare('PRAGMA user_version').get()).toEqual({ user_version: version });
  other.close();
});
