import type { Hit } from '../../contract/review.ts';
import type { Db } from '../store/open.ts';
import { findChunks, type Stretch } from '../store/words.ts';
import type { Matcher } from './matcher.ts';
import { type Budget, type FoundEvent, readStretch } from './read.ts';

/** Where reading a session goes on in the next answer, and the terms that it was seen to have. */
export interface Unfinished {
  sessionId: string;
  from: number;
  proven: readonly number[];
}

export type Decision = { hits: Hit[] } | 'no match' | Unfinished;

const MOST_HITS = 3;
/** Stretches that are read for the best hits alone: another one where no event of the first has everything. */
const MOST_READ = 2;

/** A stretch with the terms whose words it has. */
interface Marked extends Stretch {
  terms: Set<number>;
}

/** The stretches of some sessions that are of interest, by session, in order. */
export async function markStretches(
  db: Db,
  organizationId: string,
  sessionIds: readonly string[],
  { terms }: Matcher,
): Promise<Map<string, Marked[]>> {
  const sessions = new Map<string, Map<number, Marked>>(sessionIds.map((id) => [id, new Map()]));
  for (const [place, { indexed }] of terms.entries()) {
    for (const stretch of await findChunks(db, organizationId, sessionIds, indexed)) {
      const stretches = sessions.get(stretch.sessionId);
      const marked = stretches?.get(stretch.first) ?? { ...stretch, terms: new Set() };
      marked.terms.add(place);
      stretches?.set(stretch.first, marked);
    }
  }
  const inOrder = (stretches: Map<number, Marked>) =>
    [...stretches.values()].sort((one, other) => one.first - other.first);
  return new Map([...sessions].map(([id, stretches]) => [id, inOrder(stretches)]));
}

/**
 * Whether a session has what is asked, which its index alone does not tell of phrases, and the events with the most of it.
 * Reads no more than the budget allows.
 */
export async function verify(
  db: Db,
  organizationId: string,
  stretches: readonly Marked[],
  matcher: Matcher,
  budget: Budget,
  earlier?: Unfinished,
): Promise<Decision> {
  const found: FoundEvent[] = [];
  const read = new Set<Marked>();
  const open = new Set(
    matcher.terms.flatMap(({ exact }, place) => (exact || earlier?.proven.includes(place) ? [] : [place])),
  );
  const isExcluded = (place: number) => matcher.terms[place]?.not === true;
  const wanted = matcher.terms.flatMap(({ not }, place) => (not ? [] : [place]));
  if (wanted.some((place) => !stretches.some(({ terms }) => terms.has(place)))) return 'no match';

  const sessionId = stretches[0]?.sessionId ?? '';
  const unfinished = (from: number) => ({ sessionId, from, proven: wanted.filter((place) => !open.has(place)) });

  async function look(stretch: Marked): Promise<void> {
    read.add(stretch);
    found.push(...(await readStretch(db, organizationId, stretch, matcher, budget)));
  }

  for (const stretch of stretches) {
    if (stretch.first < (earlier?.from ?? 0) || ![...stretch.terms].some((place) => open.has(place))) continue;
    if (budget.left <= 0) return unfinished(stretch.first);
    const before = found.length;
    await look(stretch);
    for (const { terms } of found.slice(before)) {
      for (const place of terms) {
        if (open.has(place) && isExcluded(place)) return 'no match';
        open.delete(place);
      }
    }
  }
  if ([...open].some((place) => !isExcluded(place))) return 'no match';
  const most = (terms: ReadonlySet<number>) => wanted.filter((place) => terms.has(place)).length;
  const ranked = stretches.filter((stretch) => !read.has(stretch) && most(stretch.terms) > 0);
  ranked.sort((one, other) => most(other.terms) - most(one.terms) || one.first - other.first);
  for (const stretch of ranked.slice(0, Math.max(0, MOST_READ - read.size))) {
    if (found.some(({ terms }) => most(terms) === wanted.length)) break;
    if (budget.left <= 0 && read.size > 0) break;
    // Shown without an event it would look as if nothing had been found in it.
    if (budget.left <= 0) return unfinished(1);
    await look(stretch);
  }
  const hits = found.filter(({ terms }) => most(terms) > 0);
  hits.sort(
    (one, other) =>
      most(other.terms) - most(one.terms) || rank(one) - rank(other) || one.hit.sequence - other.hit.sequence,
  );
  return { hits: hits.slice(0, MOST_HITS).map(({ hit }) => hit) };
}

/** What an agent's program says repeats what people and models said, or comes again in every session. */
const QUIET = new Set(['context.message', 'session.meta', 'record', 'notice']);
const rank = ({ hit }: FoundEvent) => (QUIET.has(hit.eventType) ? 1 : 0);
