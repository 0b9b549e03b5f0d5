import { readlinkSync, realpathSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';

/** Whether a path is a folder, or anywhere below it. A trailing slash of the folder makes no difference. */
export function isInside(path: string, folder: string): boolean {
  const inside = /[/\\]$/.test(folder) ? folder : folder + sep;
  return `${path}${inside.at(-1)}`.startsWith(inside);
}

/** The folder and all folders above it, up to the root. */
export function ancestors(folder: string): string[] {
  const all: string[] = [];
  for (let at = folder; at !== all.at(-1); at = dirname(at)) all.push(at);
  return all;
}

/** Shows the home folder as `~`, unless it is the root, as in some containers. */
export function tilde(path: string, home: string): string {
  const bare = home.replace(/[/\\]$/, '');
  return bare !== '' && isInside(path, bare) ? `~${path.slice(bare.length)}` : path;
}

/** The same limit as the system's. */
const MAX_LINKS = 40;

/** The target of a path's links, even if it no longer exists. */
export function realPathOf(path: string, links = 0): string {
  for (const at of ancestors(path)) {
    const below = relative(at, path);
    try {
      return join(realpathSync.native(at), below);
    } catch {
      // The path is gone or not readable for this user. The folder above it may still resolve.
    }
    const target = links < MAX_LINKS ? readLink(at) : undefined;
    if (target !== undefined) return realPathOf(join(resolve(dirname(at), target), below), links + 1);
  }
  return path;
}

function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
