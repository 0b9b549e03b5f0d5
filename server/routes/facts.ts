import { Problem } from '../../contract/problem.ts';
import type { Deps } from '../deps.ts';
import { indexLines } from '../derive/index-lines.ts';
import { VERSION } from '../derive/piece.ts';
import { toSessionFacts } from '../derive/session-facts.ts';
import { toSummary } from '../derive/summary.ts';
import type { Handlers } from '../http/handler.ts';
import { streamPieces } from '../ingest/page.ts';
import { findFacts, findRelated } from '../store/related.ts';
import { toSession } from '../store/sessions.ts';
import { findSummaries } from '../store/summaries.ts';

export const factsHandlers = ({ store: { db }, indexer, deriveThread, prices }: Deps) => {
  /** The session, derived through its last event if that can be had soon. */
  async function find(organizationId: string, sessionId: string) {
    const [found] = await findSummaries(db, organizationId, [sessionId]);
    if (!found) throw new Problem('not_found', 'No such session in this organization.');
    const wasBehind = await indexer.reach([found]);
    return (wasBehind ? (await findSummaries(db, organizationId, [sessionId]))[0] : undefined) ?? found;
  }

  return {
    async getSessionFacts({ caller, params }) {
      const found = await find(caller.organizationId, params.sessionId);
      const [facts, related] = await Promise.all([
        findFacts(db, caller.organizationId, params.sessionId, VERSION),
        findRelated(db, found.session),
      ]);
      const body = {
        summary: toSummary(found),
        ...toSessionFacts(facts, prices),
        related: related.map(({ relation, row }) => ({ relation, session: toSession(row) })),
      };
      return { status: 200, body };
    },

    async getSessionIndex({ caller, params, query }) {
      const { session } = await find(caller.organizationId, params.sessionId);
      const lines = indexLines(db, deriveThread, session, Number(query.from ?? 1));
      return { status: 200, body: await streamPieces(lines) };
    },
  } satisfies Partial<Handlers>;
};
