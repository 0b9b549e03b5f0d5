import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const BYTES = 32;

/** The key that marks are made with. Made on first use, readable by its owner only, never sent anywhere. */
export function readKey(captureHome: string): Uint8Array {
  const path = join(captureHome, 'redaction.key');
  const present = readPresent(path);
  if (present !== undefined) return present;
  mkdirSync(captureHome, { recursive: true, mode: 0o700 });
  try {
    writeFileSync(path, randomBytes(BYTES), { mode: 0o600, flag: 'wx' });
  } catch (error) {
    // Another process was quicker: its key counts.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const key = readPresent(path);
  if (key === undefined) throw new Error(`no usable key in ${path}`);
  return key;
}

function readPresent(path: string): Uint8Array | undefined {
  try {
    const key = readFileSync(path);
    return key.length === BYTES ? key : undefined;
  } catch {
    return undefined;
  }
}
