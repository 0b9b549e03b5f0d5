import type { SessionSummary } from '../../contract/extensions.ts';
import { Problem } from '../../contract/problem.ts';
import type { Deps } from '../deps.ts';
import type { Handlers } from '../http/handler.ts';
import { keptSummary } from '../ingest/derive.ts';
import { findSummaries } from '../store/summaries.ts';
import { optional, optionalTimestamp } from '../store/time.ts';

const MOST_AT_ONCE = 100;

export const summaryHandlers = ({ store: { db }, derive }: Deps) => {
  type Row = Awaited<ReturnType<typeof findSummaries>>[number];

  async function summarize(row: Row): Promise<SessionSummary> {
    const kept = keptSummary(row);
    const { summary, through } = await derive.bringUpTo(row.organization_id, row.session_id, row.event_count, kept);
    const { lastResponse, revised, firstPrompt, model, firstEventAt, lastEventAt, ...counts } = summary;
    return {
      sessionId: row.session_id,
      ...optional('repoRoot', row.repo_root),
      ...optional('gitBranch', row.git_branch),
      ...optional('firstPrompt', firstPrompt ?? null),
      ...optional('model', model ?? null),
      ...counts,
      ...optionalTimestamp('firstEventAt', firstEventAt ?? null),
      ...optionalTimestamp('lastEventAt', lastEventAt ?? null),
      summarizedThrough: through,
    };
  }

  return {
    async listSessionSummaries({ caller, query }) {
      const sessionIds = query.sessionIds.split(',').filter((id) => id !== '');
      if (sessionIds.length === 0 || sessionIds.length > MOST_AT_ONCE) {
        throw new Problem('validation_failed', `/sessionIds takes 1 to ${MOST_AT_ONCE} ids, separated by commas.`);
      }
      const rows = await findSummaries(db, caller.organizationId, sessionIds);
      return { status: 200, body: { summaries: await Promise.all(rows.map(summarize)) } };
    },
  } satisfies Partial<Handlers>;
};
