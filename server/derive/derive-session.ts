import { restoreKept } from '../erase/content-expiry.ts';
import { SERVICE } from '../idle-worker.ts';
import { claimSession, type Derived, readChunks, readWords, releaseSession, writeSlice } from '../store/derived.ts';
import { removeChunks } from '../store/derived-removal.ts';
import { readAppends, type StoredAppend } from '../store/events.ts';
import { isPostgres } from '../store/postgres.ts';
import type { Db, SessionRow } from '../store/schema.ts';
import { findSource, type SessionSource } from '../store/sources.ts';
import { findAudience } from '../store/viewer.ts';
import { wordPrefix } from '../store/word-index.ts';
import type { Slice } from './derive-slice.ts';
import type { DeriveThread } from './derive-thread.ts';
import { hasRulesOf } from './version.ts';

export interface SessionOptions {
  db: Db;
  derive: DeriveThread['derive'];
  /** The version of derived data; see `version.ts`. */
  version: number;
  now: () => number;
  /** Awaited between two slices, so that old sessions leave room for new ones. */
  rest: () => Promise<void>;
  signal: AbortSignal;
}

/** The most events of a slice: 4 chunks. The embedded store takes about 3 ms for them, most of it for its index of words. */
const MAX_EVENTS = 256;
const MAX_BYTES = 2 * 1024 * 1024;
/** After this time another process may take over. Each written slice restarts the time. */
const CLAIM_MS = 15_000;

/**
 * Derives a session through its last event, slice by slice.
 * @returns the session if something was derived and nothing is left; undefined if there was nothing to do, or another process
 * is deriving it
 */
export async function deriveSession(
  options: SessionOptions,
  organizationId: string,
  sessionId: string,
): Promise<SessionRow | undefined> {
  const { db, signal, rest, version } = options;
  const found = await findSource(db, organizationId, sessionId);
  if (!found) return undefined;
  let { row } = found;
  if (row.content_expired_at !== null) return (await restoreKept(db, row)) ? row : undefined;
  // Within one process a session is derived by one run at a time, and no other process has access to an embedded store.
  const until = () => (isPostgres(db) ? options.now() + CLAIM_MS : 0);
  let before = await claimSession(db, row, options.now(), until());
  if (!before || before.version > version) return undefined;
  if (before.version <= 0) {
    // The audience may have changed before the claim. If it changes now, the claim is lost.
    row = { ...row, ...(await findAudience(db, { organizationId, sessionId })) };
  }
  // The chunks of other rules are removed first, because the index must never have a word of a chunk twice.
  if (before.version !== 0 && !goesOn(before, version)) await removeChunks(db, row);
  let wrote = false;
  while (!signal.aborted) {
    const after: Derived | 'done' | 'lost' = await writeSliceOf(options, { ...found, row }, before, until());
    if (after === 'lost') return undefined;
    if (after === 'done') break;
    before = after;
    wrote ||= after.derived_through > 0;
    await rest();
  }
  const isFinal = before.version === version && isFinalAt(row, before.derived_through);
  if (isPostgres(db) || isFinal !== (before.is_final === 1)) await releaseSession(db, row, before, isFinal);
  return wrote ? row : undefined;
}

async function writeSliceOf(
  options: SessionOptions,
  source: SessionSource,
  stored: Derived,
  until: number,
): Promise<Derived | 'done' | 'lost'> {
  const { row } = source;
  const { version } = options;
  const isKnown = stored.version === version;
  if (isKnown && stored.derived_through >= row.event_count) return 'done';
  // The data of other rules is never read: the session is derived again from its first event.
  const isOfRules = goesOn(stored, version);
  const before = isOfRules ? stored : { ...stored, derived_through: 0, next_chunk: 1, is_rewritten: 0, facts: null };
  const slice = await makeSlice(options, source, before);
  if (!slice || (isKnown && slice.through <= before.derived_through)) return 'done';
  const { through, next, facts, isRewritten, isEnd: _, ...rest } = slice;
  const after: Derived = {
    version,
    masks: stored.masks,
    derived_through: through,
    next_chunk: next,
    is_rewritten: isRewritten ? 1 : 0,
    is_final: isFinalAt(row, through) ? 1 : 0,
    facts,
  };
  const claimed = { ...after, claimed_until: until };
  const isWritten = await writeSlice(options.db, { row, before: stored, after: claimed, isAnew: !isOfRules, ...rest });
  return isWritten ? after : 'lost';
}

