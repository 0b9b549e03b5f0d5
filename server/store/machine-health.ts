import { sql } from 'kysely';
import type { Gap, MachineReport } from '../../contract/environment.ts';
import { PLANES } from '../../contract/secret.ts';
import { isOneOf, ofEngine, unindexed } from './dialect.ts';
import { QUOTAS } from './quotas.ts';
import { allRows, changedRows } from './rows.ts';
import type { Db, EnvironmentRow } from './schema.ts';

/** Stores the report of an active machine. @returns false if the organization has no such machine */
export async function keepReport(
  db: Db,
  organizationId: string,
  environmentId: string,
  { waiting, states, coverage, gaps, comparison }: MachineReport,
  now: number,
): Promise<boolean> {
  // Nothing that this version does not know is stored, whatever a client sends.
  const known = new Map(states.map(({ state, since, until }) => [state, { state, since, until }]));
  const toText = (value: unknown) => (value === undefined ? null : JSON.stringify(value));
  const changed = await changedRows(
    db,
    sql`
      update environments
      set waiting_events = ${waiting}, states = ${toText([...known.values()])}, coverage = ${toText(pickCoverage(coverage))},
        gaps = ${toText(gaps?.map(pickGap))}, comparison = ${toText(pickComparison(comparison))}, reported_at = ${now}
      where organization_id = ${organizationId} and environment_id = ${environmentId} and status = 'active'`,
  );
  return changed > 0;
}

const pickCoverage = (coverage: MachineReport['coverage']) =>
  coverage && { captured: coverage.captured, keptBack: coverage.keptBack, waiting: coverage.waiting };

const pickGap = ({ kind, agent, version, count }: Gap): Gap => ({
  kind,
  agent,
  ...(version !== undefined && { version }),
  count,
});

function pickComparison(comparison: MachineReport['comparison']) {
  if (comparison === undefined) return undefined;
  const { comparedAt, sessions, records, problems } = comparison;
  return { comparedAt, sessions, records, problems: problems.map(({ problem, count }) => ({ problem, count })) };
}

type Report = Pick<
  EnvironmentRow,
  | 'environment_id'
  | 'cli_version'
  | 'waiting_events'
  | 'states'
  | 'coverage'
  | 'gaps'
  | 'comparison'
  | 'reported_at'
  | 'last_seen_at'
>;

/** The reports of the most recently seen active machines, up to the quota. */
export const readReports = (db: Db, organizationId: string): Promise<Report[]> =>
  allRows(
    db,
    sql<Report>`
      select environment_id, cli_version, waiting_events, states, coverage, gaps, comparison, reported_at, last_seen_at
      from environments
      where organization_id = ${organizationId} and status = 'active'
      order by last_seen_at desc limit ${QUOTAS.environments}`,
  );

/** Enough for all active secrets of an organization, and as many revoked ones. */
const MAX_SECRETS = 2 * QUOTAS.secrets;

/** The secrets that belong to machines: the active ones first, then the newest revoked ones. */
export const readMachineSecrets = (db: Db, organizationId: string) =>
  allRows(
    db,
    sql<{ secret_id: string; environment_id: string }>`
      select secret_id, environment_id from secrets
      where organization_id = ${organizationId} and environment_id is not null
      order by status, secret_id desc limit ${MAX_SECRETS}`,
  );

/**
 * The days on which each machine was active: one row for each machine, with the days separated by commas.
 * @param from the first day as YYYY-MM-DD, UTC
 */
export const readMachineDays = (db: Db, organizationId: string, environmentIds: readonly string[], from: string) =>
  allRows(
    db,
    sql<{ environment_id: string; days: string }>`
      select value as environment_id,
        ${ofEngine(db, { sqlite: sql`group_concat(distinct day)`, postgres: sql`string_agg(distinct day, ',')` })} as days
      from usage_days
      where organization_id = ${organizationId} and plane in (${sql.join([...PLANES])}) and dimension = 'environment'
        and ${isOneOf(db, 'value', environmentIds)}
        and ${unindexed(db, 'day')} >= ${from}
      group by value`,
  );
