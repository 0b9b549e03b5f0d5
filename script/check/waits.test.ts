import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Usage } from './waits.ts';

const PROGRAM = join(import.meta.dirname, 'waits.ts');

function check(usage: Omit<Usage, 'file'>, ...options: string[]) {
  const file = join(mkdtempSync(join(tmpdir(), 'waits-')), 'usage.jsonl');
  writeFileSync(file, `${JSON.stringify({ file: 'a.test.ts', ...usage } satisfies Usage)}\n`);
  // On a machine with other work, the program only reports.
  const idle = `data:text/javascript,import os from 'node:os';os.loadavg=()=>[0,0,0];import{syncBuiltinESMExports}from'node:module';syncBuiltinESMExports()`;
  return spawnSync(process.execPath, ['--import', idle, PROGRAM, file, ...options], { encoding: 'utf8' });
}

test.each([
  ['ten seconds with a tenth of a processor', { wall: 10, processor: 1, queued: 0 }, 1],
  ['ten seconds with half a processor', { wall: 10, processor: 5, queued: 0 }, 0],
  ['four seconds without a processor', { wall: 4, processor: 0, queued: 0 }, 0],
  ['twenty seconds, most of them queued for a processor', { wall: 20, processor: 1, queued: 15 }, 0],
] as const)('a test file fails the run if it waits: %s', (_, usage, status) => {
  expect(check(usage)).toMatchObject({
    status,
    stdout: status === 0 ? '' : expect.stringContaining('Waits: a.test.ts'),
  });
});

test('slow files that wait are only reported', () => {
  const { status, stdout } = check({ wall: 10, processor: 1, queued: 0 }, '--report');
  expect([status, stdout]).toEqual([0, expect.stringContaining('took 10.0 s with 10 % of a processor')]);
});
