import { statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { isVisibility, strictestOf, type Visibility } from '../../contract/session.ts';
import { codeOf } from '../failure.ts';
import { ancestors, realPathOf } from '../paths.ts';
import { readPlainFile } from '../plain-file.ts';
import { findRepository } from '../repository.ts';
import type { FolderFacts } from '../spool/decisions.ts';

/** Looks into a folder. Undefined if the folder is gone or belongs to another system. */
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

/** The facts about a folder that is gone and was never looked into: its path, and the folders above it. */
export function lookAbove(folder: string): FolderFacts {
  const paths = isAbsolute(folder) ? [...new Set([folder, realPathOf(folder)])] : [folder];
  return { paths, remotes: [], ...wishOf(paths) };
}

/** A link belongs to two places. The stricter of the two wishes counts. */
function wishOf(paths: readonly string[]): FolderWish {
  const wishes = paths.map(findWish);
  const objection = wishes.find((wish) => wish.objection !== undefined)?.objection;
  const asked = wishes.flatMap(({ visibility }) => visibility ?? []);
  return {
    ...(objection !== undefined && { objection }),
    ...(asked.length > 0 && { visibility: strictestOf(...asked) }),
  };
}

/**
 * This file is committed to a repository or placed in any folder. It says, for everybody, whether sessions there are captured
 * and who sees them.
 */
export const FOLDER_FILE = '.session-capture.json';

/** The file has two settings. */
const MAX_BYTES = 64 * 1024;

/** The wishes of the files in and above a folder about its sessions. */
export interface FolderWish {
  /** Why the nearest file that mentions capturing forbids it. */
  objection?: string;
  /** The strictest visibility that any of the files asks for. */
  visibility?: Visibility;
}

/**
 * The wish in the `.session-capture.json` files of the folder and the folders above it. The nearest file that mentions
 * capturing decides about it, and the strictest visibility of all files counts. A file that cannot be understood forbids
 * capturing. If a nearer file allows capturing, it makes the sessions private instead. A path of another system, such as
 * `C:\\work`, would be resolved relative to the current folder, so it is ignored.
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
    const wish = JSON.parse(readPlainFile(path, MAX_BYTES).toString('utf8')) as Record<string, unknown> | null;
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
