import { appendFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Context } from '../context.ts';
import type { Output } from '../output.ts';
import { toPlainText } from '../terminal.ts';

export type Level = 'info' | 'warn';

export interface Log {
  /** What happened, for whoever asks later. */
  info(sentence: string): void;
  /** What a person should know of; also written to stderr. Repeated in a row, it is told once. */
  warn(sentence: string): void;
}

/** The daemon's log in the state folder, and what stands there from before it was started anew. */
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
  let size = statSync(current, { throwIfNoEntry: false })?.size ?? 0;
  let last = '';

  function write(level: Level, sentence: string): void {
    const line = `${new Date(now()).toISOString()} ${level} ${toPlainText(sentence).replaceAll('\n', ' ')}\n`;
    try {
      if (size + line.length > maxBytes && size > 0) {
        renameSync(current, older);
        size = 0;
      }
      appendFileSync(current, line, { mode: 0o600 });
      size += Buffer.byteLength(line);
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
