import type { ParsedQuery } from '../../contract/query.ts';
import type { Hit, Order } from '../../contract/review.ts';
import type { Plane } from '../../contract/secret.ts';
import type { Place } from '../store/find-sessions.ts';
import type { Db } from '../store/open.ts';
import { byIndex, type WordsWanted } from '../store/word-index.ts';
import { type Batch, gather, nextBatch, type Wanted } from './candidates.ts';
import { readFilters } from './filters.ts';
import { createMatcher } from './matcher.ts';
import { type Budget, type RangeRead, type Reader, readRanges } from './read-events.ts';
import { type Decision, type MarkedRange, markRanges, type Unfinished, Verification } from './verify.ts';
import { AND_MORE } from './words.ts';

export interface Search {
  organizationId: string;
  planes: readonly Plane[];
  query: Pick<ParsedQuery, 'terms' | 'filters'>;
  order: Order;
  direction: 'asc' | 'desc';
  limit: number;
  /** Where the page before ended. */
  after?: Position | undefined;
  /** Epoch milliseconds. */
  now: number;
  /** Aborted when nobody waits for the answer any more. */
  signal?: AbortSignal | undefined;
  /** Bytes of events that may be read for the answer. */
  mostBytes?: number;
}

/** The last session that was decided, and how far the next one was read. */
export interface Position {
  place?: Place;
  unfinished?: Unfinished;
}

export interface Page {
  /** `fit`: the lower, the better the session has the words. */
  found: { sessionId: string; hits: Hit[]; fit: number }[];
  /** Where the next page begins; undefined at the end. A page that is short, or empty, may not be the last. */
  next?: Position;
}

/** Bytes of events read for one answer. */
const MOST_BYTES = 4 * 1024 * 1024;
/** Sessions looked at for one answer. */
const MOST_LOOKED_AT = 20_000;
/** Sessions read together, because their events are fetched together: as many as the page lacks, within these bounds. */
const AT_ONCE = { most: 24, least: 6 };

/** Finds the sessions that have everything that was asked for, with the events to show of each. */
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
    // One session more than the page has room for tells whether there is a next page.
    const isGathered = ids !== undefined || round === gatheredIn;
    const most =
      matcher.terms.length === 0 ? limit - found.length + 1 : isGathered ? limit * 4 * 2 ** (round - gatheredIn) : next;
    const batch = await byIndex(db, async (db) => {
      // The first sessions of the order did not fill the page, or one of several words may be rare.
      const gathered = round === gatheredIn ? await gather(db, wanted, words) : undefined;
      if (gathered) ({ ids, wanted } = gathered);
      const some = await nextBatch(db, wanted, place, ids ? { ids } : { next }, most);
      const sessionIds = some.places.map(({ sessionId }) => sessionId);
      return { ...some, ranges: await markRanges(db, organizationId, sessionIds, matcher) };
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
      if (decision !== 'no match') found.push({ sessionId: decided.sessionId, ...decision });
      place = decided;
      unfinished = undefined;
    }
    if (!batch.end) return { found };
    place = batch.end;
    if (budget.left <= 0) break;
  }
  return { found, next: { ...(place && { place }) } };
}

/** The words, or the sign of a chunk with more words than the index has of it. */
const orMore = (words: WordsWanted): WordsWanted =>
  words.map((alternatives) => [...alternatives, [{ word: AND_MORE, open: false }]]);

interface Marks extends Batch {
  ranges: Map<string, MarkedRange[]>;
}

/** Decides the sessions in their order, reading several of them together. */
async function* decide(
  db: Db,
  { organizationId }: Wanted,
  { places, ranges }: Marks,
  reader: Reader,
  earlier: Unfinished | undefined,
  /** How many sessions the page still lacks. */
  lacking: () => number,
): AsyncGenerator<{ place: Place; decision: Decision }> {
  const steps = places.map((place) => {
    const { sessionId } = place;
    const mine = earlier?.sessionId === sessionId ? earlier : undefined;
    const verification = new Verification(sessionId, ranges.get(sessionId) ?? [], reader.matcher, reader.budget, mine);
    return { place, work: verification.run() };
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
  work: ReturnType<Verification['run']>;
  step: IteratorResult<RangeRead, Decision>;
}

const isOpen = ({ step }: Step) => step.done !== true;
