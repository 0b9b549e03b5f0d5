import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readKey } from './key.ts';

test('a key is created once, readable only by its owner', () => {
  const folder = mkdtempSync(join(tmpdir(), 'key-'));
  const first = readKey(join(folder, 'new'));
  expect(first).toHaveLength(32);
  expect(readKey(join(folder, 'new'))).toEqual(first);
  if (process.platform !== 'win32') expect(statSync(join(folder, 'new', 'redaction.key')).mode & 0o777).toBe(0o600);
  rmSync(folder, { recursive: true });
});

test.each([0, 20])('a key with only %i bytes left after a loss of power is replaced', (length) => {
  const folder = mkdtempSync(join(tmpdir(), 'key-'));
  writeFileSync(join(folder, 'redaction.key'), new Uint8Array(length));
  const key = readKey(folder);
  expect(key).toHaveLength(32);
  expect(readKey(folder)).toEqual(key);
  expect(readdirSync(folder)).toEqual(['redaction.key']);
  rmSync(folder, { recursive: true });
});
