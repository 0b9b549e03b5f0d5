import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What the test runner's JSON report says, as far as it is read here. */
interface Report {
  success: boolean;
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTodoTests: number;
}

interface Coverage {
  total: Record<'lines' | 'branches', { pct: number }>;
}

/** A run that broke off left no report, and counts as one failure. */
const BROKEN_OFF: Report = {
  success: false,
  numPassedTests: 0,
  numFailedTests: 1,
  numPendingTests: 0,
  numTodoTests: 0,
};

const [folder = '.', ...projects] = process.argv.slice(2);
const reports = projects.map((project) => {
  const path = join(folder, `${project}.json`);
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Report) : BROKEN_OFF;
});

const sum = (count: (report: Report) => number) => reports.reduce((total, report) => total + count(report), 0);
const coverage = join(folder, 'coverage', 'coverage-summary.json');
if (existsSync(coverage)) {
  const { total } = JSON.parse(readFileSync(coverage, 'utf8')) as Coverage;
  console.log(`Coverage: ${total.lines.pct} % of lines, ${total.branches.pct} % of branches`);
}
const passed = sum((report) => report.numPassedTests);
// A file that cannot be loaded, or an error outside any test, fails the run without a failed test.
const failed = sum((report) => Math.max(report.numFailedTests, report.success ? 0 : 1));
const skipped = sum((report) => report.numPendingTests + report.numTodoTests);
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
// The runner says so too, but its word is lost when something else in its process ends that with 0.
if (failed > 0) process.exitCode = 1;
