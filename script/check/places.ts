import { textFiles } from './files.ts';

/** Folders where developers' and build machines keep their clones. The text is split, so that this file does not match. */
const MACHINE_PATHS = [`/${'work'}/`, `${process.cwd()}/`];

const problems = textFiles().flatMap(({ path, text }) =>
  MACHINE_PATHS.filter((place) => mentions(text, place)).map((place) => `${path} contains a machine's path, ${place}`),
);
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;

/** Whether the text has the place at the beginning of a path, not within a longer path. */
function mentions(text: string, place: string): boolean {
  for (let at = text.indexOf(place); at !== -1; at = text.indexOf(place, at + 1)) {
    if (!/[\w.~-]/.test(text[at - 1] ?? ' ')) return true;
  }
  return false;
}
