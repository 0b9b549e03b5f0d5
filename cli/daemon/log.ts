import { appendFileSync, readFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../context.ts';
import type { Output } from '../output.ts';
import { toPlainText } from '../terminal.ts';

export interface Log {
  /** What happened, for whoever asks later. */
  info(sentence: string): void;
  /** What a person should know of; also written to stderr. Repeated in a row, it is told once. */
  warn(sentence: string): void;
}

/** A line of the daemon's log; one that is none of its own is a sentence without time and level. */
export interface LogLine {
  time?: string;
  level?: string;
  sentence: string;
}

/** The daemon's log in the state folder, and what stands there from before it was started anew. */
export const logPaths = (folder: string) => ({
  current: join(folder, 'daemon.log'),
  older: join(folder, 'daemon.log.1'),
});

const MAX_BYTES = 1_000_000;
const LOOK_MS = 250;

/**
 * A line an event: ISO time, level, sentence. Sentences hold no text from transcripts, and no terminal escapes whatever the
 * service or a path put into them.
 */
export function createLog(folder: string, { now }: Pick<Context, 'now'>, output: Output, maxBytes = MAX_BYTES): Log {
  const { current, older } = logPaths(folder);
  let last = '';

  function write(level: 'info' | 'warn', sentence: string): void {
    const line = `${new Date(now()).toISOString()} ${level} ${toPlainText(sentence).replaceAll('\n', ' ')}\n`;
    try {
      const size = statOf(current)?.size ?? 0;
      if (size > 0 && size + line.length > maxBytes) renameSync(current, older);
      appendFileSync(current, line, { mode: 0o600 });
    } catch {
      // A full disk must not end the capture on account of its log; stderr still has the sentence.
    }
  }

  return {
    info(sentence) {
      write('info', sentence);
      last = '';
    },
    warn(sentence) {
      if (sentence === last) return;
      last = sentence;
      write('warn', sentence);
      output.warn(sentence);
    },
  };
}

/** All there is, the oldest first. */
export function readLog(folder: string): LogLine[] {
  const { older, current } = logPaths(folder);
  return parseLines(readFrom(older, 0) + readFrom(current, 0));
}

/** Tells each line that is added to the daemon's log from now on, also when it begins a new file, until the signal. */
export async function followLog(folder: string, onLine: (line: LogLine) => void, signal: AbortSignal): Promise<void> {
  const { current, older } = logPaths(folder);
  let file = statOf(current);
  let offset = file?.size ?? 0;
  let text = '';
  while (!signal.aborted) {
    const now = statOf(current);
    if (now !== undefined && now.ino !== file?.ino) {
      if (statOf(older)?.ino === file?.ino) text += readFrom(older, offset);
      file = now;
      offset = 0;
    }
    const added = readFrom(current, offset);
    offset += Buffer.byteLength(added);
    text += added;
    const end = text.lastIndexOf('\n') + 1;
    parseLines(text.slice(0, end)).forEach(onLine);
    text = text.slice(end);
    await sleep(LOOK_MS, undefined, { signal }).catch(() => {});
  }
}

function parseLines(text: string): LogLine[] {
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => {
    const [, time = '', level = '', sentence = ''] = /^(\d{4}-\S+Z) (info|warn) (.*)$/.exec(line) ?? [];
    return time === '' ? { sentence: line } : { time, level, sentence };
  });
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
