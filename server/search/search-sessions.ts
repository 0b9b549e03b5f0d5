import type { ParsedQuery } from '../../contract/query.ts';
import type { Hit, Order } from '../../contract/review.ts';
import type { Plane } from '../../contract/secret.ts';
import { findReadable, type OrderKey } from '../store/find-sessions.ts';
import type { Db } from '../store/schema.ts';
import type { Viewer } from '../store/viewer.ts';
import { byIndex, type WordsWanted } from '../store/word-index.ts';
import { type Batch, gather, nextBatch, type Wanted } from './candidates.ts';
import { isOfWords, readFilters } from './filters.ts';
import { createMatcher } from './matcher.ts';
import { type Budget, type RangeRead, type Reader, readRanges } from './read-events.ts';
import { type CandidateRange, type Decision, findRanges, type Unfinished, Verification } from './verify.ts';
import { AND_MORE } from './words.ts';

export interface Search {
  viewer: Viewer;
  planes: readonly Plane[];
  query: Pick<ParsedQuery, 'terms' | 'filters'>;
  order: Order;
  direction: 'asc' | 'desc';
  limit: number;
  /** The end of the previous page. */
  after?: Position | undefined;
  /** Epoch milliseconds. */
  now: number;
  /** Aborted when the caller has left. */
  signal?: AbortSignal | undefined;
  /** The most bytes of events to read. */
  mostBytes?: number;
}

/** The last decided session, and the progress in the next one. */
export interface Position {
  place?: OrderKey;
  unfinished?: Unfinished;
}

export interface Page {
  /** `fit`: the lower, the better the session matches the words. */
  found: { sessionId: string; hits: Hit[]; fit: number }[];
  /** Where the next page begins; undefined at the end. A short or empty page need not be the last. */
  next?: Position;
}

/** Bytes of events read for one answer. */
const MOST_BYTES = 4 * 1024 * 1024;
/** The most sessions checked for one answer. */
const MOST_CHECKED = 20_000;
/** How many sessions are read together: as many as the page lacks, within these bounds. */
const AT_ONCE = { most: 24, least: 6 };

/** Finds the sessions that match a query, with events to show for each. */
export async function search(db: Db, asked: Search): Promise<Page> {
  const page = await findPage(db, asked);
  // The index of words ignores visibility. Events that are shown were read with the viewer's permissions.
  const unshown = page.found.flatMap(({ sessionId, hits }) => (hits.length === 0 ? [sessionId] : []));
  if (!isAboutWords(asked) || unshown.length === 0) return page;
  const readable = new Set(await findReadable(db, asked.viewer, unshown));
  return {
    ...page,
    found: page.found.filter(({ sessionId, hits }) => hits.length > 0 || readable.has(sessionId)),
  };
}

/** A search with excluded words is about words too: finding a session reveals that it lacks the word. */
const isAboutWords = ({ query: { terms, filters } }: Search) =>
  terms.length > 0 || filters.some(({ field }) => isOfWords(field));

async function findPage(db: Db, asked: Search): Promise<Page> {
  const { viewer, query, limit, order, direction, planes, now, signal } = asked;
  const { organizationId } = viewer;
  const matcher = createMatcher(query.terms);
  const words = matcher.terms.filter(({ not }) => !not).map(({ indexed }) => orMore(indexed));
  let wanted: Wanted = {
    ...{ viewer, planes, order, direction },
    isOfWords: isAboutWords(asked),
    ...(await readFilters(db, organizationId, query.filters, now)),
  };
  const budget: Budget = { left: asked.mostBytes ?? MOST_BYTES };
  const found: Page['found'] = [];
  let { place, unfinished } = asked.after ?? {};
  const gatheredIn = words.length > 1 ? 1 : 2;
  let next = limit * 4;
  let ids: readonly string[] | undefined;
  for (let checked = 0, round = 1; checked < MOST_CHECKED; checked += next, next *= 4, round++) {
    // One session more than the page holds shows whether there is a next page.
    const isGathered = ids !== undefined || round === gatheredIn;
    const most =
      matcher.terms.length === 0 ? limit - found.length + 1 : isGathered ? limit * 4 * 2 ** (round - gatheredIn) : next;
    const batch = await byIndex(db, async (db) => {
      // From here on, looking up rare conditions pays off: the first sessions did not fill the page, or there are several
      // words.
      const gathered = round === gatheredIn ? await gather(db, wanted, words) : undefined;
      if (gathered) ({ ids, wanted } = gathered);
      const some = await nextBatch(db, wanted, place, ids ? { ids } : { next }, most);
      const sessionIds = some.places.map(({ sessionId }) => sessionId);
      return { ...some, ranges: await findRanges(db, organizationId, sessionIds, matcher) };
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

/** The words, or the marker of a chunk whose words are not all in the index. */
const orMore = (words: WordsWanted): WordsWanted =>
  words.map((alternatives) => [...alternatives, [{ word: AND_MORE, open: false }]]);

interface Candidates extends Batch {
  ranges: Map<string, CandidateRange[]>;
}

/** Decides sessions in order, and reads several of them together. */
async function* decide(
  db: Db,
  { viewer: { organizationId } }: Wanted,
  { places, ranges }: Candidates,
  reader: Reader,
  earlier: Unfinished | undefined,
  /** How many sessions the page still lacks. */
  lacking: () => number,
): AsyncGenerator<{ place: OrderKey; decision: Decision }> {
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
  place: OrderKey;
  work: ReturnType<Verification['run']>;
  step: IteratorResult<RangeRead, Decision>;
}

const isOpen = ({ step }: Step) => step.done !== true;
