import { sourceFiles } from './files.ts';

/** Lines a file may have, so that each is read in one sitting. */
const LONGEST = 350;
const MEDIAN = 80;
const NINETIETH = 200;

const isTest = (path: string) => /\.test\.tsx?$|\/(test|e2e)\//.test(path);
const files = sourceFiles().map(({ path, text }) => ({ path, lines: text.split('\n').length - 1 }));

const problems = [
  ...checkShares(
    'source',
    files.filter(({ path }) => !isTest(path)).map(({ lines }) => lines),
  ),
  ...files
    .filter(({ lines }) => lines > LONGEST)
    .map(({ path, lines }) => `${path} has ${lines} lines, and ${LONGEST} is the most. Split it by what it says.`),
];
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;

function checkShares(kind: string, lines: number[]): string[] {
  const sorted = lines.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
  console.log(`${sorted.length} ${kind} files: median ${at(0.5)} lines, 90 % up to ${at(0.9)}, longest ${at(1)}`);
  return [
    ...(at(0.5) > MEDIAN ? [`The median ${kind} file has ${at(0.5)} lines, and ${MEDIAN} is the most.`] : []),
    ...(at(0.9) > NINETIETH ? [`One ${kind} file in ten has over ${NINETIETH} lines.`] : []),
  ];
}
