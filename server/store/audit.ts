import { sql } from 'kysely';
import type { AuditAction, AuditEntry, AuditParty } from '../../contract/audit.ts';
import { addEntries, type ChainHead, EMPTY, type Happened, holdHead, type Statement } from './audit-chain.ts';
import { toTimestamp } from './columns.ts';
import { allRows, firstRow, NONE, oneRow } from './rows.ts';
import type { AuditEntryRow, AuditHeadRow, Db } from './schema.ts';

export const toAuditEntry = (row: AuditEntryRow): AuditEntry => ({
  sequence: row.sequence,
  at: toTimestamp(row.at),
  actor: { kind: row.actor_kind as AuditParty['kind'], id: row.actor_id },
  action: row.action as AuditAction,
  target: { kind: row.target_kind as AuditParty['kind'], id: row.target_id },
  ...(row.details === null ? {} : { details: JSON.parse(row.details) }),
  previous: row.previous,
  hash: row.hash,
});

/**
 * Adds entries to the organization's audit log. Call it at the end of the action's transaction, because it locks the log until
 * the commit, and other actions of the organization wait.
 */
export async function recordActions(
  transaction: Db,
  organizationId: string,
  all: readonly Happened[],
  now: number,
): Promise<void> {
  if (all.length === 0) return;
  const head = await oneRow(transaction, toSql<ChainHead>(holdHead(organizationId, now)));
  for (const added of addEntries(organizationId, head, all, now)) await toSql(added).execute(transaction);
}

const toSql = <Row>({ parts, values }: Statement) => sql<Row>(parts, ...values);

/** Adds one entry with `recordActions`. */
export const recordAction = (transaction: Db, organizationId: string, happened: Happened, now: number) =>
  recordActions(transaction, organizationId, [happened], now);

/** An action in one of several organizations. */
export type HappenedIn = Happened & { organizationId: string };

/** Adds entries to the logs of several organizations, always in the same order, so that two transactions cannot deadlock. */
export async function recordInAll(transaction: Db, all: readonly HappenedIn[], now: number): Promise<void> {
  const logs = [...Map.groupBy(all, ({ organizationId }) => organizationId)];
  for (const [organizationId, happened] of logs.sort(([one], [other]) => (one < other ? -1 : 1))) {
    await recordActions(transaction, organizationId, happened, now);
  }
}

export interface AuditFilter {
  action?: AuditAction | undefined;
  /** The id of the actor. */
  actor?: string | undefined;
  /** Only entries before this sequence. */
  before: number;
  limit: number;
}

/** Lists entries, newest first. */
export const listAudit = (db: Db, organizationId: string, { action, actor, before, limit }: AuditFilter) =>
  allRows(
    db,
    sql<AuditEntryRow>`
      select * from audit_entries
      where organization_id = ${organizationId} and sequence < ${before}
        ${action === undefined ? NONE : sql`and action = ${action}`}
        ${actor === undefined ? NONE : sql`and actor_id = ${actor}`}
      order by sequence desc limit ${limit}`,
  );

/** The number of entries that one query reads. */
const READ_AT_ONCE = 1_000;

/** Reads the entries after a sequence in parts, earliest first. */
export async function* readAuditAfter(
  db: Db,
  organizationId: string,
  after: number,
  limit = Number.POSITIVE_INFINITY,
): AsyncGenerator<AuditEntryRow[], void> {
  for (let last = after, left = limit; left > 0; ) {
    const wanted = Math.min(left, READ_AT_ONCE);
    const rows = await allRows(
      db,
      sql<AuditEntryRow>`
        select * from audit_entries where organization_id = ${organizationId} and sequence > ${last}
        order by sequence limit ${wanted}`,
    );
    if (rows.length > 0) yield rows;
    if (rows.length < wanted) return;
    left -= rows.length;
    last = rows.at(-1)?.sequence ?? last;
  }
}

export const readAuditHead = async (db: Db, organizationId: string): Promise<ChainHead> =>
  (await firstRow(
    db,
    sql<ChainHead>`select sequence, hash from audit_heads where organization_id = ${organizationId}`,
  )) ?? EMPTY;

/** Lists the heads of all organizations that changed at that time (epoch milliseconds) or later. */
export const listAuditHeads = (db: Db, changedSince: number) =>
  allRows(
    db,
    sql<AuditHeadRow>`select * from audit_heads where changed_at >= ${changedSince} order by organization_id`,
  );

/** Lists every active organization, and every other one that has entries or a head. */
export async function listAudited(db: Db): Promise<Map<string, { isBeingRemoved: boolean }>> {
  const rows = await allRows(
    db,
    sql<{ organization_id: string; status: string | null }>`
      select audited.organization_id, organizations.status
      from (
        select organization_id from organizations where status = 'active'
        union select organization_id from audit_heads
        union select organization_id from audit_entries
      ) as audited
      left join organizations on organizations.organization_id = audited.organization_id`,
  );
  return new Map(rows.map((row) => [row.organization_id, { isBeingRemoved: row.status === 'deleted' }]));
}
