import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const PROGRAM = join(import.meta.dirname, 'count-tests.ts');

type TestOf = [path: string, status: string, failure?: string];

/** Runs the program on a report with these tests, given by the file, the status of its only test, and the test's first failure. */
function count(tests: TestOf[], env: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), 'count-tests-'));
  const of = (wanted: string) => tests.filter(([, status]) => status === wanted).length;
  const report = {
    testResults: tests.map(([path, status, failure]) => ({
      name: join(process.cwd(), path),
      status: status === 'unloadable' ? 'failed' : status,
      message: status === 'unloadable' ? failure : '',
      startTime: 0,
      endTime: 1,
      assertionResults:
        status === 'unloadable' ? [] : [{ status, fullName: 'a test', failureMessages: failure ? [failure] : [] }],
    })),
    success: tests.every(([, status]) => status === 'passed' || status === 'skipped'),
    numPassedTests: of('passed'),
    numFailedTests: of('failed'),
    numPendingTests: of('skipped'),
    numTodoTests: 0,
  };
  writeFileSync(join(folder, 'unit.json'), JSON.stringify(report));
  const { PATH } = process.env;
  return spawnSync(process.execPath, [PROGRAM, folder, 'unit'], { encoding: 'utf8', env: { PATH, ...env } });
}

const PASSED: TestOf = ['a.test.ts', 'passed'];

test('the count of tests names the cause of each skipped test', () => {
  const { stdout, status } = count([PASSED, ['server/test/pooler.test.ts', 'skipped']], {});
  expect(stdout).toContain('Skipped: 1 of server/test/pooler.test.ts: no PgBouncer runs here (Debian: pgbouncer)\n');
  expect(stdout).toContain('1 passed, 0 failed, 1 skipped\n');
  expect(status).toBe(0);
});

test('the count of tests names each failure in a line, also outside of tests and of a test that passed later', () => {
  const { stdout, status } = count(
    [
      PASSED,
      ['b.test.ts', 'failed', 'Error: 2 is not 1\n    at b.test.ts:3'],
      ['c.test.ts', 'unloadable', 'SyntaxError: no such export\n    at c.test.ts:1'],
      ['d.test.ts', 'passed', 'Error: too early'],
      ['e.test.ts', 'unloadable', ''],
    ],
    {},
  );
  expect(stdout).toContain(
    'Failed: b.test.ts > a test: Error: 2 is not 1\n' +
      'Failed: c.test.ts: SyntaxError: no such export\n' +
      'Passed at the second attempt: d.test.ts > a test: Error: too early\n' +
      'Failed: e.test.ts: an error outside its tests\n',
  );
  expect(status).toBe(1);
});

test.each([
  ['no test is skipped', [PASSED], 0],
  ['a skipped test has an accepted cause', [PASSED, ['cli/test/series.slow.test.ts', 'skipped']], 0],
  ['a test is skipped because of a missing package', [PASSED, ['server/test/pooler.test.ts', 'skipped']], 1],
  ['a test is skipped without a known cause', [PASSED, ['server/test/events.test.ts', 'skipped']], 1],
] as [string, TestOf[], number][])(
  'in continuous integration, the count of tests fails only for skips without an accepted cause: %s',
  (_, tests, status) => {
    expect(count(tests, { CI: 'true' }).status).toBe(status);
  },
);
