import type { MachineReport } from '../../contract/environment.ts';
import type { Db } from './open.ts';
import { QUOTAS } from './quotas.ts';

/** Keeps what an active machine reports of itself. @returns false where the organization has no such machine */
export async function keepReport(
  db: Db,
  organizationId: string,
  environmentId: string,
  { waiting, troubles }: MachineReport,
  now: number,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('environments')
    .set({ waiting_events: waiting, troubles: [...new Set(troubles)].join(','), reported_at: now })
    .where('organization_id', '=', organizationId)
    .where('environment_id', '=', environmentId)
    .where('status', '=', 'active')
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** The machines that were seen last, as many as may be in use. */
export const readReports = (db: Db, organizationId: string) =>
  db
    .selectFrom('environments')
    .select(['environment_id', 'cli_version', 'waiting_events', 'troubles', 'reported_at', 'last_seen_at'])
    .where('organization_id', '=', organizationId)
    .where('status', '=', 'active')
    .orderBy('last_seen_at', 'desc')
    .limit(QUOTAS.environments)
    .execute();

/** The secrets that belong to machines, and to which. */
export const readMachineSecrets = (db: Db, organizationId: string) =>
  db
    .selectFrom('secrets')
    .select(['secret_id', 'environment_id'])
    .where('organization_id', '=', organizationId)
    .where('environment_id', 'is not', null)
    .execute();

/** The days, from one on, on which machines were at work. @param from YYYY-MM-DD, UTC */
export const readMachineDays = (db: Db, organizationId: string, from: string) =>
  db
    .selectFrom('usage_days')
    .select(['value as environment_id', 'day'])
    .where('organization_id', '=', organizationId)
    .where('dimension', '=', 'environment')
    .where('day', '>=', from)
    .orderBy('day')
    .execute();
