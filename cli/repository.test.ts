import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findRepository } from './repository.ts';
import { makeFolder, write } from './test/folder.ts';

function remoteOf(url: string): string | undefined {
  const root = makeFolder();
  write(join(root, '.git/config'), `[remote "origin"]\n\turl = ${url}\n`);
  return findRepository(root)?.remote;
}

test.each([
  ['https://git.example.com/a/b.git', 'https://git.example.com/a/b.git'],
  ['https://git.example.com:8443/@scope/b', 'https://git.example.com:8443/@scope/b'],
  ['https://token@git.example.com/@scope/b', 'https://git.example.com/@scope/b'],
  ['git@git.example.com:a/b.git', 'git@git.example.com:a/b.git'],
  ['https://bob:hunter2@git.example.com/a', 'https://git.example.com/a'],
  ['https://bob:p@ssw0rd@git.example.com/a', 'https://git.example.com/a'],
  ['https://bob:pa/ss@git.example.com/a', 'https://git.example.com/a'],
  ['https://ada:p@ss/w0rd@git.example.com/a', 'https://git.example.com/a'],
  ['https://ada:p/w@rd@git.example.com/a', 'https://git.example.com/a'],
  ['ada:p/w@git.example.com:x.git', 'git.example.com:x.git'],
  ['git.example.com:a/b@c.git', 'git.example.com:a/b@c.git'],
  ['https://ghp_0123456789@git.example.com/a', 'https://git.example.com/a'],
  ['git+https://ghp_0123456789@git.example.com/a', 'git+https://git.example.com/a'],
  ['https://git.example.com/a/b?private_token=x#y', 'https://git.example.com/a/b'],
  ['bob:hunter2@git.example.com:a/b', 'git.example.com:a/b'],
])('the credentials of a remote %s stay here', (url, told) => {
  expect(remoteOf(url)).toBe(told);
});
