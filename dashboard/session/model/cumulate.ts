import { structuredPatch } from 'diff';
import type { FileChange, Hunk } from '../../../transcript/entry/patch.ts';

/** A change of one file, and the event that made it. */
export interface Step {
  sequence: number;
  change: FileChange;
  /** The whole file before the change, if the agent recorded it. */
  before?: string;
}

/** A hunk of the difference that all steps make together, with the events that wrote its lines. */
export interface CumulativeHunk extends Hunk {
  sequences: readonly number[];
}

/** For larger files, the difference is not worth the time that it takes. */
const MAX_CHARACTERS = 400_000;
const MAX_LINES = 12_000;
/** Most added and removed lines; the time grows with their square. */
const MAX_DIFFERENT = 2_000;

interface Line {
  text: string;
  /** The event that wrote the line; undefined if the line existed before. */
  by?: number;
}

/**
 * The difference between the file before the first step and after the last one. Undefined if the file cannot be followed,
 * because its content before the first step is unknown, or because something else changed it in between.
 */
export function cumulate(steps: readonly Step[]): CumulativeHunk[] | undefined {
  const start = startOf(steps[0]);
  if (start === undefined) return undefined;
  let lines = linesOf(start);
  for (const step of steps) {
    if (step.before !== undefined && step.before !== textOf(lines)) lines = adopt(lines, step.before);
    const next = apply(lines, step);
    if (!next || next.length > MAX_LINES) return undefined;
    lines = next;
  }
  const end = textOf(lines);
  if (start.length + end.length > MAX_CHARACTERS) return undefined;
  const isCompared = start !== '' && end !== '';
  const options = { context: 3, ...(isCompared && { maxEditLength: MAX_DIFFERENT }) };
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
  // A file that was written as a whole may have existed before if the change also removes lines.
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

/** The position of a block of lines, closest to its expected position. */
function findBlock(lines: readonly Line[], block: readonly string[], near: number): number | undefined {
  if (block.length === 0) return lines.length === 0 ? 0 : undefined;
  const isAt = (at: number) => block.every((text, index) => lines[at + index]?.text === text);
  for (let distance = 0; distance <= lines.length; distance++) {
    for (const at of [near - distance, near + distance]) if (at >= 0 && at < lines.length && isAt(at)) return at;
  }
  return undefined;
}

/** Takes over a file that something else changed. Lines that still exist keep their writers. */
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

/** The events that wrote these lines. If lines were only removed, any of the events with removals may have removed them. */
function writersOf(lines: readonly Line[], steps: readonly Step[]): number[] {
  const writers = [...new Set(lines.flatMap(({ by }) => (by === undefined ? [] : [by])))];
  const taking = steps.filter(({ change }) => change.hunks.some((hunk) => hunk.lines.some((line) => line[0] === '-')));
  return (writers.length > 0 ? writers : taking.map(({ sequence }) => sequence)).sort((a, b) => a - b);
}
