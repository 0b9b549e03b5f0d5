import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readKey } from './key.ts';

test('makes a key once, for its owner only', () => {
  const folder = mkdtempSync(join(tmpdir(), 'key-'));
  const first = readKey(join(folder, 'new'));
  expect(first).toHaveLength(32);
  expect(readKey(join(folder, 'new'))).toEqual(first);
  if (process.platform !== 'win32') expect(statSync(join(folder, 'new', 'redaction.key')).mode & 0o777).toBe(0o600);
  rmSync(folder, { recursive: true });
});
