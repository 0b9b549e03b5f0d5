import { readFileSync } from 'node:fs';
import { logPaths } from '../daemon/log.ts';

/** A line of the daemon's log; one that is none of its own is a sentence without time and level. */
export interface LogLine {
  time?: string;
  level?: string;
  sentence: string;
}

/** All there is, the oldest first. */
export function readLog(folder: string): LogLine[] {
  const { older, current } = logPaths(folder);
  return [older, current].flatMap((path) => parseLines(readText(path)));
}

export const parseLines = (text: string): LogLine[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map(parseLine);

function parseLine(line: string): LogLine {
  const [, time, level, sentence] = /^(\d{4}-\S+Z) (info|warn) (.*)$/.exec(line) ?? [];
  if (time === undefined || level === undefined || sentence === undefined) return { sentence: line };
  return { time, level, sentence };
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
