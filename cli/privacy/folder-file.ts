import { join } from 'node:path';
import { codeOf } from '../failure.ts';
import { readPlainFile } from '../plain-file.ts';
import { ancestors } from './patterns.ts';

/** Committed to a repository, or laid into any folder, it says for everybody whether sessions there are captured. */
export const FOLDER_FILE = '.session-capture.json';

/** It holds one setting. */
const MOST_BYTES = 64 * 1024;

/**
 * Why the nearest `.session-capture.json`, in the folder or above it, is against capturing; undefined where it is not.
 * One that cannot be understood is against it.
 */
export function findObjection(folder: string): string | undefined {
  for (const at of ancestors(folder)) {
    const path = join(at, FOLDER_FILE);
    const text = read(path);
    if (text === undefined) continue;
    const wants = text === '' ? undefined : parseWish(text);
    if (wants === true) return undefined;
    return wants === false ? `${path} says so` : `${path} is not {"capture": true} or {"capture": false}`;
  }
  return undefined;
}

/** Undefined where there is no file; empty where it cannot be read. */
function read(path: string): string | undefined {
  try {
    return readPlainFile(path, MOST_BYTES).toString('utf8');
  } catch (error) {
    return ['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? '') ? undefined : '';
  }
}

function parseWish(text: string): unknown {
  try {
    return (JSON.parse(text) as { capture?: unknown } | null)?.capture;
  } catch {
    return undefined;
  }
}
