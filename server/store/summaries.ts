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
    .select([
      'sessions.session_id',
      'sessions.status',
      'sessions.event_count',
      'sessions.repo_root',
      'sessions.git_branch',
      'summaries.version',
      'summaries.summarized_through',
      'summaries.summary',
    ])
    .where('sessions.organization_id', '=', organizationId)
    .where('sessions.session_id', 'in', [...sessionIds])
    .execute();
  return rows.map(({ version, summarized_through: through, summary, ...row }) => ({
    organizationId,
    sessionId: row.session_id,
    status: row.status,
    eventCount: row.event_count,
    repoRoot: row.repo_root,
    gitBranch: row.git_branch,
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
 * Keeps what was derived, unless a later state, or one of a later version, is kept already: another replica may have been
 * faster. The rows must come sorted by session.
 */
export async function writeSummaries(db: Db, summaries: readonly NewSummary[]): Promise<void> {
  for (let from = 0; from < summaries.length; from += ROWS_AT_ONCE) {
    const rows = summaries
      .slice(from, from + ROWS_AT_ONCE)
      .map(({ organizationId, sessionId, version, through, summary }) => ({
        session_id: sessionId,
        organization_id: organizationId,
        version,
        summarized_through: through,
        summary,
      }));
    await db
      .insertInto('summaries')
      .values(rows)
      .onConflict((conflict) =>
        conflict
          .column('session_id')
          .doUpdateSet((row) => ({
            version: row.ref('excluded.version'),
            summarized_through: row.ref('excluded.summarized_through'),
            summary: row.ref('excluded.summary'),
          }))
          .where(
            sql<boolean>`(summaries.version, summaries.summarized_through) < (excluded.version, excluded.summarized_through)`,
          )
          .whereRef('summaries.organization_id', '=', 'excluded.organization_id'),
      )
      .execute();
  }
}
