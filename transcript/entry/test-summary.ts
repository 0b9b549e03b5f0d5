/** A test runner's summary of a run, in the output of a command. */
interface Summary {
  failed: RegExp;
  passed?: RegExp;
}

/** By test runner. Counts of failures come first, because a summary may name both. */
const SUMMARIES: { readonly [runner: string]: Summary } = {
  'vitest, jest, pest': {
    failed: /\b(?:Tests|Test (?:Files|Suites)):?[ \t][^\n]{0,80}\b[1-9]\d* failed/,
    passed: /\b(?:Tests|Test (?:Files|Suites)):?[ \t][^\n]{0,80}\b\d+ passed/,
  },
  mocha: { failed: /^\s{0,8}[1-9]\d* failing/m, passed: /^\s{0,8}\d+ passing/m },
  // `act` and `docker compose` print a prefix before each line.
  pytest: {
    failed: /^(?:[^\n|]{1,60}\|[ \t]{0,8})?=+ [^\n]{0,120}\b[1-9]\d* (?:failed|errors?)\b/m,
    passed: /^(?:[^\n|]{1,60}\|[ \t]{0,8})?=+ [^\n]{0,120}\b\d+ passed/m,
  },
  'pytest -q': {
    failed: /^[1-9]\d* (?:failed|errors?)\b[^\n]{0,100} in [\d.]+s/m,
    passed: /^\d+ passed\b[^\n]{0,100} in [\d.]+s/m,
  },
  unittest: { failed: /^FAILED \((?:failures|errors)=/m, passed: /^Ran \d+ tests? in [^\n]{1,30}\nOK\b/m },
  'go test': {
    failed: /^(?:--- FAIL|FAIL\t)/m,
    passed: /^ok[ \t]+\S+[ \t]+(?:[\d.]+s|\(cached\))/m,
  },
  gotestsum: {
    failed: /^DONE \d+ tests?,[^\n]{0,60}\b[1-9]\d* (?:failures?|errors?)\b/m,
    passed: /^DONE \d+ tests?\b/m,
  },
  ginkgo: { failed: /^FAIL! -- \d+ Passed/m, passed: /^SUCCESS! -- \d+ Passed/m },
  'cargo test': { failed: /^test result: FAILED/m, passed: /^test result: ok/m },
  nextest: {
    failed: /^\s{0,8}Summary \[[^\]\n]{1,40}\][^\n]{0,80}\b[1-9]\d* (?:failed|timed out)/m,
    passed: /^\s{0,8}Summary \[[^\]\n]{1,40}\][^\n]{0,80}\b\d+ passed/m,
  },
  foundry: { failed: /^Suite result: FAILED/m, passed: /^Suite result: ok/m },
  'rspec, hspec, jasmine': {
    failed: /\b(?:examples?|specs?), [1-9]\d* failures?/,
    passed: /\b(?:examples?|specs?), 0 failures/,
  },
  'minitest, test-unit': {
    failed: /\b\d+ (?:runs|tests), \d+ assertions, (?:[1-9]\d* failures|\d+ failures, [1-9]\d* errors)/,
    passed: /\b\d+ (?:runs|tests), \d+ assertions, 0 failures, 0 errors/,
  },
  'ExUnit, bats': {
    failed: /^\s{0,4}(?:\d+ (?:doctests?|properties|property), )*\d+ tests?, [1-9]\d* failures?/m,
    passed: /^\s{0,4}(?:\d+ (?:doctests?|properties|property), )*\d+ tests?, 0 failures/m,
  },
  phpunit: { failed: /^Tests: \d+,[^\n]{0,80}\b(?:Failures|Errors): [1-9]/m, passed: /^OK(?: \(\d+ tests?,|, but )/m },
  'junit, maven': {
    failed: /\bTests run: \d+, (?:Failures: [1-9]|Failures: \d+, Errors: [1-9])/,
    passed: /\bTests run: \d+, Failures: 0, Errors: 0/,
  },
  gradle: { failed: /^(?:\d+ tests? completed, [1-9]\d* failed|> Task :\S{0,80}[tT]est\S{0,20} FAILED)/m },
  scalatest: { failed: /\bTests: succeeded \d+, failed [1-9]/, passed: /\bTests: succeeded \d+, failed 0/ },
  'dotnet test': {
    failed: /^(?:Failed! {1,4}- Failed:|Test Run Failed\.|Test summary: total: \d+, failed: [1-9])/m,
    passed: /^(?:Passed! {1,4}- Failed:|Test Run Successful\.|Test summary: total: \d+, failed: 0)/m,
  },
  'deno test': {
    failed: /^FAILED \| \d+ passed/m,
    passed: /^ok \| \d+ passed/m,
  },
  'bun test': { failed: /^\s{0,4}[1-9]\d* fail$/m, passed: /^\s{0,4}0 fail$/m },
  'tap, node --test': { failed: /^(?:#|ℹ) fail [1-9]/m, passed: /^(?:#|ℹ) fail 0$/m },
  ava: { failed: /^\s{0,4}[1-9]\d* tests? failed/m, passed: /^\s{0,4}\d+ tests? passed/m },
  prove: { failed: /^Result: FAIL$/m, passed: /^(?:Result: PASS|All tests successful\.)$/m },
  ctest: { failed: /^\d+% tests passed, [1-9]/m, passed: /^100% tests passed, 0/m },
  XCTest: {
    failed: /(?:^\s{0,8}Executed \d+ tests?, with [1-9]\d* failures?|\*\* TEST FAILED \*\*)/m,
    passed: /(?:^\s{0,8}Executed \d+ tests?, with 0 failures|\*\* TEST SUCCEEDED \*\*)/m,
  },
  'swift testing': {
    failed: /\bTest run with \d+ tests?[^\n]{0,40} failed after/,
    passed: /\bTest run with \d+ tests?[^\n]{0,40} passed after/,
  },
  playwright: { failed: /^ {2}[1-9]\d* failed$/m, passed: /^ {2}\d+ passed \([\d.]+m?s?\)$/m },
  cypress: { failed: /✖ {1,4}\d+ of \d+ failed/, passed: /✔ {1,4}All specs passed!/ },
  karma: {
    failed: /\bExecuted \d+ of \d+ \([1-9]\d* FAILED\)/,
    passed: /\bExecuted \d+ of \d+ (?:\([^)\n]{0,40}\) )?SUCCESS/,
  },
  'flutter test, dart test': {
    failed: /^\d\d:\d\d \+\d+ [^\n]{0,40}: Some tests failed\./m,
    passed: /^\d\d:\d\d \+\d+[^\n]{0,40}: All tests passed!/m,
  },
  'cucumber, behave': {
    failed: /\b\d+ scenarios? (?:\([^)\n]{0,40}[1-9]\d* failed|passed, [1-9]\d* failed)/,
    passed: /\b\d+ scenarios? (?:\(\d+ passed|passed, 0 failed)/,
  },
  'zig test, tasty': {
    failed: /^\d+ (?:passed; [1-9]\d* failed\.|out of \d+ tests failed)/m,
    passed: /^All \d+ tests passed\b/m,
  },
  'clojure.test': {
    failed: /^(?:[1-9]\d* failures|\d+ failures, [1-9]\d* errors)/m,
    passed: /^0 failures, 0 errors\.$/m,
  },
  tox: { failed: /^\s{0,2}evaluation failed :\(/m, passed: /^\s{0,2}congratulations :\)/m },
};

/** Every line of a summary has one of these words. Only such lines are tried against the table. */
const WORDS = /pass|fail|PASS|FAIL|Passed|Failed|\bok\b|OK|succe|SUCCE|Failures|Ran \d|DONE|congratulations|error/g;
/** A longer line is not part of a summary, but of a minified file, for instance. */
const MAX_LINE = 500;
const ALL = Object.values(SUMMARIES);

/** Whether the tests of an output passed. One failed run among several counts as failed. Undefined without a summary. */
export function readSummary(output: string): boolean | undefined {
  const lines = linesWithWords(output);
  if (lines === '') return undefined;
  if (ALL.some(({ failed }) => failed.test(lines))) return false;
  return ALL.some(({ passed }) => passed?.test(lines)) || undefined;
}

function linesWithWords(output: string): string {
  let lines = '';
  WORDS.lastIndex = 0;
  for (let found = WORDS.exec(output); found; found = WORDS.exec(output)) {
    const start = output.lastIndexOf('\n', found.index) + 1;
    const next = output.indexOf('\n', found.index);
    const end = next < 0 ? output.length : next;
    if (end - start <= MAX_LINE) lines += `${output.slice(start, end).trimEnd()}\n`;
    WORDS.lastIndex = end;
  }
  return lines;
}
