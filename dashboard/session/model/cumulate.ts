import { structuredPatch } from 'diff';
import type { FileChange, Hunk } from '../../../contract/entry/patch.ts';

/** A change of one file, and the event that made it. */
export interface Step {
  sequence: number;
  change: FileChange;
  /** The whole file before, where the agent kept it. */
  before?: string;
}

/** A hunk of the difference that all steps make together, with the events whose lines are in it. */
export interface CumulativeHunk extends Hunk {
  sequences: readonly number[];
}

/** Beyond this the difference is not worth the time it takes. */
const MOST_CHARACTERS = 400_000;
const MOST_LINES = 12_000;
/** Lines that went or came: the time grows with their square. */
const MOST_DIFFERENT = 2_000;

interface Line {
  text: string;
  /** The event that wrote it; undefined where it was there before. */
  by?: number;
}

/**
 * The difference between the file before the first step and after the last one. Undefined where the file cannot be
 * followed: what it was before the first step is not known, or something else changed it in between.
 */
export function cumulate(steps: readonly Step[]): CumulativeHunk[] | undefined {
  const start = startOf(steps[0]);
  if (start === undefined) return undefined;
  let lines = linesOf(start);
  for (const step of steps) {
    if (step.before !== undefined && step.before !== textOf(lines)) lines = adopt(lines, step.before);
    const next = apply(lines, step);
    if (!next || next.length > MOST_LINES) return undefined;
    lines = next;
  }
  const end = textOf(lines);
  if (start.length + end.length > MOST_CHARACTERS) return undefined;
  const isCompared = start !== '' && end !== '';
  const options = { context: 3, ...(isCompared && { maxEditLength: MOST_DIFFERENT }) };
  const patch = structuredPatch('', '', start, end, undefined, undefined, options);
  return patch?.hunks.map(({ oldStart, newStart, newLines, lines: marked }) => ({
    oldStart,
    newStart,
    lines: marked.filter((line) => !line.startsWith('\\')),
    sequences: writersOf(lines.slice(Math.max(0, newStart - 1), newStart - 1 + newLines), steps),
  }));
}

function startOf(step: Step | undefined): string | undefined {
  if (!step) return undefined;
  if (step.before !== undefined) return step.before;
  const { kind, hunks } = step.change;
  // A file that was written and not told apart from what it was may have been there before.
  if (kind === 'create') return hunks.some(({ lines }) => lines.some((line) => line.startsWith('-'))) ? undefined : '';
  return kind === 'delete' ? hunks.flatMap(({ lines }) => lines.map((line) => line.slice(1))).join('\n') : undefined;
}

function apply(lines: readonly Line[], { sequence, change: { kind, hunks } }: Step): Line[] | undefined {
  if (kind === 'delete') return [];
  const written = (marked: readonly string[]): Line[] => marked.map((line) => ({ text: line.slice(1), by: sequence }));
  if (kind === 'create') {
    return hunks.flatMap(({ lines: marked }) => written(marked.filter((line) => !line.startsWith('-'))));
  }
  let next = [...lines];
  let moved = 0;
  for (const { lines: marked, oldStart } of hunks) {
    const old = marked.filter((line) => !line.startsWith('+')).map((line) => line.slice(1));
    const at = findBlock(next, old, (oldStart ?? 1) - 1 + moved);
    if (at === undefined) return undefined;
    const kept = next.slice(at, at + old.length);
    let read = 0;
    const replaced = marked.flatMap((line): Line[] => {
      if (line.startsWith('+')) return [{ text: line.slice(1), by: sequence }];
      const before = kept[read++];
      return line.startsWith('-') || !before ? [] : [before];
    });
    next = [...next.slice(0, at), ...replaced, ...next.slice(at + old.length)];
    moved += replaced.length - old.length;
  }
  return next;
}

/** Where the lines stand, next to where they are expected. */
function findBlock(lines: readonly Line[], block: readonly string[], near: number): number | undefined {
  if (block.length === 0) return lines.length === 0 ? 0 : undefined;
  const isAt = (at: number) => block.every((text, index) => lines[at + index]?.text === text);
  for (let distance = 0; distance <= lines.length; distance++) {
    for (const at of [near - distance, near + distance]) if (at >= 0 && at < lines.length && isAt(at)) return at;
  }
  return undefined;
}

/** Something else changed the file: lines that are still there keep who wrote them. */
function adopt(lines: readonly Line[], text: string): Line[] {
  const writers = new Map(lines.flatMap(({ text: line, by }) => (by === undefined ? [] : [[line, by] as const])));
  return linesOf(text).map((line) => ({
    ...line,
    ...(writers.has(line.text) && { by: writers.get(line.text) as number }),
  }));
}

const linesOf = (text: string): Line[] =>
  text === ''
    ? []
    : text
        .replace(/\n$/, '')
        .split('\n')
        .map((line) => ({ text: line }));

const textOf = (lines: readonly Line[]): string => lines.map(({ text }) => `${text}\n`).join('');

/** Where lines only went, any of the events may have taken them. */
function writersOf(lines: readonly Line[], steps: readonly Step[]): number[] {
  const writers = [...new Set(lines.flatMap(({ by }) => (by === undefined ? [] : [by])))];
  const taking = steps.filter(({ change }) => change.hunks.some((hunk) => hunk.lines.some((line) => line[0] === '-')));
  return (writers.length > 0 ? writers : taking.map(({ sequence }) => sequence)).sort((a, b) => a - b);
}
