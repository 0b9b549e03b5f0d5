import { formatCount } from '../../contract/count.ts';
import { continuesAt, isActive, type Pause } from '../decide/pauses.ts';
import { formatBytes, formatMoment, type Output } from '../output.ts';
import type { KeptBack } from '../read/reader.ts';
import type { Counter } from '../spool/meta.ts';
import type { Spool } from '../spool/open.ts';

export interface ReadReport {
  now: number;
  readBytes: number;
  keptBack: readonly KeptBack[];
  /** The number of transcripts from before capturing began, without the person's consent. */
  earlier: number;
}

/** Reports what an import has done, by comparing the counters with those from before it. */
export function reportImport(spool: Spool, before: Record<Counter, number>, read: ReadReport, output: Output): void {
  const { now, readBytes, keptBack, earlier } = read;
  const counts = spool.counters();
  for (const name of Object.keys(counts) as Counter[]) counts[name] -= before[name] ?? 0;
  output.answer(
    { ...counts, readBytes, keptBack, earlier, spooled: spool.batches.depth(), refused: spool.refused.perProblem() },
    [
      Object.values(counts).every((count) => count === 0)
        ? 'Nothing is new.'
        : `Captured ${formatCount(counts.recordsCaptured, 'record')} (${formatBytes(readBytes)}), ` +
          `sent ${formatCount(counts.eventsSent, 'event')}, masked ${formatCount(counts.secretsMasked, 'secret')}.`,
      ...lineIf(counts.recordsReplayed, (count) => `Skipped ${count} that forks copied from other sessions.`, 'record'),
      ...lineIf(counts.recordsUnreadable, (count) => `Kept ${count} without a record as plain text.`, 'piece'),
      ...lineIf(counts.linesTooLong, (count) => `Left out ${count}, too long to capture.`, 'line'),
      ...pauseLine(spool.decisions.pauses(), now),
      ...lineIf(keptBack.length, (count) => `Kept back ${count} that you do not want captured.`, 'transcript'),
      ...earlierLine(earlier),
      ...lineIf(
        counts.eventsRefused,
        (count) => `The service refused ${count}, kept for a retry: see \`capture status\`.`,
        'event',
      ),
    ],
  );
}

function pauseLine(pauses: readonly Pause[], now: number): string[] {
  if (pauses.some((pause) => isActive(pause, now))) {
    return ['Capture is paused, so records written since then are left out. `capture resume` ends the pause.'];
  }
  const until = continuesAt(pauses, now);
  return until === undefined
    ? []
    : [
        `The clock was set back, so records still count as written in a pause. They are left out until ${formatMoment(until)}.`,
      ];
}

/** The line about transcripts from before capturing began, without the person's consent. */
export const earlierLine = (earlier: number): string[] =>
  lineIf(
    earlier,
    (count) => `Left ${count} from before capturing began here: \`capture init --history all\` sends them, too.`,
    'transcript',
  );

const lineIf = (count: number, say: (count: string) => string, noun: string): string[] =>
  count > 0 ? [say(formatCount(count, noun))] : [];
