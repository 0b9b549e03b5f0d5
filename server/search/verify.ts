import type { Hit } from '../../contract/review.ts';
import type { Db } from '../store/open.ts';
import { findChunks, type Stretch } from '../store/words.ts';
import type { Matcher } from './matcher.ts';
import type { Budget, FoundEvent, RangeRead } from './read.ts';
import { AND_MORE } from './words.ts';

/** Where reading a session goes on in the next answer, and the terms that it was seen to have. */
export interface Unfinished {
  sessionId: string;
  from: number;
  proven: readonly number[];
}

export type Decision = { hits: Hit[] } | 'no match' | Unfinished;

const MOST_HITS = 3;
/** Stretches that are read for the best hits alone: another one where no event of the first has everything, and one of it may. */
const MOST_READ = 2;

/** A stretch with the terms that it may have, and those that it has for certain. */
export interface Marked extends Stretch {
  terms: Set<number>;
  sure: Set<number>;
}

/** The stretches of some sessions that are of interest, by session, in order. */
export async function markStretches(
  db: Db,
  organizationId: string,
  sessionIds: readonly string[],
  { terms }: Matcher,
  from = 1,
): Promise<Map<string, Marked[]>> {
  const all = [...terms.keys()];
  /** Which terms a chunk has that is found by the words, and whether for certain. */
  const asked = terms.flatMap(({ sure, indexed }, place) => [
    ...(sure ? [{ words: sure, places: [place], isSure: true }] : []),
    ...(sure === indexed ? [] : [{ words: indexed, places: [place], isSure: false }]),
  ]);
  if (all.length > 0) asked.push({ words: [[[{ word: AND_MORE, open: false }]]], places: all, isSure: false });
  const sessions = new Map<string, Marked[]>(sessionIds.map((id) => [id, []]));
  const chunks = asked.map(({ words }, place) => ({ words, place }));
  for (const { place, ...stretch } of await findChunks(db, organizationId, sessionIds, chunks, from)) {
    const stretches = sessions.get(stretch.sessionId) ?? [];
    if (stretches.at(-1)?.first !== stretch.first) stretches.push({ ...stretch, terms: new Set(), sure: new Set() });
    const marked = stretches.at(-1) as Marked;
    const { places, isSure } = asked[place] as (typeof asked)[number];
    for (const term of places) {
      marked.terms.add(term);
      if (isSure) marked.sure.add(term);
    }
  }
  return sessions;
}

/**
 * Whether a session has what is asked, which its index alone does not tell of phrases, and the events with the most of it.
 * Hands out what is to be read for it, one stretch after the other, and is told whether it was read.
 */
export function* verify(
  sessionId: string,
  stretches: readonly Marked[],
  { terms }: Matcher,
  budget: Budget,
  earlier?: Unfinished,
): Generator<RangeRead, Decision, boolean> {
  const isExcluded = (place: number) => terms[place]?.not === true;
  const wanted = [...terms.keys()].filter((place) => !isExcluded(place));
  const sure = new Set(stretches.flatMap((stretch) => [...stretch.sure]));
  if ([...sure].some(isExcluded)) return 'no match';
  if (wanted.some((place) => !stretches.some(({ terms }) => terms.has(place)))) return 'no match';

  const proven = new Set([...sure, ...(earlier?.proven ?? [])]);
  const open = new Set([...terms.keys()].filter((place) => !proven.has(place)));
  const isOfUse = ({ terms }: Marked) => [...terms].some((place) => open.has(place));
  const most = (terms: ReadonlySet<number>) => wanted.filter((place) => terms.has(place)).length;
  const order = (one: FoundEvent, other: FoundEvent) =>
    most(other.terms) - most(one.terms) || rank(one) - rank(other) || one.sequence - other.sequence;
  const found: FoundEvent[] = [];
  const read = new Set<Marked>();
  let hasExcluded = false;
  let best = 0;

  /** Read until nothing more is decided by it, and there are enough hits that have everything. */
  function readOf(stretch: Marked): RangeRead {
    read.add(stretch);
    return {
      range: stretch,
      take(event) {
        found.push(event);
        hasExcluded ||= [...event.terms].some(isExcluded);
        for (const place of event.terms) if (!isExcluded(place)) open.delete(place);
        if (most(event.terms) === wanted.length && rank(event) === 0) best++;
        return !hasExcluded && (best < MOST_HITS || isOfUse(stretch));
      },
    };
  }

  /** Where it was not read, since nothing more may be. */
  const unfinished = (from: number) => ({ sessionId, from, proven: wanted.filter((place) => !open.has(place)) });
  for (const stretch of stretches) {
    if (stretch.first < (earlier?.from ?? 0) || !isOfUse(stretch)) continue;
    if (budget.left <= 0 || !(yield readOf(stretch))) return unfinished(stretch.first);
    if (hasExcluded) return 'no match';
  }
  if ([...open].some((place) => !isExcluded(place))) return 'no match';

  const isNew = (place: number) => !found.some(({ terms }) => terms.has(place));
  const ranked = stretches.filter((stretch) => !read.has(stretch) && most(stretch.terms) > 0);
  ranked.sort((one, other) => most(other.terms) - most(one.terms) || one.first - other.first);
  for (const stretch of ranked.slice(0, Math.max(0, MOST_READ - read.size))) {
    if (found.some(({ terms }) => most(terms) === wanted.length)) break;
    if (most(stretch.terms) < wanted.length && !wanted.some((place) => stretch.terms.has(place) && isNew(place))) break;
    if (budget.left > 0 && (yield readOf(stretch))) continue;
    // Shown without an event it would look as if nothing had been found in it.
    if (found.length === 0) return unfinished(1);
    break;
  }
  const hits = found.filter(({ terms }) => most(terms) > 0).sort(order);
  return { hits: hits.slice(0, MOST_HITS).map(({ show }) => show()) };
}

/** What an agent's program says repeats what people and models said, or comes again in every session. */
const QUIET = new Set(['context.message', 'session.meta', 'record', 'notice']);
const rank = ({ eventType }: FoundEvent) => (QUIET.has(eventType) ? 1 : 0);
