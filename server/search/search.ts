import type { ParsedQuery } from '../../contract/query.ts';
import type { Hit, Order } from '../../contract/review.ts';
import type { Plane } from '../../contract/secret.ts';
import type { Db } from '../store/open.ts';
import type { Place } from '../store/search.ts';
import { byIndex } from '../store/words.ts';
import { gather, nextBatch, type Wanted } from './candidates.ts';
import { readFilters } from './filters.ts';
import { createMatcher, type Matcher } from './matcher.ts';
import type { Budget } from './read.ts';
import { markStretches, type Unfinished, verify } from './verify.ts';

export interface Search {
  organizationId: string;
  planes: readonly Plane[];
  query: Pick<ParsedQuery, 'terms' | 'filters'>;
  order: Order;
  direction: 'asc' | 'desc';
  limit: number;
  /** Where an earlier page ended. */
  after?: Position | undefined;
  /** Epoch milliseconds. */
  now: number;
  /** Bytes of events that may be read for the answer. */
  mostBytes?: number;
}

/** The last session that was decided on, and how far the one behind it was read. */
export interface Position {
  place?: Place;
  unfinished?: Unfinished;
}

export interface Page {
  found: { sessionId: string; hits: Hit[] }[];
  /** Undefined at the end of all. A page may be short, or empty, and not the last. */
  next?: Position;
}

/** What one answer may cost: bytes of events read, and sessions looked at. */
const MOST_BYTES = 32 * 1024 * 1024;
const MOST_LOOKED_AT = 20_000;
/** Sessions that are read at the same time, so that one is fetched while another is read. */
const AT_ONCE = 4;

/** The sessions in which everything occurs that was asked for, and where. */
export async function search(db: Db, asked: Search): Promise<Page> {
  const { organizationId, query, limit, order, direction, planes, now } = asked;
  const matcher = createMatcher(query.terms);
  const words = (not: boolean) =>
    matcher.terms.filter((term) => term.not === not && (term.exact || !not)).map(({ indexed }) => indexed);
  const wanted: Wanted = {
    ...{ organizationId, planes, order, direction, words: words(false), withoutWords: words(true) },
    ...(await readFilters(db, organizationId, query.filters, now)),
  };
  const { ids } = await byIndex(db, (db) => gather(db, wanted));
  const budget: Budget = { left: asked.mostBytes ?? MOST_BYTES };
  return page(db, ids ? { ...wanted, words: [] } : wanted, ids, matcher, budget, asked.after, limit);
}

async function page(
  db: Db,
  wanted: Wanted,
  ids: readonly string[] | undefined,
  matcher: Matcher,
  budget: Budget,
  after: Position | undefined,
  limit: number,
): Promise<Page> {
  const found: Page['found'] = [];
  let { place, unfinished } = after ?? {};
  let next = limit * 4;
  for (let lookedAt = 0; lookedAt < MOST_LOOKED_AT; lookedAt += next, next *= 4) {
    // One more than there is room for tells whether there is a next page.
    const room = limit - found.length + 1;
    const [from, among] = [place, ids ? { ids } : { next }];
    const { places, end } = await byIndex(db, (db) => nextBatch(db, wanted, from, among, room));
    const decisions = decide(db, wanted.organizationId, places, matcher, budget, unfinished);
    for await (const { place: decided, decision } of decisions) {
      if (found.length === limit) return { found, next: { ...(place && { place }) } };
      if (typeof decision === 'object' && 'from' in decision)
        return { found, next: { ...(place && { place }), unfinished: decision } };
      if (decision !== 'no match') found.push({ sessionId: decided.sessionId, hits: decision.hits });
      place = decided;
      unfinished = undefined;
    }
    if (!end) return { found };
    place = end;
    if (budget.left <= 0) break;
  }
  return { found, next: { ...(place && { place }) } };
}

async function* decide(
  db: Db,
  organizationId: string,
  places: readonly Place[],
  matcher: Matcher,
  budget: Budget,
  earlier: Unfinished | undefined,
) {
  if (matcher.terms.length === 0) {
    for (const place of places) yield { place, decision: { hits: [] } };
    return;
  }
  const sessionIds = places.map(({ sessionId }) => sessionId);
  const stretches = await byIndex(db, (db) => markStretches(db, organizationId, sessionIds, matcher));
  for (let at = 0; at < places.length; at += AT_ONCE) {
    const some = places.slice(at, at + AT_ONCE).map(async (place) => {
      const mine = earlier?.sessionId === place.sessionId ? earlier : undefined;
      return {
        place,
        decision: await verify(db, organizationId, stretches.get(place.sessionId) ?? [], matcher, budget, mine),
      };
    });
    yield* await Promise.all(some);
  }
}
