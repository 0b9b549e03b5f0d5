import { appendFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Context } from '../context.ts';
import type { Output } from '../output.ts';
import { readTextIfPlain } from '../plain-file.ts';
import { toPlainText } from '../terminal.ts';

export interface Log {
  /** An event, for readers of the log. */
  info(sentence: string): void;
  /** A problem that a person should know of. It is also written to stderr. Consecutive repeats are dropped. */
  warn(sentence: string): void;
}

/** The paths of the daemon's log in the state folder, and of the older log that it replaced. */
export const logPaths = (folder: string) => ({
  current: join(folder, 'daemon.log'),
  older: join(folder, 'daemon.log.1'),
});

const MAX_BYTES = 1_000_000;

/**
 * Writes one line per event: ISO time, level, sentence. A sentence contains no text from transcripts. Terminal escapes in texts
 * from the service, or in paths, are removed.
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
      // A full disk must not end the capture because of its log. The sentence is on stderr.
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

/** All lines of both files, the oldest first; a megabyte per file at most. */
export function readLog(folder: string): string[] {
  const { older, current } = logPaths(folder);
  const texts = [older, current].map((path) => readTextIfPlain(path, 2 * MAX_BYTES) ?? '');
  return texts.join('').split('\n').filter(Boolean);
}
