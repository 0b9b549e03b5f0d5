import type { Order } from '../../contract/names.ts';
import { type ParsedQuery, termsOf } from '../../contract/query.ts';
import type { Hit, SearchProgress } from '../../contract/review.ts';
import type { Plane } from '../../contract/secret.ts';
import { countInOrder, findReadable, type OrderKey } from '../store/find-sessions.ts';
import type { Db } from '../store/schema.ts';
import type { Viewer } from '../store/viewer.ts';
import { byIndex, prefixesOf, type WordsWanted } from '../store/word-index.ts';
import { Budget } from './budget.ts';
import { type Batch, gather, nextBatch, type Wanted } from './candidates.ts';
import { type Clock, isOfContent, readFilters } from './filters.ts';
import { createMatcher } from './matcher.ts';
import { type RangeRead, type Reader, readRanges } from './read-events.ts';
import { AND_MORE } from './row-words.ts';
import { type CandidateRange, type Decision, findRanges, type Unfinished, Verification } from './verify.ts';

export interface Search extends Clock {
  viewer: Viewer;
  planes: readonly Plane[];
  query: Pick<ParsedQuery, 'terms' | 'filters'>;
  order: Order;
  direction: 'asc' | 'desc';
  limit: number;
  /** The end of the previous page. */
  after?: Position | undefined;
  /** Aborted when the caller has left. */
  signal?: AbortSignal | undefined;
  /** Called for each session whose events are damaged. It is not found by words that only its events can prove. */
  onDamaged?: ((error: unknown) => void) | undefined;
  /** The budget, in bytes of parsed events. */
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
  /** Where the next page begins; undefined at the end. Even a short or empty page need not be the last. */
  next?: Position;
}

/**
 * The budget of one answer. Some chunks are read in vain, because signatures claim words that they do not have. With two thirds of
 * it, some words of real transcripts would be on two pages instead of one.
 */
const MAX_BYTES = 12 * 1024 * 1024;
/** The most sessions checked for one answer. */
const MAX_CHECKED = 20_000;
/** How many sessions are read together: as many as the page lacks, within these bounds. */
const AT_ONCE = { most: 24, least: 6 };
/**
 * The most ranges that are read together. Sessions are decided in order, so reading on in later ones would be in vain if the
 * answer may read no more.
 */
const RANGES_AT_ONCE = 24;

/** Finds the sessions that match a query, with events to show for each. */
export async function search(db: Db, asked: Search): Promise<Page> {
  const page = await findPage(db, asked);
  // The index may lag behind a change of the visibility. Events that are shown were read with the viewer's permissions.
  const unshown = page.found.flatMap(({ sessionId, hits }) => (hits.length === 0 ? [sessionId] : []));
  if (!isAboutContent(asked) || unshown.length === 0) return page;
  const readable = new Set(await findReadable(db, asked.viewer, unshown));
  return {
    ...page,
    found: page.found.filter(({ sessionId, hits }) => hits.length > 0 || readable.has(sessionId)),
  };
}

/** A search with excluded words is about words too: finding a session reveals that it lacks the word. */
const isAboutContent = ({ query }: Search) =>
  termsOf(query).length > 0 || query.filters.some(({ field }) => isOfContent(field));

async function wantedBy(db: Db, asked: Search): Promise<Wanted> {
  const { viewer, query, order, direction, planes } = asked;
  return {
    ...{ viewer, planes, order, direction },
    isOfContent: isAboutContent(asked),
    ...(await readFilters(db, viewer, query.filters, asked)),
  };
}

/** More sessions are not counted only to report the progress of a search. */
const MAX_COUNTED = 10_000;

/**
 * How many of the sessions that the viewer may see and that pass the filters have been searched for words.
 * @returns undefined if they are too many to count
 */
export async function readProgress(db: Db, asked: Search, { place }: Position): Promise<SearchProgress | undefined> {
  const wanted = await wantedBy(db, asked);
  const count = async (after: OrderKey | undefined) => {
    const counts = await Promise.all(
      wanted.planes.map((plane) => countInOrder(db, { ...wanted, plane }, after, MAX_COUNTED)),
    );
    return counts.reduce((sum, one) => (sum === undefined || one === undefined ? undefined : sum + one), 0);
  };
  const [sessions, left] = [await count(undefined), await count(place)];
  return sessions === undefined || left === undefined
    ? undefined
    : { searched: Math.max(0, sessions - left), sessions };
}

