import { dirname, sep } from 'node:path';

/** Whether a path is a folder, or lies anywhere below it. A slash behind the folder changes nothing. */
export function isInside(path: string, folder: string): boolean {
  const inside = /[/\\]$/.test(folder) ? folder : folder + sep;
  return `${path}${inside.at(-1)}`.startsWith(inside);
}

/** The folder and all above it, up to the root. */
export function ancestors(folder: string): string[] {
  const all: string[] = [];
  for (let at = folder; at !== all.at(-1); at = dirname(at)) all.push(at);
  return all;
}

/** For people: the home folder as `~`, but where it is the root, as in some containers. */
export function tilde(path: string, home: string): string {
  const bare = home.replace(/[/\\]$/, '');
  return bare !== '' && isInside(path, bare) ? `~${path.slice(bare.length)}` : path;
}
