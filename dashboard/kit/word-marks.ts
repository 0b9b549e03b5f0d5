import { diffWordsWithSpace } from 'diff';

/** Characters of a line, from `start` to before `end`. */
export type Range = readonly [start: number, end: number];

interface Line {
  sign: string;
  text: string;
}

/** In characters. Comparing longer lines takes longer than a frame. */
const LONGEST = 500;
/** With a smaller common part, a line counts as another line, not as a changed one. */
const IN_COMMON = 0.3;

/** The differences between removed lines and the lines that replaced them, by the index of the line. */
export function markWords(lines: readonly Line[]): ReadonlyMap<number, Range[]> {
  const marks = new Map<number, Range[]>();
  for (let start = 0; start < lines.length; ) {
    const removed = runOf(lines, start, '-');
    const added = runOf(lines, start + removed, '+');
    // If as many lines were added as removed, the lines are compared one by one.
    for (let at = start; removed === added && at < start + removed; at++) {
      const [before, after] = compare(lines[at]?.text ?? '', lines[at + removed]?.text ?? '');
      marks.set(at, before).set(at + removed, after);
    }
    start += removed + added || 1;
  }
  return marks;
}

function runOf(lines: readonly Line[], start: number, sign: string): number {
  let end = start;
  while (lines[end]?.sign === sign) end++;
  return end - start;
}

function compare(before: string, after: string): [Range[], Range[]] {
  if (before.length > LONGEST || after.length > LONGEST) return [[], []];
  const marks: [Range[], Range[]] = [[], []];
  let [inBefore, inAfter, common] = [0, 0, 0];
  for (const { value, added, removed } of diffWordsWithSpace(before, after)) {
    if (removed) marks[0].push([inBefore, inBefore + value.length]);
    if (added) marks[1].push([inAfter, inAfter + value.length]);
    if (!added) inBefore += value.length;
    if (!removed) inAfter += value.length;
    if (!added && !removed) common += value.trim().length;
  }
  return common < IN_COMMON * Math.max(before.trim().length, after.trim().length) ? [[], []] : marks;
}

/** Cuts a text that begins at `offset` of its line into parts that are unmarked and marked in turn. Parts may be empty. */
export function splitAt(text: string, offset: number, ranges: readonly Range[]): string[] {
  const edges = ranges.flat().map((edge) => Math.min(text.length, Math.max(0, edge - offset)));
  return [0, ...edges].map((edge, index) => text.slice(edge, edges[index] ?? text.length));
}
