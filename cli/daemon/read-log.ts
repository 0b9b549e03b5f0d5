import { readFileSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { logPaths } from './log.ts';

/** A line of the daemon's log; one that is none of its own is a sentence without time and level. */
export interface LogLine {
  time?: string;
  level?: string;
  sentence: string;
}

const LOOK_MS = 250;

/** All there is, the oldest first. */
export function readLog(folder: string): LogLine[] {
  const { older, current } = logPaths(folder);
  return parseLines(readFrom(older, 0) + readFrom(current, 0));
}

export interface FollowOptions {
  onLine: (line: LogLine) => void;
  signal: AbortSignal;
}

/** Tells each line that is added to the daemon's log from now on, also when it begins a new file, until the signal. */
export async function followLog(folder: string, { onLine, signal }: FollowOptions): Promise<void> {
  const { current, older } = logPaths(folder);
  let file = statOf(current);
  let offset = file?.size ?? 0;
  let rest = '';
  while (!signal.aborted) {
    const now = statOf(current);
    if (now !== undefined && now.ino !== file?.ino) {
      if (statOf(older)?.ino === file?.ino) rest += readFrom(older, offset);
      file = now;
      offset = 0;
    }
    const added = readFrom(current, offset);
    offset += Buffer.byteLength(added);
    const end = (rest + added).lastIndexOf('\n') + 1;
    for (const line of parseLines((rest + added).slice(0, end))) onLine(line);
    rest = (rest + added).slice(end);
    await sleep(LOOK_MS, undefined, { signal }).catch(() => {});
  }
}

const parseLines = (text: string): LogLine[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map(parseLine);

function parseLine(line: string): LogLine {
  const [, time, level, sentence] = /^(\d{4}-\S+Z) (info|warn) (.*)$/.exec(line) ?? [];
  if (time === undefined || level === undefined || sentence === undefined) return { sentence: line };
  return { time, level, sentence };
}

const statOf = (path: string) => statSync(path, { throwIfNoEntry: false });

/** It is a megabyte at most. */
function readFrom(path: string, offset: number): string {
  try {
    return readFileSync(path).toString('utf8', offset);
  } catch {
    return '';
  }
}
