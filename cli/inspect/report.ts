import type { MachineReport } from '../../contract/environment.ts';
import type { Context } from '../context.ts';
import type { StateReport } from '../daemon/report.ts';
import { findTroubles } from './findings.ts';
import { reportGaps } from './gaps.ts';
import { type Inspection, inspect } from './inspect.ts';
import type { Transcripts } from './transcripts.ts';

/** The time until all transcripts are checked a second time, when the first reading has mostly ended. */
const SECOND_MS = 30_000;
/** The longest time between two checks. A shorter delay in reading transcripts is no trouble. */
const INSPECT_MS = 10 * 60_000;

/**
 * Returns a function that reports what `capture status` finds. It checks all transcripts less and less often, because a check reads
 * the times of all files.
 */
export function createStateReport(context: Context, inspectMs = INSPECT_MS): StateReport {
  let transcripts: Transcripts | undefined;
  let inspectedAt = 0;
  let everyMs = Math.min(SECOND_MS, inspectMs);

  return async (sending) => {
    if (sending === undefined) return toReport(await inspect(context), context);
    const { spool, aheadMs } = sending;
    const now = context.now();
    const isDue = transcripts === undefined || now - inspectedAt >= everyMs;
    const inspection = await inspect(context, {
      spool,
      service: { answer: 'yes', secret: 'accepted', ...(aheadMs !== undefined && { aheadMs }) },
      daemon: { running: true },
      ...(!isDue && transcripts && { transcripts }),
    });
    if (isDue) {
      if (transcripts !== undefined) everyMs = Math.min(2 * everyMs, inspectMs);
      transcripts = inspection.transcripts;
      inspectedAt = now;
    }
    return toReport(inspection, context);
  };
}

function toReport(inspection: Inspection, context: Context): MachineReport {
  const { spool, coverage, gaps } = inspection;
  const byState = new Map(findTroubles(inspection, context).map((one) => [one.check, one]));
  return {
    waiting: spool?.waiting.events ?? 0,
    states: [...byState.values()].map(({ check, times: { since, until } = {} }) => ({
      state: check,
      ...(since !== undefined && { since: new Date(since).toISOString() }),
      ...(until !== undefined && { until: new Date(until).toISOString() }),
    })),
    ...(coverage && { coverage }),
    gaps: reportGaps(gaps),
    ...(spool?.comparison && { comparison: spool.comparison }),
  };
}
