import { expect, test } from 'vitest';
import { isLocal, parseMounts } from './local.ts';

const mounts = parseMounts(
  [
    '22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw',
    '40 22 0:50 / /data rw,relatime shared:9 - nfs4 server:/data rw,vers=4.2',
    '41 22 0:51 / /mnt/my\\040share rw - cifs //server/share rw',
    '42 22 0:52 / /net rw - autofs /etc/auto.net rw',
    '43 22 0:53 / /home/ada/remote rw master:1 shared:3 - fuse.sshfs host: rw',
    '44 22 0:54 / /workspaces rw - fuse.grpcfuse grpcfuse rw',
    '45 40 8:2 / /data/local rw - xfs /dev/sdb1 rw',
  ].join('\n'),
);

test.each(['/home/ada/shop', '/srv/shop', '/workspaces/shop', '/database/shop', '/data/local/shop'])(
  'a folder of this machine may be read: %s',
  (folder) => {
    expect(isLocal(folder, '/home/ada', mounts)).toBe(true);
  },
);

test.each([
  '/data/shop',
  '/data',
  '/mnt/my share/shop',
  '/net/host/shop',
  '/home/ada/remote/shop',
  '/home/ada/../../data/shop',
  '//host/share',
  '\\\\host\\share\\shop',
  'shop',
  '',
  `/${'a/'.repeat(3000)}`,
])('a folder that may be on another machine is not: %s', (folder) => {
  expect(isLocal(folder, '/home/ada', mounts)).toBe(false);
});

test('if the home is on a file server, all folders on it are read', () => {
  expect(isLocal('/data/ada/shop', '/data/ada', mounts)).toBe(true);
});

test('without a list of mounts, the name decides', () => {
  expect(
    ['/Volumes/share/x', '/Network/x', '/net/x', '/Users/ada/x'].map((folder) => isLocal(folder, '/Users/ada', [])),
  ).toEqual([false, false, false, true]);
});
