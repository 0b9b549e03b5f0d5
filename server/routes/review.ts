import { Problem } from '../../contract/problem.ts';
import type { UsageQuery } from '../../contract/review.ts';
import { PLANES } from '../../contract/secret.ts';
import type { Deps } from '../deps.ts';
import { readAddOns } from '../derive/add-ons.ts';
import { indexLines } from '../derive/index-lines.ts';
import { toSessionFacts, toSummary } from '../derive/review.ts';
import { readUsage } from '../derive/usage.ts';
import { VERSIONS_OF_FORM } from '../derive/version.ts';
import { findExpiry } from '../erase/content-expiry.ts';
import { findHoldOf } from '../erase/holds.ts';
import type { Handlers } from '../http/handler.ts';
import { streamText, whileReadable } from '../ingest/page.ts';
import { readPolicy } from '../store/policies.ts';
import { toSession } from '../store/sessions.ts';
import { findFacts, findRelated, findSummaries } from '../store/summaries.ts';
import type { Days } from '../store/summed-days.ts';
import { type Viewer, viewerOf } from '../store/viewer.ts';
import { found, foundReadable } from './answers.ts';
import { visitorOf } from './session-views.ts';

const MAX_SUMMARIES = 100;

const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 30;
const MAX_DAYS = 366;

/** Answers from derived data: summaries, facts and entries of sessions, and the overview of an organization. */
export const reviewHandlers = ({
  store: { db },
  derived: { indexer, daySums, thread, pricesOf },
  longReads,
  now,
  sessionViews,
  retentionBounds,
}: Deps) => {
  /**
   * The sessions among these whose existence the viewer may know. They are derived through their last events if that is quick.
   */
  async function findDerived(viewer: Viewer, sessionIds: readonly string[]) {
    const rows = await findSummaries(db, viewer, sessionIds);
    const wasBehind = await indexer.reach(rows);
    return wasBehind ? findSummaries(db, viewer, sessionIds) : rows;
  }

  return {
    async listSessionSummaries({ caller, query }) {
      const sessionIds = query.sessionIds.split(',').filter((id) => id !== '');
      if (sessionIds.length === 0 || sessionIds.length > MAX_SUMMARIES) {
        throw new Problem('validation_failed', `/sessionIds must be 1 to ${MAX_SUMMARIES} ids, separated by commas.`);
      }
      const rows = await findDerived(await viewerOf(db, caller), sessionIds);
      return { status: 200, body: { summaries: rows.map(toSummary) } };
    },

    async getSessionFacts(ask) {
      const { caller, params } = ask;
      const viewer = await viewerOf(db, caller);
      const [row] = await findDerived(viewer, [params.sessionId]);
      const { session, isReadable } = found(row, 'session');
      // Who may read the session gets its first prompt and its commands. The page also reads the entries, which count as the look.
      if (isReadable) sessionViews.note(visitorOf(ask, caller), session, 'opened', true);
      const key = { organizationId: caller.organizationId, sessionId: params.sessionId };
      const [facts, related, holdId, expiry] = await Promise.all([
        findFacts(db, caller.organizationId, params.sessionId, VERSIONS_OF_FORM),
        findRelated(db, viewer, session),
        findHoldOf(db, key),
        findExpiry(db, session, retentionBounds),
      ]);
      const body = {
        summary: toSummary(found(row, 'session')),
        ...(holdId !== undefined && { holdId }),
        ...expiry,
        pricesOf,
        ...toSessionFacts(facts, isReadable),
        related: related.map(({ relation, row }) => ({ relation, session: toSession(row) })),
      };
      return { status: 200, body };
    },

    async getSessionIndex(ask) {
      const { caller, params, query } = ask;
      const viewer = await viewerOf(db, caller);
      const [row] = await findDerived(viewer, [params.sessionId]);
      const session = foundReadable(viewer, row?.session);
      const from = Number(query.from ?? 1);
      sessionViews.note(visitorOf(ask, ask.caller), session, 'opened', from > 1);
      const asker = { group: caller.organizationId, person: caller.userId, signal: ask.signal };
      const lines = indexLines(db, thread, session, from, asker);
      return { status: 200, body: await streamText(lines, whileReadable(db, viewer, session)) };
    },

    async listAddOns({ caller, query, signal }) {
      const filter = { ...daysOf(caller.organizationId, query, now()), kind: query.kind };
      const viewer = await viewerOf(db, caller);
      const grouping = await readPolicy(db, caller.organizationId);
      const body = await longReads.run(caller, signal, (db) => readAddOns(db, viewer, filter, grouping));
      return { status: 200, body };
    },

    async getUsage({ caller, query, signal }) {
      const filter = daysOf(caller.organizationId, query, now());
      // Read before the figures, because a session that is derived in between may not be counted.
      await indexer.reachNoted(caller.organizationId);
      const isBehind = await indexer.isCatchingUp(caller.organizationId);
      const catchingUp = !(await daySums.reach(filter)) || isBehind;
      const viewer = await viewerOf(db, caller);
      const settings = { pricesOf, grouping: await readPolicy(db, caller.organizationId), now: now() };
      const usage = await longReads.run(caller, signal, (db) => readUsage(db, viewer, filter, settings));
      return { status: 200, body: { ...usage, ...(catchingUp && { catchingUp }) } };
    },
  } satisfies Partial<Handlers>;
};

/** The days of the query. */
function daysOf(organizationId: string, query: UsageQuery, now: number): Days {
  const to = query.to ?? dayOf(now);
  const from = query.from ?? dayOf(startOf(to) - (DEFAULT_DAYS - 1) * DAY_MS);
  const days = (startOf(to) - startOf(from)) / DAY_MS + 1;
  if (!(days >= 1 && days <= MAX_DAYS)) {
    throw new Problem('validation_failed', `/from and /to must be in order, and at most ${MAX_DAYS} days apart.`);
  }
  const plane = query.secretEnvironment ?? 'live';
  return { organizationId, planes: plane === 'all' ? PLANES : [plane], from, to };
}

/** NaN if the text is not a day. */
const startOf = (day: string): number => Date.parse(`${day}T00:00:00Z`);
const dayOf = (time: number): string => (Number.isNaN(time) ? '' : new Date(time).toISOString().slice(0, 10));
