import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { SKIPS, type Skip } from './skips.ts';

/** The fields of the test runner's JSON report that are read here; times are in milliseconds. */
interface Report {
  testResults: TestFile[];
  success: boolean;
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTodoTests: number;
}

interface TestFile {
  name: string;
  status: string;
  /** The error of a file that could not be loaded. */
  message: string;
  startTime: number;
  endTime: number;
  assertionResults: { status: string; fullName: string; failureMessages: string[] }[];
}

interface Coverage {
  total: Record<'lines' | 'branches', { pct: number }>;
}

/** Stands for the report of an aborted run, and counts as one failure. */
const BROKEN_OFF: Report = {
  testResults: [],
  success: false,
  numPassedTests: 0,
  numFailedTests: 1,
  numPendingTests: 0,
  numTodoTests: 0,
};

const SLOWEST = 10;
const RAN: ReadonlySet<string> = new Set(['passed', 'failed']);
const ENGINE_LEFT_OUT: Skip = { files: /./, cause: 'ENGINE leaves an engine out' };
/** A file that stays when the next run replaces the results of this one. */
const SEEDS = 'artefacts/seeds.txt';

const [folder = '.', ...projects] = process.argv.slice(2);
const reports = projects.map((project) => {
  const path = join(folder, `${project}.json`);
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Report) : BROKEN_OFF;
});

const sum = (count: (report: Report) => number) => reports.reduce((total, report) => total + count(report), 0);
const files = reports.flatMap(({ testResults }) => testResults);
/** The files of runs on one engine. */
const onOneEngine = new Set(reports.flatMap(({ testResults }, at) => (projects[at]?.includes('-') ? testResults : [])));
const slowest = files.toSorted((one, other) => secondsOf(other) - secondsOf(one)).slice(0, SLOWEST);
console.log('The slowest files:');
for (const file of slowest) console.log(`${secondsOf(file).toFixed(1).padStart(8)} s  ${pathOf(file)}`);
for (const line of files.flatMap(howToRepeat)) {
  console.log(line);
  appendFileSync(SEEDS, `${line}\n`);
}

const coverage = join(folder, 'coverage', 'coverage-summary.json');
if (existsSync(coverage)) {
  const { total } = JSON.parse(readFileSync(coverage, 'utf8')) as Coverage;
  console.log(`Coverage: ${total.lines.pct} % of lines, ${total.branches.pct} % of branches`);
}
for (const line of files.flatMap(failuresOf)) console.log(line);
const passed = sum((report) => report.numPassedTests);
// A file that cannot be loaded, or an error outside any test, fails the run without a failed test.
const failed = sum((report) => Math.max(report.numFailedTests, report.success ? 0 : 1));
const skipped = sum((report) => report.numPendingTests + report.numTodoTests);
const unnamed = nameSkips();
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
if (unnamed && process.env.CI === 'true') process.exitCode = 1;
// The runner also exits with 1, but its exit code is lost if other code in its process exits with 0.
if (failed > 0) process.exitCode = 1;
if (passed === 0) {
  console.error('No test ran.');
  process.exitCode = 1;
}

/** Prints each file with skipped tests and the cause. @returns whether continuous integration must not accept one of them */
function nameSkips(): boolean {
  let isFault = false;
  for (const file of files) {
    const count = file.assertionResults.filter(({ status }) => !RAN.has(status)).length;
    if (count === 0) continue;
    const path = pathOf(file);
    const known =
      process.env.ENGINE || onOneEngine.has(file)
        ? ENGINE_LEFT_OUT
        : SKIPS.find(({ files }) => files.test(path.replace('.slow.test.', '.test.')));
    console.log(
      `Skipped: ${count} of ${path}: ${known?.cause ?? 'nobody knows why; name the cause in script/check/skips.ts'}`,
    );
    isFault ||= known?.isAccepted !== true;
  }
  return isFault;
}

/** A short line for each failed test, and for each test that failed first and then passed. The whole errors may be far above. */
function failuresOf(file: TestFile): string[] {
  const tests = file.assertionResults
    .filter(({ status, failureMessages }) => status === 'failed' || (status === 'passed' && failureMessages.length > 0))
    .map(({ status, fullName, failureMessages: [message = ''] }) => {
      const outcome = status === 'failed' ? 'Failed' : 'Passed at the second attempt';
      return `${outcome}: ${pathOf(file)} > ${fullName}: ${message.split('\n')[0]}`;
    });
  if (file.status !== 'failed' || file.assertionResults.some(({ status }) => status === 'failed')) return tests;
  // The report does not have the errors of hooks.
  return [...tests, `Failed: ${pathOf(file)}: ${file.message.split('\n')[0] || 'an error outside its tests'}`];
}

function secondsOf({ startTime, endTime }: TestFile): number {
  return (endTime - startTime) / 1000;
}

function pathOf({ name }: TestFile): string {
  return relative(process.cwd(), name);
}

/** A command to repeat each failed test that names its seed. */
function howToRepeat(file: TestFile): string[] {
  return file.assertionResults
    .filter(({ status }) => status === 'failed')
    .flatMap(({ fullName, failureMessages }) => {
      const [, seed] = /(?:seed: |CAPTURE_TEST_SEED=)(-?\d+)/.exec([fullName, ...failureMessages].join('\n')) ?? [];
      return seed
        ? [`Repeat: CAPTURE_TEST_SEED=${seed} npx vitest run --project unit ${pathOf(file)}  # ${fullName}`]
        : [];
    });
}
