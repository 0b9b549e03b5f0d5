import { textFiles } from './files.ts';

/** Where a developer's or a build machine keeps its clone. Split, so that this file does not contain it. */
const MACHINE_PATHS = [`/${'work'}/`, `${process.cwd()}/`];

const problems = textFiles().flatMap(({ path, text }) =>
  MACHINE_PATHS.filter((place) => mentions(text, place)).map((place) => `${path} names a path of a machine, ${place}`),
);
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;

/** At the beginning of a path, not within a longer one. */
function mentions(text: string, place: string): boolean {
  for (let at = text.indexOf(place); at !== -1; at = text.indexOf(place, at + 1)) {
    if (!/[\w.~-]/.test(text[at - 1] ?? ' ')) return true;
  }
  return false;
}
