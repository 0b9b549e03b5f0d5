import type { Db } from './open.ts';

/** Sessions with what was last derived of them, for as many of the ids as the organization has. */
export const findSummaries = (db: Db, organizationId: string, sessionIds: readonly string[]) =>
  db
    .selectFrom('sessions')
    .leftJoin('summaries', 'summaries.session_id', 'sessions.session_id')
    .select([
      'sessions.session_id',
      'sessions.organization_id',
      'sessions.event_count',
      'sessions.repo_root',
      'sessions.git_branch',
      'summaries.summarized_through',
      'summaries.summary',
    ])
    .where('sessions.organization_id', '=', organizationId)
    .where('sessions.session_id', 'in', [...sessionIds])
    .execute();

/**
 * Keeps what was derived up to `through`, unless a later state is kept already: another replica may have been faster.
 */
export const writeSummary = (
  db: Db,
  organizationId: string,
  sessionId: string,
  through: number,
  summary: string,
): Promise<unknown> =>
  db
    .insertInto('summaries')
    .values({ session_id: sessionId, organization_id: organizationId, summarized_through: through, summary })
    .onConflict((conflict) =>
      conflict
        .column('session_id')
        .doUpdateSet({ summarized_through: through, summary })
        .where('summaries.summarized_through', '<', through)
        .where('summaries.organization_id', '=', organizationId),
    )
    .execute();
