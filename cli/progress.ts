import type { Sink } from './context.ts';

export interface ProgressState {
  /** In any unit; `total` may grow. */
  done: number;
  total: number;
  /** The progress in words. */
  text: string;
}

export type Progress = ReturnType<typeof createProgress>;

const WIDTH = 24;
const TERMINAL_MS = 100;
/** In a log, an occasional line is enough. */
const PIPE_MS = 10_000;
/** Before this share is done, an estimate of the rest would be a guess. */
const MIN_SHARE = 0.02;
const MIN_MS = 2000;

/** On a terminal, one line that is overwritten. Elsewhere, an occasional line. `now` is in milliseconds. */
export function createProgress(sink: Sink, now: () => number) {
  const startedAt = now();
  let last = startedAt;

  return {
    show({ done, total, text }: ProgressState): void {
      const time = now();
      if (time - last < (sink.isTTY ? TERMINAL_MS : PIPE_MS)) return;
      last = time;
      const share = total === 0 ? 1 : Math.min(1, done / total);
      const line = text + describeLeft(share, time - startedAt);
      // A line that wraps could not be overwritten.
      const width = (sink.columns ?? 80) - 1;
      sink.write(sink.isTTY ? `\r\u001b[K${`${drawBar(share)} ${line}`.slice(0, width)}` : `${line}\n`);
    },
    clear(): void {
      if (sink.isTTY) sink.write('\r\u001b[K');
    },
  };
}

function drawBar(share: number): string {
  const full = Math.round(share * WIDTH);
  return '█'.repeat(full) + '░'.repeat(WIDTH - full);
}

function describeLeft(share: number, elapsedMs: number): string {
  if (share < MIN_SHARE || share === 1 || elapsedMs < MIN_MS) return '';
  const seconds = Math.ceil((elapsedMs / share - elapsedMs) / 1000);
  return seconds < 90 ? `, ${seconds} s left` : `, ${Math.ceil(seconds / 60)} min left`;
}
