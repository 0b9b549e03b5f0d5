import type { Comparison, Coverage, Gap, MachineHealth, ReportedState } from '../../contract/environment.ts';
import { Problem } from '../../contract/problem.ts';
import type { Deps } from '../deps.ts';
import type { Handlers } from '../http/handler.ts';
import { optional, optionalTimestamp } from '../store/columns.ts';
import { keepReport, readMachineDays, readMachineSecrets, readReports } from '../store/machine-health.ts';
import { VERSION } from '../version.ts';

const DAY_MS = 86_400_000;
/** The days before a machine's last contact that show its habit. */
const HABIT_MS = 28 * DAY_MS;
/** A machine may be silent for this much longer than its longest pause, for instance over a one-day holiday. */
const GRACE_MS = DAY_MS;
/** With fewer days than this, no habit is known yet. */
const MIN_DAYS = 3;

export const machineHealthHandlers = ({ store: { db }, longReads, now }: Deps) =>
  ({
    async reportHealth({ caller, params: { environmentId }, body }) {
      if (await keepReport(db, caller.organizationId, environmentId, body, now())) {
        return { status: 200, body: { environmentId } };
      }
      throw new Problem('not_found', 'No such active environment in this organization.');
    },

    async listMachineHealth({ caller, signal }) {
      const { organizationId } = caller;
      const [reports, secrets, days] = await longReads.run(caller, signal, async (db) => {
        const reports = await readReports(db, organizationId);
        const ids = reports.map(({ environment_id }) => environment_id);
        const since = dayOf(now() - 2 * HABIT_MS);
        const [secrets, days] = await Promise.all([
          readMachineSecrets(db, organizationId),
          readMachineDays(db, organizationId, ids, since),
        ]);
        return [reports, secrets, days] as const;
      });
      const secretsOf = Map.groupBy(secrets, ({ environment_id }) => environment_id);
      const daysOf = new Map(days.map(({ environment_id, days }) => [environment_id, days.split(',').sort()]));
      const machines = reports.map((row): MachineHealth => {
        const active = daysOf.get(row.environment_id) ?? [];
        return {
          environmentId: row.environment_id,
          secretIds: (secretsOf.get(row.environment_id) ?? []).map(({ secret_id }) => secret_id),
          isOutdated: isOlder(row.cli_version, VERSION),
          ...optionalTimestamp('silentSince', isSilent(row.last_seen_at, active, now()) ? row.last_seen_at : null),
          ...optionalTimestamp('reportedAt', row.reported_at),
          ...optional('waiting', row.waiting_events),
          states: JSON.parse(row.states ?? '[]') as ReportedState[],
          ...optional('coverage', row.coverage === null ? null : (JSON.parse(row.coverage) as Coverage)),
          ...optional('gaps', row.gaps === null ? null : (JSON.parse(row.gaps) as Gap[])),
          ...optional('comparison', row.comparison === null ? null : (JSON.parse(row.comparison) as Comparison)),
        };
      });
      return { status: 200, body: { machines } };
    },
  }) satisfies Partial<Handlers>;

const dayOf = (time: number) => new Date(time).toISOString().slice(0, 10);

/**
 * Whether a machine has been silent for longer than between any two work days of the weeks before.
 * @param days on which the machine worked, in order
 */
export function isSilent(lastSeenAt: number, days: readonly string[], now: number): boolean {
  const times = [...new Set(days)].map((day) => Date.parse(day)).filter((time) => time >= lastSeenAt - HABIT_MS);
  if (times.length < MIN_DAYS) return false;
  const pauses = times.map((time, index) => time - (times[index - 1] ?? time));
  return now - lastSeenAt > Math.max(...pauses) + GRACE_MS;
}

/** Whether a version is older than another, by its three numbers. A text that is not a version is never older. */
export function isOlder(version: string, than: string): boolean {
  const [mine, other] = [version, than].map((text) => /^(\d+)\.(\d+)\.(\d+)/.exec(text)?.slice(1).map(Number));
  if (!mine || !other) return false;
  const at = mine.findIndex((number, index) => number !== other[index]);
  return at >= 0 && (mine[at] as number) < (other[at] as number);
}
