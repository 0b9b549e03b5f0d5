import { statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { isVisibility, strictestOf, type Visibility } from '../../contract/session.ts';
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
  return {
    paths,
    remotes,
    id: identityOf(folder),
    ...(root !== undefined && { root }),
    ...wishOf(paths),
  };
}

/** What is known of a folder that is gone and was never looked into: where it was, and what lies above it. */
export function lookAbove(folder: string): FolderFacts {
  const paths = isAbsolute(folder) ? [...new Set([folder, realPathOf(folder)])] : [folder];
  return { paths, remotes: [], ...wishOf(paths) };
}

/** A link is of both places: the strictest of them counts. */
function wishOf(paths: readonly string[]): FolderWish {
  const wishes = paths.map(findWish);
  const objection = wishes.find((wish) => wish.objection !== undefined)?.objection;
  const asked = wishes.flatMap(({ visibility }) => visibility ?? []);
  return {
    ...(objection !== undefined && { objection }),
    ...(asked.length > 0 && { visibility: strictestOf(...asked) }),
  };
}

/** Committed to a repository, or laid into any folder, it says for everybody whether sessions there are captured, and who sees them. */
export const FOLDER_FILE = '.session-capture.json';

/** It holds two settings. */
const MOST_BYTES = 64 * 1024;

/** What the files above a folder say of its sessions. */
export interface FolderWish {
  /** Why the nearest one that says something of capturing is against it. */
  objection?: string;
  /** The strictest that any of them asks for. */
  visibility?: Visibility;
}

/**
 * What `.session-capture.json` says, in the folder and above it. One that cannot be understood is against capturing; behind
 * one that says yes, it hides the sessions. A folder of another system, `C:\\work`, would count from where we are.
 */
export function findWish(folder: string): FolderWish {
  const asked: Visibility[] = [];
  let isAllowed = false;
  for (const at of isAbsolute(folder) ? ancestors(folder) : []) {
    const path = join(at, FOLDER_FILE);
    const said = readWish(path);
    if (said === 'nothing') continue;
    if (said === 'unclear') {
      if (!isAllowed) return { objection: `${path} is not ${EXPECTED}` };
      asked.push('private');
      continue;
    }
    if (said.capture === false && !isAllowed) return { objection: `${path} says so` };
    isAllowed ||= said.capture === true;
    if (said.visibility !== undefined) asked.push(said.visibility);
  }
  return asked.length === 0 ? {} : { visibility: strictestOf(...asked) };
}

const EXPECTED = '{"capture": true} or {"capture": false}, with or without "visibility": "team", "facts" or "private"';

function readWish(path: string): { capture?: boolean; visibility?: Visibility } | 'nothing' | 'unclear' {
  try {
    const wish = JSON.parse(readPlainFile(path, MOST_BYTES).toString('utf8')) as Record<string, unknown> | null;
    const { capture, visibility } = wish ?? {};
    const hasCapture = typeof capture === 'boolean';
    const isClear = (hasCapture || capture === undefined) && (visibility === undefined || isVisibility(visibility));
    if (!isClear || (capture === undefined && visibility === undefined)) return 'unclear';
    return { ...(hasCapture && { capture }), ...(isVisibility(visibility) && { visibility }) };
  } catch (error) {
    return ['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? '') ? 'nothing' : 'unclear';
  }
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
