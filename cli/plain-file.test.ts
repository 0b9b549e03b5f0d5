import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createKnownValues } from './machine-secrets/known-values.ts';
import { readPlainFile } from './plain-file.ts';
import { findWish } from './privacy/folder.ts';
import { findRepository } from './repository.ts';
import { makeFolder, write } from './test/folder.ts';
import { openTestPolicy } from './test/policy.ts';

function learnFrom(folder: string): string[] {
  const values: string[] = [];
  createKnownValues({ variables: {}, home: '/home/nobody' }, (value) => values.push(value))(folder);
  return values;
}

const pipe = (path: string) => void execFileSync('mkfifo', [path]);

test('a file is read, and anything else or a large file is refused at once', () => {
  const folder = makeFolder();
  const large = write(join(folder, 'large'), 'x'.repeat(200_000));
  expect(readPlainFile(large, 200_000)).toHaveLength(200_000);
  expect(() => readPlainFile(large, 199_999)).toThrow('it is larger than 199,999 bytes');
  pipe(join(folder, 'pipe'));
  for (const path of [folder, join(folder, 'pipe'), '/dev/zero']) {
    expect(() => readPlainFile(path, 10)).toThrow('it is not a file');
  }
  expect(() => readPlainFile(join(folder, 'none'), 10)).toThrow('ENOENT');
});

test('pipes in a working folder block nothing: settings, repository and .env', () => {
  const folder = makeFolder();
  mkdirSync(join(folder, '.git'));
  for (const name of ['.session-capture.json', '.git/config', '.git/HEAD', '.git/commondir', '.env']) {
    pipe(join(folder, name));
  }
  expect(findWish(folder).objection).toContain('is not {"capture": true}');
  expect(findRepository(folder)).toEqual({ root: folder });
  expect(learnFrom(folder)).toEqual([]);
});

test.each([
  ['deep', '/a'.repeat(30_000), /the path of its folder is too long/],
  ['of another system', 'C:\\work', undefined],
  ['with a null byte', '/a\0b', /the path of its folder contains a NUL/],
])(
  'a session in a folder that is %s is still judged quickly',
  (_, cwd, reason) => {
    const home = makeFolder();
    const policy = openTestPolicy(home);
    const objection = policy.objection('codex', { session: 's', cwd });
    if (reason) expect(objection).toMatch(reason);
    else expect(objection).toBeUndefined();
    expect(findRepository(cwd)).toBeUndefined();
    expect(learnFrom(cwd)).toEqual([]);
  },
  2000,
);
