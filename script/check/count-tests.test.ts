import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const PROGRAM = join(import.meta.dirname, 'count-tests.ts');

/** Runs the program on a report with these tests, given as pairs of a file and the status of its only test. */
function count(tests: [path: string, status: string][], env: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), 'count-tests-'));
  const of = (wanted: string) => tests.filter(([, status]) => status === wanted).length;
  const report = {
    testResults: tests.map(([path, status]) => ({
      name: join(process.cwd(), path),
      startTime: 0,
      endTime: 1,
      assertionResults: [{ status, fullName: 'a test', failureMessages: [] }],
    })),
    success: true,
    numPassedTests: of('passed'),
    numFailedTests: of('failed'),
    numPendingTests: of('skipped'),
    numTodoTests: 0,
  };
  writeFileSync(join(folder, 'unit.json'), JSON.stringify(report));
  const { PATH } = process.env;
  return spawnSync(process.execPath, [PROGRAM, folder, 'unit'], { encoding: 'utf8', env: { PATH, ...env } });
}

const PASSED: [string, string] = ['a.test.ts', 'passed'];

test('the count of tests names the cause of each skipped test', () => {
  const { stdout, status } = count([PASSED, ['server/test/pooler.test.ts', 'skipped']], {});
  expect(stdout).toContain('Skipped: 1 of server/test/pooler.test.ts: no PgBouncer runs here (Debian: pgbouncer)\n');
  expect(stdout).toContain('1 passed, 0 failed, 1 skipped\n');
  expect(status).toBe(0);
});

test.each([
  ['no test is skipped', [PASSED], 0],
  ['a skipped test has an accepted cause', [PASSED, ['cli/test/series.slow.test.ts', 'skipped']], 0],
  ['a test is skipped because of a missing package', [PASSED, ['server/test/pooler.test.ts', 'skipped']], 1],
  ['a test is skipped without a known cause', [PASSED, ['server/test/events.test.ts', 'skipped']], 1],
] as [string, [string, string][], number][])(
  'in continuous integration, the count of tests fails only for skips without an accepted cause: %s',
  (_, tests, status) => {
    expect(count(tests, { CI: 'true' }).status).toBe(status);
  },
);
