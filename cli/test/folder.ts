import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Creates an empty folder and removes it after the test. */
export function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'capture-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

export function write(path: string, content: string | Uint8Array, mode = 0o644): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content, { mode });
  return path;
}

/** Removes the files in a folder with matching names. */
export function removeFiles(folder: string, pattern: RegExp): void {
  for (const name of readdirSync(folder)) if (pattern.test(name)) rmSync(join(folder, name));
}
