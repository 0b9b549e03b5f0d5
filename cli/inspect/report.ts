import type { MachineReport } from '../../contract/environment.ts';
import type { Context } from '../context.ts';
import { findTroubles } from './findings.ts';
import type { Inspection } from './inspect.ts';

/** What the service may know of this machine's state: counts, fixed words and times. */
export function toReport(inspection: Inspection, context: Context): MachineReport {
  const byState = new Map(findTroubles(inspection, context).map((one) => [one.check, one]));
  return {
    waiting: inspection.spool?.waiting.events ?? 0,
    states: [...byState.values()].map(({ check, times: { since, until } = {} }) => ({
      state: check,
      ...(since !== undefined && { since: new Date(since).toISOString() }),
      ...(until !== undefined && { until: new Date(until).toISOString() }),
    })),
  };
}
