import type { SessionFacts } from '../../contract/review.ts';
import { VERSION_OF_KEPT } from './derived.ts';
import type { Db, SessionFactsRow, SessionRow } from './schema.ts';
import { mayRead, named, shownTo, type Viewer } from './viewer.ts';

/** A session with its derived data, for lists. */
export interface SummaryRow {
  session: SessionRow;
  /** Ids of the sessions that it continues and was forked from, if they exist. */
  continues: string | null;
  forkedFrom: string | null;
  /** Whether the viewer may read what was said in it. */
  isReadable: boolean;
  /** Undefined if nothing was derived yet. */
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

/** The sessions among these that the viewer may know of, in no order. */
export async function findSummaries(db: Db, viewer: Viewer, sessionIds: readonly string[]): Promise<SummaryRow[]> {
  if (sessionIds.length === 0) return [];
  const rows = await db
    .selectFrom('sessions')
    .leftJoin('session_facts as derived', 'derived.session_id', 'sessions.session_id')
    .leftJoin('sessions as earlier', (join) =>
      join
        .onRef('earlier.organization_id', '=', 'sessions.organization_id')
        .onRef('earlier.plane', '=', 'sessions.plane')
        .onRef('earlier.client_key', '=', 'sessions.continues_key')
        .on('earlier.deleted_at', 'is', null)
        .on(named(viewer, 'earlier')),
    )
    .leftJoin('sessions as origin', (join) =>
      join
        .onRef('origin.organization_id', '=', 'sessions.organization_id')
        .onRef('origin.plane', '=', 'sessions.plane')
        .onRef('origin.client_key', '=', 'sessions.forked_from_key')
        .on('origin.deleted_at', 'is', null)
        .on(named(viewer, 'origin')),
    )
    .selectAll('sessions')
    .select(['earlier.session_id as continues', 'origin.session_id as forkedFrom'])
    .select(DERIVED.map((name) => `derived.${name}` as const))
    .where('sessions.organization_id', '=', viewer.organizationId)
    .where('sessions.session_id', 'in', [...sessionIds])
    .where('sessions.deleted_at', 'is', null)
    .where(named(viewer))
    .execute();
  return rows.map(({ continues, forkedFrom, ...row }) => ({
    session: shownTo(viewer, row),
    ...{ continues, forkedFrom },
    isReadable: mayRead(viewer, row),
    derived: row.summary === null ? undefined : (row as unknown as Omit<SessionFactsRow, 'facts'>),
  }));
}

type Relation = SessionFacts['related'][number]['relation'];

const MOST = 100;

/**
 * Finds the sessions that this one continues or was forked from, and those that continue it or were forked from it, as far
 * as the viewer may know of them.
 */
export async function findRelated(
  db: Db,
  viewer: Viewer,
  session: SessionRow,
): Promise<{ relation: Relation; row: SessionRow }[]> {
  const { client_key, continues_key, forked_from_key } = session;
  const relations = [
    ['continues', 'client_key', continues_key],
    ['forkedFrom', 'client_key', forked_from_key],
    ['continuedBy', 'continues_key', client_key],
    ['forkedBy', 'forked_from_key', client_key],
  ] as const;
  const found = relations.map(async ([relation, column, key]) => {
    if (key === null) return [];
    const rows = await db
      .selectFrom('sessions')
      .selectAll()
      .where('organization_id', '=', session.organization_id)
      .where('plane', '=', session.plane)
      .where(column, '=', key)
      .where('deleted_at', 'is', null)
      .where(named(viewer))
      .orderBy('started_at')
      .orderBy('session_id')
      .limit(MOST)
      .execute();
    return rows.map((row) => ({ relation, row: shownTo(viewer, row) }));
  });
  return (await Promise.all(found)).flat();
}

/** The facts of a session by one version of the rules, as JSON text; empty if it derived nothing. */
export const findFacts = async (
  db: Db,
  organizationId: string,
  sessionId: string,
  version: number,
): Promise<string> => {
  const row = await db
    .selectFrom('session_facts')
    .select('facts')
    .where('organization_id', '=', organizationId)
    .where('session_id', '=', sessionId)
    .where('version', 'in', [version, VERSION_OF_KEPT])
    .executeTakeFirst();
  return row?.facts ?? '';
};
