import type { Db } from './open.ts';
import type { SessionFactsRow, SessionRow } from './schema.ts';

/** A session with what is derived of it, as lists show it. */
export interface SummaryRow {
  session: SessionRow;
  /** Ids of the sessions it goes on with and branched off, once they are here. */
  continues: string | null;
  forkedFrom: string | null;
  /** Undefined where nothing was derived yet. */
  derived: Omit<SessionFactsRow, 'facts'> | undefined;
}

const DERIVED = [
  'version',
  'derived_through',
  'next_chunk',
  'claimed_until',
  'prompts',
  'tool_calls',
  'failures',
  'redactions',
  'files_changed',
  'lines_added',
  'lines_removed',
  'lines_changed',
  'input_tokens',
  'cached_tokens',
  'output_tokens',
  'tokens',
  'duration_ms',
  'cost',
  'first_event_at',
  'last_event_at',
  'lag_ms',
  'interrupted',
  'summary',
] as const;

/** As many of the sessions as the organization has, in no order. */
export async function findSummaries(
  db: Db,
  organizationId: string,
  sessionIds: readonly string[],
): Promise<SummaryRow[]> {
  if (sessionIds.length === 0) return [];
  const rows = await db
    .selectFrom('sessions')
    .leftJoin('session_facts as derived', 'derived.session_id', 'sessions.session_id')
    .leftJoin('sessions as earlier', (join) =>
      join
        .onRef('earlier.organization_id', '=', 'sessions.organization_id')
        .onRef('earlier.plane', '=', 'sessions.plane')
        .onRef('earlier.client_key', '=', 'sessions.continues_key')
        .on('earlier.deleted_at', 'is', null),
    )
    .leftJoin('sessions as origin', (join) =>
      join
        .onRef('origin.organization_id', '=', 'sessions.organization_id')
        .onRef('origin.plane', '=', 'sessions.plane')
        .onRef('origin.client_key', '=', 'sessions.forked_from_key')
        .on('origin.deleted_at', 'is', null),
    )
    .selectAll('sessions')
    .select(['earlier.session_id as continues', 'origin.session_id as forkedFrom'])
    .select(DERIVED.map((name) => `derived.${name}` as const))
    .where('sessions.organization_id', '=', organizationId)
    .where('sessions.session_id', 'in', [...sessionIds])
    .where('sessions.deleted_at', 'is', null)
    .execute();
  return rows.map(({ continues, forkedFrom, ...row }) => ({
    session: row,
    ...{ continues, forkedFrom },
    derived: row.summary === null ? undefined : (row as unknown as Omit<SessionFactsRow, 'facts'>),
  }));
}
