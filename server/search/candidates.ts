import type { Plane } from '../../contract/secret.ts';
import {
  type Among,
  findByTrait,
  findByValue,
  findEnd,
  findInOrder,
  type OrderKey,
  type SessionsWanted,
  type Trait,
  type ValueWanted,
} from '../store/find-sessions.ts';
import type { Db } from '../store/schema.ts';
import { findByWords, type Searched, type WordsWanted } from '../store/word-index.ts';

/** The conditions of a search, in one plane or both. */
export type Wanted = Omit<SessionsWanted, 'plane'> & { planes: readonly Plane[] };

/** Above this many matches a filter or word is too common to help: a scan in order finds enough. */
const MAX_GATHERED = 5_000;
/** If this few sessions are left, checking each of them is faster than another lookup. */
const FEW = 1_000;

/**
 * Finds the sessions that meet all rare conditions. Returns them together with the conditions that are still open; undefined if
 * no condition is rare. The words must still be verified.
 */
export async function gather(
  db: Db,
  wanted: Wanted,
  searched: Searched,
  words: readonly WordsWanted[],
): Promise<{ ids: readonly string[]; wanted: Wanted } | undefined> {
  const { planes } = wanted;
  const { organizationId } = wanted.viewer;
  let ids: readonly string[] | undefined;
  const values: ValueWanted[] = [];
  const isEnough = () => ids !== undefined && ids.length <= FEW;

  function narrow(found: readonly string[]): void {
    const these = new Set(found);
    ids = ids ? ids.filter((id) => these.has(id)) : found;
  }

  for (const trait of traitsOf(wanted)) {
    const found = isEnough() ? undefined : await findByTrait(db, wanted, planes, trait, MAX_GATHERED + 1);
    if (found && found.length <= MAX_GATHERED) narrow(found);
  }
  for (const value of wanted.values) {
    const found = isEnough() ? undefined : await findByValue(db, organizationId, value, MAX_GATHERED);
    if (found) narrow(found);
    else values.push(value);
  }
  for (const one of [...words].sort((a, b) => lengthOf(b) - lengthOf(a))) {
    const found = isEnough() ? undefined : await findByWords(db, searched, one, MAX_GATHERED);
    if (found) narrow(found);
  }
  return ids && { ids, wanted: { ...wanted, values } };
}

/** The filters that may be rare. Some of them have their own indexes for the order by time, and then need no lookup. */
function traitsOf({
  order,
  agentIds,
  environmentIds,
  secretIds,
  userIds,
  statuses,
  from,
  before,
  failed,
}: Wanted): Trait[] {
  const isByTime = order === 'started';
  const isSet: Record<Trait, boolean> = {
    agentIds: (agentIds?.length ?? 0) > (isByTime ? 1 : 0),
    environmentIds: (environmentIds?.length ?? 0) > (isByTime ? 1 : 0),
    secretIds: (secretIds?.length ?? 0) > (isByTime ? 1 : 0),
    userIds: (userIds?.length ?? 0) > (isByTime ? 1 : 0),
    statuses: statuses !== undefined && !statuses.includes('completed'),
    time: !isByTime && (from !== undefined || before !== undefined),
    failed: failed === true,
  };
  return (Object.keys(isSet) as Trait[]).filter((trait) => isSet[trait]);
}

/** Longer terms are likely to be rarer. */
const lengthOf = (words: WordsWanted) => JSON.stringify(words).length;

export interface Batch {
  places: OrderKey[];
  /** The last session of the order that was checked; undefined at the end. */
  end?: OrderKey;
}

/** The next sessions that pass the filters. Sessions of both planes are merged into one order. */
export async function nextBatch(
  db: Db,
  wanted: Wanted,
  after: OrderKey | undefined,
  among: Among,
  limit: number,
): Promise<Batch> {
  const batches = wanted.planes.map(async (plane): Promise<Batch> => {
    const ofPlane = { ...wanted, plane };
    const places = await findInOrder(db, ofPlane, after, among, limit);
    const last = places.length === limit ? places.at(-1) : undefined;
    const end = last ?? ('next' in among ? await findEnd(db, ofPlane, after, among.next) : undefined);
    return { places, ...(end && { end }) };
  });
  const all = await Promise.all(batches);
  const sign = wanted.direction === 'desc' ? -1 : 1;
  const inOrder = (one: OrderKey, other: OrderKey) =>
    sign *
    (one.value - other.value || (one.sessionId < other.sessionId ? -1 : one.sessionId > other.sessionId ? 1 : 0));
  const end = all.flatMap((batch) => batch.end ?? []).sort(inOrder)[0];
  const places = all.flatMap((batch) => batch.places).sort(inOrder);
  return { places: places.filter((place) => !end || inOrder(place, end) <= 0), ...(end && { end }) };
}
