import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export const REPOSITORY = at('../../..');
/** Pictures and records of the runs, ignored by git. */
export const ARTEFACTS = at('../../../artefacts/browser');

export interface Folder {
  path: string;
  remove(): void;
}

export function makeFolder(): Folder {
  const path = mkdtempSync(join(tmpdir(), 'capture-browser-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 3 }) };
}

/** Turns a sentence into the name of a file. */
export const fileNameOf = (sentence: string): string =>
  sentence
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
    .slice(0, 100);
