import { chmodSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { createReach } from './reach.ts';
import { makeFolder, write } from './test/folder.ts';
import { openTestPolicy } from './test/policy.ts';

const HOME = '/home/ada';

test('folders of a file server are read while it answers, and folders of an automounter never', () => {
  const at = makeFolder();
  const reach = createReach({ home: HOME, now: Date.now }, () => [
    { at: '/', type: 'ext4' },
    { at, type: 'nfs4' },
    { at: '/auto', type: 'autofs' },
  ]);
  expect([join(at, 'shop'), '/srv/shop', '/auto/shop', 'C:\\work', `${at}/../shop`].map(reach)).toEqual([
    ...[true, true, false, true, true],
  ]);
});

test('one request, in a process that is killed, covers all folders of a dead server', () => {
  const folder = makeFolder();
  chmodSync(write(join(folder, 'df'), `#!/bin/sh\necho "$1" >>${folder}/asked\nexec /bin/sleep 600\n`), 0o755);
  vi.stubEnv('PATH', folder);
  const mounts = [{ at: '/data', type: 'nfs4' }];
  const reach = createReach({ home: HOME, now: Date.now }, () => mounts);
  expect(['/data/shop', '/data/other'].map(reach)).toEqual([false, false]);
  expect(readFileSync(join(folder, 'asked'), 'utf8')).toBe('/data\n');
  expect(createReach({ home: '/data/ada', now: Date.now }, () => mounts)('/data/shop')).toBe(true);
  vi.unstubAllEnvs();
});

test('a session in a folder on a silent server waits until the server answers', () => {
  const home = makeFolder();
  mkdirSync(join(home, 'shop'));
  let isThere = false;
  const policy = openTestPolicy(home, { isReachable: () => isThere });
  const objection = (cwd: string) => policy.objection('codex', { session: 's', cwd });
  expect(objection(join(home, 'shop'))).toBe('its folder is on a file server that does not answer');
  isThere = true;
  expect(objection(join(home, 'other'))).toBeUndefined();
});