/** The most events whose entries are in memory together when other prices apply. A longer session is derived again from its first event. */
const MAX_FOLDED = 20_000;

/** Whether the stored chunks and facts are of the same rules. If only the prices differ, all entries are folded again. */
const goesOn = ({ version, derived_through: through }: Derived, current: number) =>
  version === current || (hasRulesOf(version, current) && through <= MAX_FOLDED);

/** Whether a session that is derived up to this event receives no more events. */
const isFinalAt = ({ status, event_count: eventCount }: SessionRow, through: number) =>
  status !== 'active' && through >= eventCount;

async function makeSlice(
  { db, derive, signal, version }: SessionOptions,
  { row, remote }: SessionSource,
  before: Derived,
): Promise<Slice | undefined> {
  const { organization_id: organizationId, session_id: sessionId } = row;
  const { derived_through: through, next_chunk: from, is_rewritten: isRewritten, facts, masks } = before;
  const hasOtherPrices = through > 0 && before.version !== version;
  const job = {
    // The key contains the number of masks and the prefix, so that state from before a mask or a move to other people is never used.
    sessionId: `${sessionId} ${masks} ${wordPrefix(row)}`,
    place: {
      agentId: row.agent_id,
      environmentId: row.environment_id,
      remote,
      repository: row.repository,
      repoRoot: row.repo_root,
      gitBranch: row.git_branch,
    },
    through,
    wordPrefix: wordPrefix(row),
    packsWords: !isPostgres(db),
    isClosed: row.status !== 'active',
    eventCount: row.event_count,
    hasOtherPrices,
  };
  const asker = { group: organizationId, person: SERVICE, signal };
  const goOn = async (share: number) => derive({ ...job, ...(await readSome(db, row, through + 1, share)) }, asker);
  const fromStored = async (share: number) => {
    const stored = {
      facts: facts && Uint8Array.from(facts),
      from,
      words: await readWords(db, organizationId, sessionId),
    };
    const some = await readSome(db, row, from, share);
    // A first attempt without the earlier entries would find out whether they are needed, but only after much of the work.
    const needsEarlier = hasOtherPrices || (isRewritten === 1 && some.isEnd);
    const slice = needsEarlier ? undefined : await derive({ ...job, ...some, stored }, asker);
    if (slice) return slice;
    const earlier = await readAll(readChunks(db, organizationId, sessionId, 1, from - 1));
    // The first job's memory has moved to the thread, so the events are read again.
    return derive({ ...job, ...(await readSome(db, row, from, share)), stored: { ...stored, earlier } }, asker);
  };
  for (let share = 1; ; share *= 4) {
    const kept = through > 0 && !hasOtherPrices ? await goOn(share) : undefined;
    const made = kept ?? (await fromStored(share));
    if (!made) throw new Error('a slice was not derived although all events were available');
    // A run of parts may be longer than the events that were read.
    if (made.isEnd || made.through > through) return made;
  }
}

/** The appends from the one that holds `from` on, and whether they are all that exist. */
export async function readSome(db: Db, row: SessionRow, from: number, share: number) {
  const appends: StoredAppend[] = [];
  let bytes = 0;
  for await (const append of readAppends(db, row.organization_id, row.session_id, from, row.event_count)) {
    const isEnough = append.first_sequence - from >= MAX_EVENTS * share || bytes >= MAX_BYTES * share;
    if (appends.length > 0 && isEnough) return { appends, isEnd: false };
    appends.push(copy(append));
    bytes += append.body.byteLength;
  }
  return { appends, isEnd: true };
}

/** A copy with its own memory: sending a view to a thread would send the whole memory behind the view. */
const copy = (append: StoredAppend): StoredAppend => ({ ...append, body: Uint8Array.from(append.body) });

async function readAll(chunks: AsyncIterable<{ entries: Uint8Array }>): Promise<Uint8Array[]> {
  const all: Uint8Array[] = [];
  for await (const { entries } of chunks) all.push(Uint8Array.from(entries));
  return all;
}
