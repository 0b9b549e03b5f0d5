import { readFileSync } from 'node:fs';
import { isAbsolute, normalize, parse } from 'node:path';
import { isInside } from '../paths.ts';
import { MAX_PATH } from '../repository.ts';

/** A dead file server blocks a request for minutes, and an automounter asks the network at once. */
const REMOTE =
  /^(?:nfs\d?|cifs|smb\w*|autofs|afs|ceph|davfs|glusterfs|lustre|fuse\.(?:sshfs|rclone|s3fs|gvfsd-fuse|davfs2?|glusterfs))$/;
const REMOTE_PLACES = /^(?:[\\/]{2}|\/(?:net|Network|Volumes)\/)/;

/**
 * Whether a folder that a transcript names may be read. Its name and the mounts decide, so the folder itself is not touched.
 * A file server is read only if the home folder is on it, too.
 */
export function isLocal(folder: string, home: string, mounts = readMounts()): boolean {
  const path = normalize(folder);
  if (!isAbsolute(folder) || folder.length > MAX_PATH || REMOTE_PLACES.test(folder) || REMOTE_PLACES.test(path))
    return false;
  if (parse(path).root.toLowerCase() !== parse(home).root.toLowerCase()) return false;
  const mount = findMount(path, mounts);
  return mount === undefined || !isRemote(mount) || mount === findMount(home, mounts);
}

export interface Mount {
  at: string;
  type: string;
}

export const isRemote = ({ type }: Mount): boolean => REMOTE.test(type);

/** The deepest mount that contains a path. */
export function findMount(path: string, mounts: readonly Mount[]): Mount | undefined {
  const above = mounts.filter(({ at }) => isInside(path, at));
  return above.reduce<Mount | undefined>(
    (deepest, mount) => ((deepest?.at.length ?? -1) > mount.at.length ? deepest : mount),
    undefined,
  );
}

/** Linux lists its mounts. On other systems, the name must suffice. */
export function readMounts(): Mount[] {
  try {
    return parseMounts(readFileSync('/proc/self/mountinfo', 'utf8'));
  } catch {
    return [];
  }
}

export function parseMounts(text: string): Mount[] {
  return Array.from(text.matchAll(/^(?:\S+ ){4}(\S+) .*? - (\S+) /gm), ([, at = '', type = '']) => ({
    at: at.replace(/\\([0-7]{3})/g, (_code, octal: string) => String.fromCharCode(Number.parseInt(octal, 8))),
    type,
  }));
}
