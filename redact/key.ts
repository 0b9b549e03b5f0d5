import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const BYTES = 32;

export const keyPath = (captureHome: string): string => join(captureHome, 'redaction.key');

/** The key of the marks. */
export const readKey = (captureHome: string): Uint8Array => readSecretBytes(keyPath(captureHome));

/**
 * 32 random bytes. They are created on first use, readable only by their owner, and never sent. The file is complete or
 * absent, even after a loss of power. An incomplete file was never used, and is replaced.
 */
export function readSecretBytes(path: string): Uint8Array {
  const present = readPresent(path);
  if (present !== undefined) return present;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    writeFileSync(draft, randomBytes(BYTES), { mode: 0o600, flag: 'wx', flush: true });
    publish(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
  const key = readPresent(path);
  if (key === undefined) throw new Error(`no usable key in ${path}`);
  return key;
}

function publish(draft: string, path: string): void {
  try {
    linkSync(draft, path);
  } catch {
    // Either another process was faster, and its key counts. Or the file contains half a key, or the file system has no links.
    if (readPresent(path) === undefined) renameSync(draft, path);
  }
}

function readPresent(path: string): Uint8Array | undefined {
  try {
    const key = readFileSync(path);
    return key.length === BYTES ? key : undefined;
  } catch {
    return undefined;
  }
}
