import type { FoundEvents } from '../../contract/review.ts';
import { naming } from '../log/damaged.ts';
import type { Db, SessionRow } from '../store/schema.ts';
import type { ReadableSession } from '../store/viewer.ts';
import { byIndex, type EventRange, lastIndexed, wordPrefix } from '../store/word-index.ts';
import { Budget } from './budget.ts';
import type { Matcher } from './matcher.ts';
import { type RangeRead, readRanges } from './read-events.ts';
import { findRanges } from './verify.ts';

/** The budget of one answer, so that the first hits appear soon. A single range may exceed it. */
const MAX_BYTES = 8 * 1024 * 1024;
const MAX_HITS = 200;
/** The most events in a range without an index. */
const UNINDEXED_AT_ONCE = 64;
/** How many ranges are fetched together. The hits in the first ones show how many more the answer needs. */
const AT_ONCE = { first: 8, most: 32 };

/**
 * Finds the events of a session that have every term, from a sequence on.
 * @returns the events of as many ranges as one answer may read, and the sequence where the next answer begins
 */
export async function findInSession(
  db: Db,
  session: ReadableSession,
  matcher: Matcher,
  from: number,
  signal?: AbortSignal,
): Promise<FoundEvents> {
  const all = matcher.terms.flatMap(({ not }, place) => (not ? [] : [place]));
  const { organization_id: organizationId, session_id: sessionId } = session;
  const budget = new Budget(MAX_BYTES);
  const hits: FoundEvents['hits'] = [];
  if (all.length === 0 || from > session.event_count) return { hits, next: null };
  const ranges = await rangesOf(db, session, matcher, all, from);
  for (let at = 0, count = AT_ONCE.first; at < ranges.length; ) {
    const some = ranges.slice(at, at + count);
    if (budget.left <= 0 || hits.length >= MAX_HITS) return { hits, next: (some[0] as EventRange).first };
    const reads = some.map((range): RangeRead & Pick<FoundEvents, 'hits'> => {
      const hits: FoundEvents['hits'] = [];
      return {
        range,
        hits,
        isNeeded: () => true,
        take(event) {
          if (event.terms.size === all.length && all.every((one) => event.terms.has(one))) hits.push(event.show());
          return true;
        },
      };
    });
    const read = await naming({ organizationId, sessionId }, () =>
      readRanges(db, organizationId, reads, { matcher, budget, signal }),
    );
    hits.push(...reads.slice(0, read).flatMap(({ hits }) => hits));
    if (read < some.length) return { hits, next: (some[read] as EventRange).first };
    at += read;
    count = Math.max(1, Math.min(AT_ONCE.most, Math.ceil(((MAX_HITS - hits.length) * at) / hits.length)));
  }
  return { hits, next: null };
}

/** The ranges that may have all terms, and the ranges that are not indexed yet. */
async function rangesOf(
  db: Db,
  session: SessionRow,
  matcher: Matcher,
  all: readonly number[],
  from: number,
): Promise<EventRange[]> {
  const { organization_id: organizationId, session_id: sessionId, event_count: eventCount } = session;
  // Read before the index is searched, so that events indexed in between are read twice rather than never.
  const indexed = await lastIndexed(db, organizationId, sessionId);
  const searched = { organizationId, prefixes: [wordPrefix(session)] };
  const candidates = await byIndex(db, (db) => findRanges(db, searched, [sessionId], matcher, from));
  const ranges: EventRange[] = (candidates.get(sessionId) ?? []).filter(({ terms }) =>
    all.every((one) => terms.has(one)),
  );
  for (let first = Math.max(from, indexed + 1); first <= eventCount; first += UNINDEXED_AT_ONCE) {
    ranges.push({ sessionId, first, last: Math.min(eventCount, first + UNINDEXED_AT_ONCE - 1) });
  }
  return ranges.map(({ first, last }) => ({ sessionId, first: Math.max(first, from), last }));
}
