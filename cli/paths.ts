import { dirname, sep } from 'node:path';

/** Whether a path is a folder, or lies anywhere below it. */
export const isInside = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(/[/\\]$/.test(folder) ? folder : folder + sep);

/** The folder and all above it, up to the root. */
export function ancestors(folder: string): string[] {
  const all: string[] = [];
  for (let at = folder; at !== all.at(-1); at = dirname(at)) all.push(at);
  return all;
}

/** For people: the home folder as `~`. */
export const tilde = (path: string, home: string): string =>
  isInside(path, home) ? `~${path.slice(home.length)}` : path;
