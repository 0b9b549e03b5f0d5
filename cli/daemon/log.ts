import { appendFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Context } from '../context.ts';
import type { Output } from '../output.ts';
import { readTextIfPlain } from '../plain-file.ts';
import { toPlainText } from '../terminal.ts';

export interface Log {
  /** An event, for somebody who reads the log later. */
  info(sentence: string): void;
  /** A problem that a person should know of; also written to stderr. Repeats in a row are dropped. */
  warn(sentence: string): void;
}

/** The daemon's log in the state folder, and the one that it replaced. */
export const logPaths = (folder: string) => ({
  current: join(folder, 'daemon.log'),
  older: join(folder, 'daemon.log.1'),
});

const MAX_BYTES = 1_000_000;

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
      const size = statSync(current, { throwIfNoEntry: false })?.size ?? 0;
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

/** All its lines, the oldest first: of both files, a megabyte each at most. */
export function readLog(folder: string): string[] {
  const { older, current } = logPaths(folder);
  const texts = [older, current].map((path) => readTextIfPlain(path, 2 * MAX_BYTES) ?? '');
  return texts.join('').split('\n').filter(Boolean);
}
