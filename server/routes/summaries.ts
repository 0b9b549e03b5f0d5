import { Problem } from '../../contract/problem.ts';
import type { Deps } from '../deps.ts';
import { toSummary } from '../derive/summary.ts';
import type { Handlers } from '../http/handler.ts';
import { findSummaries } from '../store/summaries.ts';

const MOST_AT_ONCE = 100;

export const summaryHandlers = ({ store: { db }, indexer }: Deps) =>
  ({
    async listSessionSummaries({ caller, query }) {
      const sessionIds = query.sessionIds.split(',').filter((id) => id !== '');
      if (sessionIds.length === 0 || sessionIds.length > MOST_AT_ONCE) {
        throw new Problem('validation_failed', `/sessionIds takes 1 to ${MOST_AT_ONCE} ids, separated by commas.`);
      }
      const find = () => findSummaries(db, caller.organizationId, sessionIds);
      const found = await find();
      const isLate = await indexer.reach(found);
      const rows = isLate ? await find() : found;
      return { status: 200, body: { summaries: rows.map(toSummary) } };
    },
  }) satisfies Partial<Handlers>;
