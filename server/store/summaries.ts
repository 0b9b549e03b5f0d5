import { sql } from 'kysely';
import type { SessionFacts } from '../../contract/review.ts';
import { unindexed } from './dialect.ts';
import { allRows, firstRow } from './rows.ts';
import type { Db, SessionFactsRow, SessionRow } from './schema.ts';
import { VERSION_OF_KEPT } from './session-rows.ts';
import { mayRead, named, shownTo, type Viewer } from './viewer.ts';

/** The columns of `session_facts` that a summary shows. */
const SHOWN = [
  'version',
  'derived_through',
  'prompts',
  'tool_calls',
  'failures',
  'redactions',
  'files_changed',
  'lines_added',
  'lines_removed',
  'input_tokens',
  'cached_tokens',
  'output_tokens',
  'cost',
  'first_event_at',
  'last_event_at',
  'summary',
] as const satisfies (keyof SessionFactsRow)[];

/** A session with its derived data, for lists. */
export interface SummaryRow {
  session: SessionRow;
  /** The ids of the sessions that it continues and was forked from, if they exist. */
  continues: string | null;
  forkedFrom: string | null;
  /** Whether the viewer may read its content. */
  isReadable: boolean;
  /** Undefined if nothing is derived yet. */
  derived: Pick<SessionFactsRow, (typeof SHOWN)[number]> | undefined;
}

type SessionWithFacts = SessionRow & SummaryRow['derived'] & Pick<SummaryRow, 'continues' | 'forkedFrom'>;

/** Finds those of these sessions that the viewer may know of, in no particular order. */
export async function findSummaries(db: Db, viewer: Viewer, sessionIds: readonly string[]): Promise<SummaryRow[]> {
  if (sessionIds.length === 0) return [];
  const rows = await allRows(
    db,
    sql<SessionWithFacts>`
      select sessions.*, earlier.session_id as continues, origin.session_id as "forkedFrom",
        ${sql.join(SHOWN.map((name) => sql.ref(`derived.${name}`)))}
      from sessions
      left join session_facts as derived on derived.session_id = sessions.session_id
      left join sessions as earlier on earlier.organization_id = sessions.organization_id
        and earlier.plane = sessions.plane and earlier.client_key = sessions.continues_key
        and earlier.deleted_at is null and ${named(viewer, 'earlier')}
      left join sessions as origin on origin.organization_id = sessions.organization_id
        and origin.plane = sessions.plane and origin.client_key = sessions.forked_from_key
        and origin.deleted_at is null and ${named(viewer, 'origin')}
      where ${unindexed(db, 'sessions.organization_id')} = ${viewer.organizationId}
        and sessions.session_id in (${sql.join([...sessionIds])})
        and sessions.deleted_at is null and ${named(viewer)}`,
  );
  return rows.map(({ continues, forkedFrom, ...row }) => ({
    session: shownTo(viewer, row),
    ...{ continues, forkedFrom },
    isReadable: mayRead(viewer, row),
    derived: row.summary === null ? undefined : row,
  }));
}

type Relation = SessionFacts['related'][number]['relation'];

const MAX_RELATED = 100;

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
    const rows = await allRows(
      db,
      sql<SessionRow>`
        select * from sessions
        where organization_id = ${session.organization_id} and plane = ${session.plane} and ${sql.ref(column)} = ${key}
          and deleted_at is null and ${named(viewer)}
        order by started_at, session_id limit ${MAX_RELATED}`,
    );
    return rows.map((row) => ({ relation, row: shownTo(viewer, row) }));
  });
  return (await Promise.all(found)).flat();
}

/** The facts of a session by one of these versions, as they are stored; null if none of them derived anything. */
export async function findFacts(
  db: Db,
  organizationId: string,
  sessionId: string,
  [earliest, latest]: readonly [number, number],
): Promise<Uint8Array | null> {
  const row = await firstRow(
    db,
    sql<Pick<SessionFactsRow, 'facts'>>`
      select facts from session_facts
      where organization_id = ${organizationId} and session_id = ${sessionId}
        and (version between ${earliest} and ${latest} or version = ${VERSION_OF_KEPT})`,
  );
  return row?.facts ?? null;
}
