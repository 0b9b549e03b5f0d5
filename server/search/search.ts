import type { ParsedQuery } from '../../contract/query.ts';
import type { Hit, Order } from '../../contract/review.ts';
import type { Plane } from '../../contract/secret.ts';
import type { Db } from '../store/open.ts';
import type { Place } from '../store/search.ts';
import { byIndex, type WordsWanted } from '../store/words.ts';
import { type Batch, gather, nextBatch, type Wanted } from './candidates.ts';
import { readFilters } from './filters.ts';
import { createMatcher } from './matcher.ts';
import { type Budget, type RangeRead, type Reader, readRanges } from './read.ts';
import { type Decision, type Marked, markStretches, type Unfinished, verify } from './verify.ts';
import { AND_MORE } from './words.ts';

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
  /** Aborted when nobody waits for the answer any more. */
  signal?: AbortSignal | undefined;
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
const MOST_BYTES = 4 * 1024 * 1024;
const MOST_LOOKED_AT = 20_000;
/** Sessions that are read at the same time, since their events are fetched together: as many as a page still lacks. */
const AT_ONCE = { most: 24, least: 6 };

/** The sessions in which everything occurs that was asked for, and where. */
export async function search(db: Db, asked: Search): Promise<Page> {
  const { organizationId, query, limit, order, direction, planes, now, signal } = asked;
  const matcher = createMatcher(query.terms);
  const words = matcher.terms.filter(({ not }) => !not).map(({ indexed }) => orMore(indexed));
  let wanted: Wanted = {
    ...{ organizationId, planes, order, direction },
    ...(await readFilters(db, organizationId, query.filters, now)),
  };
  const budget: Budget = { left: asked.mostBytes ?? MOST_BYTES };
  const found: Page['found'] = [];
  let { place, unfinished } = asked.after ?? {};
  const gatheredIn = words.length > 1 ? 1 : 2;
  let next = limit * 4;
  let ids: readonly string[] | undefined;
  for (let lookedAt = 0, round = 1; lookedAt < MOST_LOOKED_AT; lookedAt += next, next *= 4, round++) {
    // One more than there is room for tells whether there is a next page. Of those that were looked up many have it.
    const isGathered = ids !== undefined || round === gatheredIn;
    const most =
      matcher.terms.length === 0 ? limit - found.length + 1 : isGathered ? limit * 4 * 2 ** (round - gatheredIn) : next;
    const batch = await byIndex(db, async (db) => {
      // What the first ones of the order do not have is looked up; of several words one may be rare.
      const gathered = round === gatheredIn ? await gather(db, wanted, words) : undefined;
      if (gathered) ({ ids, wanted } = gathered);
      const some = await nextBatch(db, wanted, place, ids ? { ids } : { next }, most);
      const sessionIds = some.places.map(({ sessionId }) => sessionId);
      return { ...some, stretches: await markStretches(db, organizationId, sessionIds, matcher) };
    });
    const lacking = () => Math.max(AT_ONCE.least, Math.min(AT_ONCE.most, limit + 1 - found.length));
    for await (const { place: decided, decision } of decide(
      db,
      wanted,
      batch,
      { matcher, budget, signal },
      unfinished,
      lacking,
    )) {
      if (found.length === limit) return { found, next: { ...(place && { place }) } };
      if (typeof decision === 'object' && 'from' in decision)
        return { found, next: { ...(place && { place }), unfinished: decision } };
      if (decision !== 'no match') found.push({ sessionId: decided.sessionId, hits: decision.hits });
      place = decided;
      unfinished = undefined;
    }
    if (!batch.end) return { found };
    place = batch.end;
    if (budget.left <= 0) break;
  }
  return { found, next: { ...(place && { place }) } };
}

/** Chunks that have more words than are known are met as well. */
const orMore = (words: WordsWanted): WordsWanted =>
  words.map((alternatives) => [...alternatives, [{ word: AND_MORE, open: false }]]);

interface Marks extends Batch {
  stretches: Map<string, Marked[]>;
}

/** In the order of the places; several are read at the same time. */
async function* decide(
  db: Db,
  { organizationId }: Wanted,
  { places, stretches }: Marks,
  reader: Reader,
  earlier: Unfinished | undefined,
  /** How many sessions are read next. */
  lacking: () => number,
): AsyncGenerator<{ place: Place; decision: Decision }> {
  const steps = places.map((place) => {
    const { sessionId } = place;
    const mine = earlier?.sessionId === sessionId ? earlier : undefined;
    return { place, work: verify(sessionId, stretches.get(sessionId) ?? [], reader.matcher, reader.budget, mine) };
  });
  for (let at = 0; at < steps.length; ) {
    const some: Step[] = [];
    for (let open = lacking(); at < steps.length && open > 0; at++) {
      const { place, work } = steps[at] as (typeof steps)[number];
      const step = work.next();
      some.push({ place, work, step });
      if (!step.done) open--;
    }
    for (let open = some.filter(isOpen); open.length > 0; open = open.filter(isOpen)) {
      const reads = open.flatMap(({ step }) => (step.done ? [] : [step.value]));
      const count = await readRanges(db, organizationId, reads, reader);
      for (const [n, one] of open.entries()) one.step = one.work.next(n < count);
    }
    yield* some.map(({ place, step }) => ({ place, decision: step.value as Decision }));
  }
}

interface Step {
  place: Place;
  work: ReturnType<typeof verify>;
  step: IteratorResult<RangeRead, Decision>;
}

const isOpen = ({ step }: Step) => step.done !== true;
