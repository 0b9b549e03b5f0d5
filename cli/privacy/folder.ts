import { statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { codeOf } from '../failure.ts';
import { ancestors, realPathOf } from '../paths.ts';
import { readPlainFile } from '../plain-file.ts';
import { findRepository } from '../repository.ts';
import type { FolderFacts } from '../spool/decisions.ts';

/** Looks into a folder; undefined where it is gone, or is one of another system. */
export function lookInto(folder: string): FolderFacts | undefined {
  if (!isAbsolute(folder) || !isFolder(folder)) return undefined;
  const paths = [...new Set([folder, realPathOf(folder)])];
  const repositories = paths.flatMap((path) => findRepository(path) ?? []);
  const [root] = repositories.map((one) => one.root);
  const remotes = [...new Set(repositories.flatMap(({ remote }) => remote ?? []))];
  const objection = paths.map(findObjection).find((each) => each !== undefined);
  return {
    paths,
    remotes,
    id: identityOf(folder),
    ...(root !== undefined && { root }),
    ...(objection !== undefined && { objection }),
  };
}

/** What is known of a folder that is gone and was never looked into: where it was, and what lies above it. */
export function lookAbove(folder: string): FolderFacts {
  const paths = isAbsolute(folder) ? [...new Set([folder, realPathOf(folder)])] : [folder];
  const objection = paths.map(findObjection).find((each) => each !== undefined);
  return { paths, remotes: [], ...(objection !== undefined && { objection }) };
}

/** Committed to a repository, or laid into any folder, it says for everybody whether sessions there are captured. */
export const FOLDER_FILE = '.session-capture.json';

/** It holds one setting. */
const MOST_BYTES = 64 * 1024;

/**
 * Why the nearest `.session-capture.json`, in the folder or above it, is against capturing; undefined where it is not.
 * One that cannot be understood is against it. A folder of another system, `C:\\work`, would count from where we are.
 */
export function findObjection(folder: string): string | undefined {
  for (const at of isAbsolute(folder) ? ancestors(folder) : []) {
    const path = join(at, FOLDER_FILE);
    try {
      const wish = JSON.parse(readPlainFile(path, MOST_BYTES).toString('utf8')) as { capture?: unknown } | null;
      if (wish?.capture === true) return undefined;
      if (wish?.capture === false) return `${path} says so`;
    } catch (error) {
      if (['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? '')) continue;
    }
    return `${path} is not {"capture": true} or {"capture": false}`;
  }
  return undefined;
}

function identityOf(path: string): string {
  const { dev, ino, birthtimeMs } = statSync(path);
  return `${dev} ${ino} ${birthtimeMs}`;
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
