import type { FoundEvents } from '../../contract/review.ts';
import type { Db } from '../store/open.ts';
import type { SessionRow } from '../store/schema.ts';
import { findChunks, lastIndexed, type Stretch } from '../store/words.ts';
import type { Matcher } from './matcher.ts';
import { type Budget, readStretch } from './read.ts';
import { AND_MORE } from './words.ts';

/** Bytes of events read for one answer, at most, unless a single stretch has more. */
const MOST_BYTES = 8 * 1024 * 1024;
const MOST_HITS = 200;
/** Events read at once where it is not known yet which words they have. */
const UNKNOWN_AT_ONCE = 64;

/**
 * The events of a session, from a sequence on, that hold every term and none that is excluded: those of the next stretch
 * that can be read for one answer.
 */
export async function findInSession(db: Db, session: SessionRow, matcher: Matcher, from: number): Promise<FoundEvents> {
  const { organization_id: organizationId } = session;
  const all = matcher.terms.flatMap(({ not }, place) => (not ? [] : [place]));
  const budget: Budget = { left: MOST_BYTES };
  const hits: FoundEvents['hits'] = [];
  if (all.length === 0 || from > session.event_count) return { hits, next: null };
  for (const stretch of await stretchesOf(db, session, matcher, from)) {
    if (budget.left <= 0 || hits.length >= MOST_HITS) return { hits, next: stretch.first };
    const found = await readStretch(db, organizationId, stretch, matcher, budget);
    hits.push(
      ...found
        .filter(({ terms }) => terms.size === all.length && all.every((one) => terms.has(one)))
        .map(({ hit }) => hit),
    );
  }
  return { hits, next: null };
}

/** What of the session may hold them all, and what nothing is known of yet. */
async function stretchesOf(db: Db, session: SessionRow, { terms }: Matcher, from: number): Promise<Stretch[]> {
  const { organization_id: organizationId, session_id: sessionId, event_count: eventCount } = session;
  const wanted = terms.filter(({ not }) => !not).flatMap(({ indexed }) => indexed);
  const orMore = wanted.map((alternatives) => [...alternatives, [{ word: AND_MORE, open: false }]]);
  // First, so that what is indexed in between is read twice rather than never.
  const indexed = await lastIndexed(db, organizationId, sessionId);
  const stretches = await findChunks(db, organizationId, [sessionId], orMore, from);
  for (let first = Math.max(from, indexed + 1); first <= eventCount; first += UNKNOWN_AT_ONCE) {
    stretches.push({ sessionId, first, last: Math.min(eventCount, first + UNKNOWN_AT_ONCE - 1) });
  }
  return stretches.map(({ first, ...rest }) => ({ ...rest, first: Math.max(first, from) }));
}
