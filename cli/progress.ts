import type { Sink } from './context.ts';
import { formatBytes, formatCount } from './output.ts';

export interface ProgressState {
  readBytes: number;
  totalBytes: number;
  sentEvents: number;
}

const WIDTH = 24;
const TERMINAL_MS = 100;
/** In a log a line now and then is enough. */
const PIPE_MS = 10_000;

/** One line that is written over on a terminal, a line now and then elsewhere. */
export function createProgress(sink: Sink, now: () => number) {
  let last = now();

  return {
    show(state: ProgressState): void {
      const time = now();
      if (time - last < (sink.isTTY ? TERMINAL_MS : PIPE_MS)) return;
      last = time;
      sink.write(sink.isTTY ? `\r\u001b[K${drawBar(state)}` : `${describeState(state)}\n`);
    },
    clear(): void {
      if (sink.isTTY) sink.write('\r\u001b[K');
    },
  };
}

function drawBar(state: ProgressState): string {
  const share = state.totalBytes === 0 ? 1 : Math.min(1, state.readBytes / state.totalBytes);
  const full = Math.round(share * WIDTH);
  return `${'█'.repeat(full)}${'░'.repeat(WIDTH - full)} ${describeState(state)}`;
}

const describeState = ({ readBytes, totalBytes, sentEvents }: ProgressState) =>
  `read ${formatBytes(readBytes)} of ${formatBytes(totalBytes)}, sent ${formatCount(sentEvents, 'event')}`;