async function findPage(db: Db, asked: Search): Promise<Page> {
  const { query, limit, signal, onDamaged } = asked;
  const { organizationId } = asked.viewer;
  const matcher = createMatcher(termsOf(query));
  const words = matcher.terms.filter(({ not }) => !not).map(({ indexed }) => orMore(indexed));
  const searched = { organizationId, prefixes: await prefixesOf(db, asked.viewer) };
  let wanted = await wantedBy(db, asked);
  const budget = new Budget(asked.mostBytes ?? MAX_BYTES);
  const found: Page['found'] = [];
  let { place, unfinished } = asked.after ?? {};
  const gatheredIn = words.length > 1 ? 1 : 2;
  let next = limit * 4;
  let ids: readonly string[] | undefined;
  for (let checked = 0, round = 1; checked < MAX_CHECKED; checked += next, next *= 4, round++) {
    // One session more than the page holds shows whether there is a next page.
    const isGathered = ids !== undefined || round === gatheredIn;
    const most =
      matcher.terms.length === 0 ? limit - found.length + 1 : isGathered ? limit * 4 * 2 ** (round - gatheredIn) : next;
    const batch = await byIndex(db, async (db) => {
      // From here on, looking up rare conditions pays off: the first sessions did not fill the page, or there are several
      // words.
      const gathered = round === gatheredIn ? await gather(db, wanted, searched, words) : undefined;
      if (gathered) ({ ids, wanted } = gathered);
      const some = await nextBatch(db, wanted, place, ids ? { ids } : { next }, most);
      const sessionIds = some.places.map(({ sessionId }) => sessionId);
      return { ...some, ranges: await findRanges(db, searched, sessionIds, matcher) };
    });
    const lacking = () => Math.max(AT_ONCE.least, Math.min(AT_ONCE.most, limit + 1 - found.length));
    for await (const { place: decided, decision } of decide(
      db,
      wanted,
      batch,
      { matcher, budget, signal, onDamaged },
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
    const verification = new Verification(sessionId, ranges.get(sessionId) ?? [], reader.matcher, mine);
    return { place, length: verification.length, work: verification.run() };
  });
  for (let at = 0; at < steps.length; ) {
    const some: Step[] = [];
    // Further sessions would be read in vain if the answer may not read the earlier ones to their ends.
    let ranges = reader.budget.ranges;
    for (let open = lacking(); at < steps.length && open > 0 && (some.length === 0 || ranges > 0); at++) {
      const { place, length, work } = steps[at] as (typeof steps)[number];
      const step = work.next();
      some.push({ place, work, step });
      if (!step.done) open--;
      if (!step.done) ranges -= length;
    }
    for (let open = some.filter(isOpen); open.length > 0; open = open.filter(isOpen)) {
      const turn = firstOf(open, RANGES_AT_ONCE);
      const reads = turn.flatMap(readsOf);
      let done = reader.budget.left > 0 ? await readRanges(db, organizationId, reads, reader) : 0;
      for (const one of turn) {
        const ours = Math.min(done, readsOf(one).length);
        done -= ours;
        one.step = one.work.next(ours);
      }
    }
    yield* some.map(({ place, step }) => ({ place, decision: step.value as Decision }));
  }
}

interface Step {
  place: OrderKey;
  work: ReturnType<Verification['run']>;
  step: IteratorResult<readonly RangeRead[], Decision>;
}

const readsOf = ({ step }: Step): readonly RangeRead[] => (step.done ? [] : step.value);

/** The first sessions, at least one, that together want to read at most so many ranges. */
function firstOf(open: readonly Step[], most: number): Step[] {
  let left = most;
  return open.filter((one, n) => {
    left -= readsOf(one).length;
    return n === 0 || left >= 0;
  });
}

const isOpen = ({ step }: Step) => step.done !== true;
