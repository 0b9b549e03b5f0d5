import { sourceFiles } from './files.ts';

/** The maximum number of lines of a file. A longer file contains more than one idea. */
const LONGEST = 500;

const files = sourceFiles()
  .map(({ path, text }) => ({ path, lines: text.split('\n').length - 1 }))
  .toSorted((a, b) => b.lines - a.lines);
const tooLong = files.filter(({ lines }) => lines > LONGEST);

console.log(`${files.length} source files, the longest has ${files[0]?.lines ?? 0} lines`);
for (const { path, lines } of tooLong) {
  console.error(`${path} has ${lines} lines; the limit is ${LONGEST}. Split it by idea.`);
}
process.exitCode = tooLong.length > 0 ? 1 : 0;
