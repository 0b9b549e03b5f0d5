import type { MachineReport } from '../../contract/environment.ts';
import type { Context } from '../context.ts';
import type { StateReport } from '../daemon/report.ts';
import { findTroubles } from './findings.ts';
import { reportGaps } from './gaps.ts';
import { type Inspection, inspect } from './inspect.ts';
import type { Transcripts } from './transcripts.ts';

/** How often all transcripts are checked. A shorter delay in reading them is no trouble. */
const INSPECT_MS = 10 * 60_000;

/** Returns a function that reports what `capture status` finds. */
export function createStateReport(context: Context, inspectMs = INSPECT_MS): StateReport {
  let transcripts: Transcripts | undefined;
  let inspectedAt = context.now();

  return async (sending) => {
    if (sending === undefined) return toReport(await inspect(context), context);
    const { spool, aheadMs } = sending;
    const now = context.now();
    const isDue = now - inspectedAt >= inspectMs;
    const inspection = await inspect(context, {
      spool,
      service: { answer: 'yes', secret: 'accepted', ...(aheadMs !== undefined && { aheadMs }) },
      daemon: { running: true },
      ...(!isDue && transcripts && { transcripts }),
    });
    const { agents, coverage } = inspection.transcripts;
    // At first, all transcripts are unread, because the reading begins.
    const isFirst = transcripts === undefined && !isDue;
    const known = isFirst ? agents.map((one) => ({ ...one, unread: [] })) : agents;
    transcripts = { agents: known, coverage };
    if (isDue) inspectedAt = now;
    return toReport({ ...inspection, agents: known }, context);
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
