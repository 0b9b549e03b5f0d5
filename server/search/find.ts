import type { FoundEvents } from '../../contract/review.ts';
import type { Db } from '../store/open.ts';
import type { SessionRow } from '../store/schema.ts';
import { byIndex, lastIndexed, type Stretch } from '../store/words.ts';
import type { Matcher } from './matcher.ts';
import { type Budget, type RangeRead, readRanges } from './read.ts';
import { markStretches } from './verify.ts';

/** Bytes of events read for one answer, at most, unless a single stretch has more: the first marks are not long in coming. */
const MOST_BYTES = 4 * 1024 * 1024;
const MOST_HITS = 200;
/** Events read at once where it is not known yet which words they have. */
const UNKNOWN_AT_ONCE = 64;
/** Stretches that are fetched together: the first ones tell how many there must be for the answer. */
const AT_ONCE = { first: 8, most: 32 };

/**
 * The events of a session, from a sequence on, that hold every term and none that is excluded: those of the next stretch
 * that can be read for one answer.
 */
export async function findInSession(
  db: Db,
  session: SessionRow,
  matcher: Matcher,
  from: number,
  signal?: AbortSignal,
): Promise<FoundEvents> {
  const all = matcher.terms.flatMap(({ not }, place) => (not ? [] : [place]));
  const budget: Budget = { left: MOST_BYTES };
  const hits: FoundEvents['hits'] = [];
  if (all.length === 0 || from > session.event_count) return { hits, next: null };
  const stretches = await stretchesOf(db, session, matcher, all, from);
  for (let at = 0, count = AT_ONCE.first; at < stretches.length; ) {
    const some = stretches.slice(at, at + count);
    if (budget.left <= 0 || hits.length >= MOST_HITS) return { hits, next: (some[0] as Stretch).first };
    const reads = some.map((range): RangeRead & Pick<FoundEvents, 'hits'> => {
      const hits: FoundEvents['hits'] = [];
      return {
        range,
        hits,
        take(event) {
          if (event.terms.size === all.length && all.every((one) => event.terms.has(one))) hits.push(event.show());
          return true;
        },
      };
    });
    const read = await readRanges(db, session.organization_id, reads, { matcher, budget, signal });
    hits.push(...reads.slice(0, read).flatMap(({ hits }) => hits));
    if (read < some.length) return { hits, next: (some[read] as Stretch).first };
    at += read;
    count = Math.max(1, Math.min(AT_ONCE.most, Math.ceil(((MOST_HITS - hits.length) * at) / hits.length)));
  }
  return { hits, next: null };
}

/** What of the session may hold them all, and what nothing is known of yet. */
async function stretchesOf(
  db: Db,
  session: SessionRow,
  matcher: Matcher,
  all: readonly number[],
  from: number,
): Promise<Stretch[]> {
  const { organization_id: organizationId, session_id: sessionId, event_count: eventCount } = session;
  // First, so that what is indexed in between is read twice rather than never.
  const indexed = await lastIndexed(db, organizationId, sessionId);
  const marked = await byIndex(db, (db) => markStretches(db, organizationId, [sessionId], matcher, from));
  const stretches: Stretch[] = (marked.get(sessionId) ?? []).filter(({ terms }) => all.every((one) => terms.has(one)));
  for (let first = Math.max(from, indexed + 1); first <= eventCount; first += UNKNOWN_AT_ONCE) {
    stretches.push({ sessionId, first, last: Math.min(eventCount, first + UNKNOWN_AT_ONCE - 1) });
  }
  return stretches.map(({ first, last }) => ({ sessionId, first: Math.max(first, from), last }));
}
