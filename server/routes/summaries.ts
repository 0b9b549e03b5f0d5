import { Problem } from '../../contract/problem.ts';
import type { SessionSummary } from '../../contract/review.ts';
import type { Deps } from '../deps.ts';
import type { Handlers } from '../http/handler.ts';
import type { Derived } from '../ingest/summaries.ts';
import { findSummarySources, type SummarySource } from '../store/summaries.ts';
import { optional, optionalTimestamp } from '../store/time.ts';

const MOST_AT_ONCE = 100;

export const summaryHandlers = ({ store: { db }, summaries }: Deps) =>
  ({
    async listSessionSummaries({ caller, query }) {
      const sessionIds = query.sessionIds.split(',').filter((id) => id !== '');
      if (sessionIds.length === 0 || sessionIds.length > MOST_AT_ONCE) {
        throw new Problem('validation_failed', `/sessionIds takes 1 to ${MOST_AT_ONCE} ids, separated by commas.`);
      }
      const sources = await findSummarySources(db, caller.organizationId, sessionIds);
      const derived = await summaries.read(sources);
      return { status: 200, body: { summaries: derived.map((one, index) => toSummary(sources[index], one)) } };
    },
  }) satisfies Partial<Handlers>;

function toSummary(source: SummarySource | undefined, { summary, through }: Derived): SessionSummary {
  if (!source) throw new Error('a summary of no session');
  const { lastResponse, revised, firstPrompt, model, firstEventAt, lastEventAt, ...counts } = summary;
  return {
    sessionId: source.sessionId,
    ...optional('repository', source.repoRoot),
    ...optional('gitBranch', source.gitBranch),
    ...optional('continues', source.continues),
    ...optional('forkedFrom', source.forkedFrom),
    ...optional('firstPrompt', firstPrompt ?? null),
    ...optional('model', model ?? null),
    ...counts,
    filesChanged: 0,
    linesAdded: 0,
    linesRemoved: 0,
    cachedTokens: 0,
    ...optionalTimestamp('firstEventAt', firstEventAt ?? null),
    ...optionalTimestamp('lastEventAt', lastEventAt ?? null),
    summarizedThrough: through,
  };
}
