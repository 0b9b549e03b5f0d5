import { formatBytes, formatCount, type Output } from '../output.ts';
import type { Counter } from '../spool/meta.ts';
import type { Spool } from '../spool/open.ts';

/** What an import has done: the counters now against those before it. */
export function reportImport(spool: Spool, before: Record<Counter, number>, readBytes: number, output: Output): void {
  const counts = spool.counters();
  for (const name of Object.keys(counts) as Counter[]) counts[name] -= before[name] ?? 0;
  output.answer({ ...counts, readBytes, spooled: spool.batches.depth(), refused: spool.batches.refused() }, [
    `Captured ${formatCount(counts.recordsCaptured, 'record')} (${formatBytes(readBytes)}), ` +
      `sent ${formatCount(counts.eventsSent, 'event')}, masked ${formatCount(counts.secretsMasked, 'secret')}.`,
    ...lineIf(counts.recordsReplayed, (count) => `Skipped ${count} that forks repeat from other sessions.`, 'record'),
    ...lineIf(counts.recordsUnreadable, (count) => `Kept ${count} that is no record as plain text.`, 'piece'),
    ...lineIf(counts.linesTooLong, (count) => `Left out ${count} that is too long.`, 'line'),
    ...lineIf(counts.eventsRefused, (count) => `The service refused ${count}: kept, see \`capture status\`.`, 'event'),
  ]);
}

const lineIf = (count: number, say: (count: string) => string, noun: string): string[] =>
  count > 0 ? [say(formatCount(count, noun))] : [];
