import { expect, test } from 'vitest';
import { readSummary } from './test-summary.ts';

/** Summaries of a passed and a failed run, as the test runners print them. */
const OUTPUTS: readonly [runner: string, passed: string, failed: string][] = [
  ['vitest', ' Test Files  2 passed (2)\n      Tests  5 passed (5)', '      Tests  2 failed | 5 passed (7)'],
  ['vitest, cut', ' Test Files  12 passed (12)', ' Test Files  1 failed | 11 passed (12)'],
  ['jest', 'Tests:       11 passed, 11 total', 'Tests:       1 failed, 10 passed, 11 total'],
  ['jest without a result', 'Test Suites: 25 passed, 25 total', 'Test Suites: 2 failed, 23 passed, 25 total'],
  ['mocha', '  3 passing (10ms)', '  2 passing (10ms)\n  1 failing'],
  ['pytest', '===== 3 passed in 0.1s =====', '===== 1 failed, 3 passed in 0.1s ====='],
  ['pytest in act', '[CI/test]   | ===== 63 passed in 1.00s =====', '[CI/test]   | ===== 1 error in 1.00s ====='],
  ['pytest -q', '3 passed in 0.12s', '1 failed, 2 passed in 0.12s'],
  ['unittest', 'Ran 2 tests in 0.001s\n\nOK', 'Ran 2 tests in 0.001s\n\nFAILED (failures=1)'],
  ['go test', 'ok  \texample.test/pkg\t0.01s', '--- FAIL: TestX (0.00s)\nFAIL\texample.test/pkg\t0.01s'],
  ['gotestsum', 'DONE 12 tests in 1.2s', 'DONE 12 tests, 1 failure in 1.2s'],
  ['ginkgo', 'SUCCESS! -- 5 Passed | 0 Failed', 'FAIL! -- 4 Passed | 1 Failed'],
  ['cargo test', 'test result: ok. 3 passed; 0 failed', 'test result: FAILED. 2 passed; 1 failed'],
  [
    'nextest',
    '     Summary [   0.1s] 5 tests run: 5 passed, 0 skipped',
    '     Summary [   0.1s] 5 tests run: 4 passed, 1 failed',
  ],
  ['rspec', '3 examples, 0 failures', '3 examples, 1 failure'],
  [
    'minitest',
    '8 runs, 12 assertions, 0 failures, 0 errors, 0 skips',
    '8 runs, 12 assertions, 0 failures, 2 errors, 0 skips',
  ],
  ['phpunit', 'OK (5 tests, 7 assertions)', 'FAILURES!\nTests: 5, Assertions: 7, Failures: 1.'],
  ['maven', 'Tests run: 5, Failures: 0, Errors: 0, Skipped: 0', 'Tests run: 5, Failures: 0, Errors: 1, Skipped: 0'],
  ['dotnet test', 'Passed!  - Failed:     0, Passed:     3', 'Failed!  - Failed:     1, Passed:     2'],
  ['deno test', 'ok | 5 passed | 0 failed (10ms)', 'FAILED | 4 passed | 1 failed (10ms)'],
  ['bun test', ' 5 pass\n 0 fail\nRan 5 tests across 1 file.', ' 4 pass\n 1 fail\nRan 5 tests across 1 file.'],
  ['node --test', 'ℹ pass 3\nℹ fail 0', 'ℹ pass 2\nℹ fail 1'],
  ['tap', '# pass 3\r\n# fail 0\r\n', '# pass 2\r\n# fail 1\r\n'],
  ['ava', '  5 tests passed', '  1 test failed'],
  ['prove', 'All tests successful.\nResult: PASS', 'Result: FAIL'],
  ['ctest', '100% tests passed, 0 tests failed out of 5', '80% tests passed, 1 tests failed out of 5'],
  [
    'XCTest',
    '\t Executed 5 tests, with 0 failures (0 unexpected) in 0.1s',
    '\t Executed 5 tests, with 1 failure (0 unexpected)',
  ],
  [
    'swift testing',
    '✔ Test run with 5 tests passed after 0.1 seconds.',
    '✘ Test run with 5 tests failed after 0.1 seconds',
  ],
  ['playwright', '  3 passed (2.1s)', '  1 failed\n    [chromium] › a.spec.ts\n  2 passed (2.1s)'],
  ['cypress', '    ✔  All specs passed!          00:02', '    ✖  1 of 2 failed (50%)        00:02'],
  ['karma', 'Chrome: Executed 5 of 5 SUCCESS (0.1 secs)', 'Chrome: Executed 5 of 5 (1 FAILED) (0.1 secs)'],
  ['flutter test', '00:01 +5: All tests passed!', '00:02 +4 -1: Some tests failed.'],
  ['ExUnit', '3 doctests, 5 tests, 0 failures', '5 tests, 1 failure'],
  ['cucumber', '5 scenarios (5 passed)', '5 scenarios (1 failed, 4 passed)'],
  ['scalatest', '[info] Tests: succeeded 5, failed 0, canceled 0', '[info] Tests: succeeded 4, failed 1, canceled 0'],
  ['zig test', 'All 5 tests passed.', '4 passed; 1 failed.'],
  ['clojure.test', 'Ran 5 tests containing 7 assertions.\n0 failures, 0 errors.', '1 failures, 0 errors.'],
  ['tox', '  congratulations :)', '  evaluation failed :('],
];

test.each(OUTPUTS)('the summary of %s says whether tests passed', (_, passed, failed) => {
  expect(readSummary(`building …\n${passed}\n`)).toBe(true);
  expect(readSummary(`building …\n${failed}\n`)).toBe(false);
  expect(readSummary(`${passed}\n${failed}\n${passed}\n`)).toBe(false);
});

test('a build of gradle reports tests only if they failed', () => {
  expect(readSummary('> Task :app:test FAILED\n\n5 tests completed, 1 failed')).toBe(false);
  expect(readSummary('BUILD SUCCESSFUL in 2s')).toBeUndefined();
});

test('other texts about success and failure are no summary', () => {
  const texts = [
    '',
    'ok',
    'All checks passed!',
    'FAILED to connect',
    'expect(failed).toBe(0);',
    'it fails if 3 passed values differ',
    'ok 1 - adds a lock',
    '✓ 12 files formatted, 0 failed',
    '3 files changed, 10 insertions(+)',
    'Successfully installed 5 packages',
    `const a = "${'x'.repeat(1_000)} Tests: 1 failed"`,
  ];
  expect(texts.filter((text) => readSummary(text) !== undefined)).toEqual([]);
});

test('hostile outputs are read quickly: each line once', () => {
  for (const piece of ['fail\n', 'fail', '= ', 'Tests: ', '1 passed, ', '\n\n', 'Ran 1 ']) {
    expect(readSummary(piece.repeat(32_000 / piece.length))).not.toBe(true);
  }
});
