import { existsSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { withoutCredentials } from '../contract/repository.ts';
import { readTextIfPlain } from './plain-file.ts';

/** Limits git's own files; only a line or two of each is used. */
const MAX_BYTES = 1024 * 1024;

export interface Repository {
  root: string;
  remote?: string;
  branch?: string;
}

/** The git repository around a folder, read from its files, because git itself may be absent. */
export function findRepository(folder: string): Repository | undefined {
  const root = findRoot(folder);
  if (root === undefined) return undefined;
  const dot = join(root, '.git');
  // In a work tree, `.git` is a file that names the folder.
  const git = resolve(root, /^gitdir: (.+)$/m.exec(readText(dot) ?? '')?.[1]?.trim() ?? dot);
  const common = resolve(git, readText(join(git, 'commondir'))?.trim() ?? '.');
  const remote = /\[remote "origin"\][^[]*?\n\s*url\s*=\s*(\S+)/.exec(readText(join(common, 'config')) ?? '')?.[1];
  const branch = /^ref: refs\/heads\/(.+)$/m.exec(readText(join(git, 'HEAD')) ?? '')?.[1];
  return { root, ...(remote && { remote: withoutCredentials(remote) }), ...(branch && { branch }) };
}

/**
 * Longer than any folder on Linux and macOS. Without a limit, walking up from a folder that a transcript names could take a
 * minute.
 */
export const MAX_PATH = 4096;

/** Also undefined for a folder of another system: `C:\\work` would be resolved relative to the current folder. */
export function findRoot(folder: string): string | undefined {
  if (!isAbsolute(folder) || folder.length > MAX_PATH) return undefined;
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at;
    if (at === dirname(at)) return undefined;
  }
}

const readText = (path: string) => readTextIfPlain(path, MAX_BYTES);
