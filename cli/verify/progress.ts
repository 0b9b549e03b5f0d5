import type { Sink } from '../context.ts';
import { formatCount } from '../output.ts';
import type { Counts } from './findings.ts';

const TERMINAL_MS = 100;

/** On a terminal, one line that is written over. */
export function createProgress(sink: Sink, now: () => number) {
  let last = 0;
  return {
    show({ sessions, records }: Counts, total: number): void {
      if (!sink.isTTY || now() - last < TERMINAL_MS) return;
      last = now();
      sink.write(
        `\r\u001b[K${sessions.toLocaleString('en-US')} of ${formatCount(total, 'session')}, ${formatCount(records, 'record')}`,
      );
    },
    clear(): void {
      if (sink.isTTY) sink.write('\r\u001b[K');
    },
  };
}
