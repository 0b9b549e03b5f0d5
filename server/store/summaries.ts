import { sql } from 'kysely';
import type { Db } from './open.ts';
import type { SessionRow } from './schema.ts';

/** A session, and what was last derived of it. */
export interface SummarySource {
  organizationId: string;
  sessionId: string;
  status: SessionRow['status'];
  eventCount: number;
  repoRoot: string | null;
  gitBranch: string | null;
  /** Ids of the sessions it goes on with and branched off, once they are here. */
  continues: string | null;
  forkedFrom: string | null;
  stored?: { version: number; through: number; summary: string };
}

/** As many of the sessions as the organization has. */
export async function findSummarySources(
  db: Db,
  organizationId: string,
  sessionIds: readonly string[],
): Promise<SummarySource[]> {
  const rows = await db
    .selectFrom('sessions')
    .leftJoin('summaries', 'summaries.session_id', 'sessions.session_id')
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
    .select([
      'sessions.session_id as sessionId',
      'sessions.status',
      'sessions.event_count as eventCount',
      'sessions.repo_root as repoRoot',
      'sessions.git_branch as gitBranch',
      'earlier.session_id as continues',
      'origin.session_id as forkedFrom',
      'summaries.version',
      'summaries.summarized_through',
      'summaries.summary',
    ])
    .where('sessions.organization_id', '=', organizationId)
    .where('sessions.session_id', 'in', [...sessionIds])
    .where('sessions.deleted_at', 'is', null)
    .execute();
  return rows.map(({ version, summarized_through: through, summary, ...source }) => ({
    organizationId,
    ...source,
    ...(version === null || through === null || summary === null ? {} : { stored: { version, through, summary } }),
  }));
}

export interface NewSummary {
  organizationId: string;
  sessionId: string;
  version: number;
  /** Sequence of the last event it has counted. */
  through: number;
  /** JSON text: see `ingest/summary.ts`. */
  summary: string;
}

/** Rows a statement; each has five parameters. */
const ROWS_AT_ONCE = 200;

/**
 * Keeps what was derived, unless the session was deleted, or a later state or one of a later version is kept already:
 * another replica may have been faster. The rows must come sorted by session.
 */
export async function writeSummaries(db: Db, summaries: readonly NewSummary[]): Promise<void> {
  for (let from = 0; from < summaries.length; from += ROWS_AT_ONCE) {
    const rows = summaries
      .slice(from, from + ROWS_AT_ONCE)
      .map(
        ({ organizationId, sessionId, version, through, summary }) =>
          sql`(${organizationId}, ${sessionId}, ${version}, ${through}, ${summary})`,
      );
    await sql`
      WITH given (organization_id, session_id, version, through, summary) AS (VALUES ${sql.join(rows)})
      INSERT INTO summaries (organization_id, session_id, version, summarized_through, summary)
      SELECT given.organization_id, given.session_id, CAST(given.version AS integer), CAST(given.through AS integer),
        given.summary
      FROM given
      JOIN sessions ON sessions.organization_id = given.organization_id AND sessions.session_id = given.session_id
      WHERE sessions.deleted_at IS NULL
      ORDER BY given.session_id
      ON CONFLICT (session_id) DO UPDATE SET version = excluded.version,
        summarized_through = excluded.summarized_through, summary = excluded.summary
      WHERE summaries.organization_id = excluded.organization_id
        AND (summaries.version, summaries.summarized_through) < (excluded.version, excluded.summarized_through)
    `.execute(db);
  }
}
