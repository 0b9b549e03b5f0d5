import type { DocumentSession } from '../store.ts';

export type BlockKind = 'run' | 'user' | 'output' | 'assistant';

/** Consecutive lines of one kind. `start`, the marks of the kind, `text` and `end` make up the file's text. */
export interface Block {
  kind: BlockKind;
  /** Empty lines before the block that Aider writes along with it. */
  start?: string;
  text: string;
  /** The characters after the text: the end of its last line, and empty lines. */
  end?: string;
  /** As in the file, without a time zone. */
  startedAt?: string;
}

const RUN = /^# aider chat started at (.+)$/;

/** Prefixes of lines, by kind. Lines without one are the model's. */
export const MARKS: { [Kind in BlockKind]: string } = { run: '# ', user: '#### ', output: '> ', assistant: '' };

/**
 * The runs in a history, in their order, each named by its start time. The second run in the same second gets a 2 appended.
 * Text before the first run is a run without a time.
 */
export function splitRuns(history: string): DocumentSession[] {
  const names = new Map<string, number>();
  return splitHistory(history).map((lines) => {
    const startedAt = RUN.exec(lines.find(isText)?.trimEnd() ?? '')?.[1]?.trim() ?? '';
    const time = startedAt.replaceAll(/\W+/g, '-');
    const count = (names.get(time) ?? 0) + 1;
    names.set(time, count);
    const name = count === 1 ? time : `${time}-${count}`;
    return { name, records: toBlocks(lines).map((block) => ({ ...block })) };
  });
}

/** The lines of each run with their ends. The empty line before a run's first line belongs to the run. */
function splitHistory(history: string): string[][] {
  const runs: string[][] = [];
  let current: string[] = [];
  for (const line of history.match(/[^\n]*\n|[^\n]+$/g) ?? []) {
    if (RUN.test(line.trimEnd())) {
      const empty = isText(current.at(-1) ?? '#') ? [] : current.splice(-1);
      if (current.length > 0) runs.push(current);
      current = empty;
    }
    current.push(line);
  }
  if (current.length > 0) runs.push(current);
  return runs;
}

const isText = (line: string): boolean => line.trim() !== '';

/**
 * Aider writes an empty line before a run's first line, a prompt and an answer, in the same write, so it belongs to the next
 * block. Other empty lines belong to the block before. Then a block never changes when the next one is written.
 */
function toBlocks(lines: readonly string[]): Block[] {
  const kindOf = tellKinds(lines);
  const blocks: { kind: BlockKind; lines: string[] }[] = [];
  let empty: string[] = [];
  for (const line of lines) {
    if (!isText(line)) {
      empty.push(line);
      continue;
    }
    const kind = kindOf(line);
    const last = blocks.at(-1);
    // A line without an end is still being written. It must not change the block before, because it may not belong to it.
    const joins = last?.kind === kind && line.endsWith('\n') && (kind === 'assistant' || empty.length === 0);
    if (joins) last.lines.push(...empty, line);
    else {
      const start = last === undefined ? empty : empty.splice(kind === 'output' ? empty.length : -1);
      last?.lines.push(...empty);
      blocks.push({ kind, lines: [...start, line] });
    }
    empty = [];
  }
  const last = blocks.at(-1) ?? { kind: 'assistant', lines: [] };
  last.lines.push(...empty);
  return (blocks.length === 0 ? [last] : blocks).map(toBlock);
}

/**
 * The model may write headings of the same level as the marks of prompts. Aider ends each line of a prompt with two spaces.
 * If the first such line of a run has them, only lines with them are prompts.
 */
function tellKinds(lines: readonly string[]): (line: string) => BlockKind {
  const isMarked = (line: string) => line.startsWith(MARKS.user);
  const isEnded = (line: string) => / {2}\r?\n?$/.test(line);
  const isStrict = isEnded(lines.find(isMarked) ?? '');
  return (line) => {
    if (RUN.test(line.trimEnd())) return 'run';
    if (isMarked(line)) return !isStrict || isEnded(line) ? 'user' : 'assistant';
    return line.startsWith(MARKS.output) ? 'output' : 'assistant';
  };
}

function toBlock({ kind, lines }: { kind: BlockKind; lines: readonly string[] }): Block {
  const first = lines.findIndex(isText);
  const last = lines.findLastIndex(isText);
  const start = lines.slice(0, Math.max(0, first)).join('');
  const whole = lines.slice(Math.max(0, first), last + 1).map((line) => line.slice(MARKS[kind].length));
  const ending = /\s*$/.exec(whole.at(-1) ?? '')?.[0] ?? '';
  const text = whole.join('').slice(0, whole.join('').length - ending.length);
  const end = ending + lines.slice(last + 1).join('');
  const startedAt = kind === 'run' ? RUN.exec(MARKS.run + text)?.[1] : undefined;
  return {
    kind,
    ...(start !== '' && { start }),
    ...(startedAt === undefined ? { text } : { text: text.slice(0, -startedAt.length), startedAt }),
    ...(end !== '' && { end }),
  };
}
