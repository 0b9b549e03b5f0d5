import { Problem } from '../../contract/problem.ts';
import { parseQuery, parseWords } from '../../contract/query.ts';
import { BY_FIT, type FoundEvents } from '../../contract/review.ts';
import { type Calendar, calendarOf, UTC } from '../../contract/time-zone.ts';
import type { Deps } from '../deps.ts';
import { toSummary } from '../derive/review.ts';
import type { Handlers } from '../http/handler.ts';
import { findInSession } from '../search/find-in-session.ts';
import { createMatcher } from '../search/matcher.ts';
import { readPeople } from '../search/people.ts';
import { readPosition, writePosition } from '../search/position.ts';
import { type Page, readProgress, type Search, search } from '../search/search-sessions.ts';
import type { Db } from '../store/schema.ts';
import { findSession, toSession } from '../store/sessions.ts';
import { findSummaries } from '../store/summaries.ts';
import { type Viewer, viewerOf } from '../store/viewer.ts';
import { foundReadable } from './answers.ts';
import { visitorOf } from './session-views.ts';

const DEFAULT_PAGE = 50;
const MAX_PAGE = 100;

export const searchHandlers = ({ store: { db }, longReads, derived, sessionViews, noteDamage, now }: Deps) =>
  ({
    async searchSessions(ask) {
      const { caller, query, signal } = ask;
      const viewer = await viewerOf(db, caller);
      const plane = query.secretEnvironment ?? 'live';
      const isByFit = query.order === BY_FIT;
      const order = query.order === undefined || query.order === BY_FIT ? 'started' : query.order;
      // Read before the search, because the search may have missed a session that is derived in between.
      await derived.indexer.reachNoted(caller.organizationId);
      const catchingUp = await derived.indexer.isCatchingUp(caller.organizationId);
      const parsed = parseQuery(query.q ?? '');
      const { problems } = await readPeople(db, viewer, parsed.filters);
      const asked: Search = {
        viewer,
        planes: plane === 'all' ? ['live', 'test'] : [plane],
        query: parsed,
        order,
        direction: query.direction ?? 'desc',
        limit: Math.min(Number(query.limit ?? DEFAULT_PAGE), MAX_PAGE),
        after: query.cursor === undefined ? undefined : readPosition(query.cursor, order),
        now: now(),
        calendar: readZone(query.zone),
        onDamaged: noteDamage,
      };
      const { found: hits, next } = await longReads.runOn(
        caller,
        signal,
        (db, signal, before: Page | undefined) => search(db, { ...asked, after: before?.next ?? asked.after, signal }),
        ({ found, next }) => found.length > 0 || !next,
      );
      const progress =
        next && hits.length < asked.limit
          ? await longReads.run(caller, signal, (db) => readProgress(db, asked, next))
          : undefined;
      const shown = isByFit ? hits.toSorted((one, other) => one.fit - other.fit) : hits;
      const rows = await show(db, viewer, shown);
      const visitor = visitorOf(ask, ask.caller);
      for (const { row, hits } of rows) if (hits.length > 0) sessionViews.note(visitor, row.session, 'found');
      const sessions = rows.map(({ row, hits }) => ({
        session: toSession(row.session),
        summary: toSummary(row),
        hits,
      }));
      return {
        status: 200,
        body: {
          sessions,
          nextCursor: next ? writePosition(next) : null,
          ...(progress && { progress }),
          ...(problems.length > 0 && { problems }),
          ...(catchingUp && { catchingUp }),
        },
      };
    },

    async findInSession(ask) {
      const { caller, params, query, signal } = ask;
      const viewer = await viewerOf(db, caller);
      const session = foundReadable(viewer, await findSession(db, viewer, params.sessionId));
      sessionViews.note(visitorOf(ask, ask.caller), session, 'opened', true);
      const matcher = createMatcher(parseWords(query.q).terms);
      const body = await longReads.runOn(
        caller,
        signal,
        (db, signal, before: FoundEvents | undefined) =>
          findInSession(db, session, matcher, before?.next ?? Number(query.from ?? 1), signal),
        ({ hits, next }) => hits.length > 0 || next === null,
      );
      return { status: 200, body };
    },
  }) satisfies Partial<Handlers>;

/** @throws Problem `validation_failed` for a name that is no time zone */
function readZone(zone: string | undefined): Calendar {
  const calendar = zone === undefined ? UTC : calendarOf(zone);
  if (calendar) return calendar;
  throw new Problem(
    'validation_failed',
    '/zone is not a time zone that the service knows. Name one as in Pacific/Auckland, or leave it out for UTC.',
  );
}

/** The sessions in the order of the search, without those that were deleted or that the viewer may no longer see. */
async function show(db: Db, viewer: Viewer, hits: Page['found']) {
  const ids = hits.map(({ sessionId }) => sessionId);
  const rows = new Map((await findSummaries(db, viewer, ids)).map((row) => [row.session.session_id, row]));
  return hits.flatMap(({ sessionId, hits }) => {
    const row = rows.get(sessionId);
    return row && (row.isReadable || hits.length === 0) ? [{ row, hits }] : [];
  });
}
