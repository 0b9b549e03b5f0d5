import { addressOf, hasHost } from '../../contract/repository.ts';
import type { Entry } from '../../transcript/entry/entry.ts';
import { readOwnLanes } from '../../transcript/entry/lanes.ts';
import { readRevisions } from '../../transcript/entry/revisions.ts';
import { RowWords } from '../search/row-words.ts';
import type { DerivedChunk, ListColumns, StoredWords } from '../store/derived.ts';
import { packText, unpackText } from '../store/packed.ts';
import { type Chunk, cutChunks, type Open, type Source } from './chunks.ts';
import { CountedRecords } from './counted-records.ts';
import type { SessionOrigin } from './day-rows.ts';
import { compareRows, type RowChanges, rowsOf } from './fact-rows.ts';
import { type Facts, noFacts, readStoredFacts, writeFacts } from './facts.ts';
import { fold } from './fold.ts';
import { noteBranch } from './fold-meta.ts';
import { type KeptSession, KeptSessions } from './kept-sessions.ts';
import type { PriceOf, Prices } from './prices/prices.ts';
import { writeShown } from './review.ts';
import { addSpent, costOfSpent, noSpent } from './spent.ts';

/** A range of a session to derive. */
export interface SliceJob {
  /** The key under which the state is kept for the next slice; absent if no slice follows. */
  sessionId?: string;
  place: SessionOrigin & {
    /** The normal form of the remote with which the session was opened. */
    repository: string | null;
    remote: string | null;
    repoRoot: string | null;
    gitBranch: string | null;
  };
  /** The stored result of earlier slices; absent if the thread keeps the session. */
  stored?: StoredSlices;
  /** Sequence of the last event that is already derived. */
  through: number;
  /** The appends from the first event that is not yet derived, or from `stored.from`. */
  appends: Source[];
  /** Whether these are the last events of the session for now. */
  isEnd: boolean;
  isClosed: boolean;
  /** The number of events of the session. */
  eventCount: number;
  /** Whether the stored facts are of other prices, so that all entries are folded again. */
  hasOtherPrices?: boolean;
  /** The prefix of each word in the index. */
  wordPrefix: string;
  /** Whether the store keeps words compressed. */
  packsWords: boolean;
}

export interface StoredSlices {
  /** The stored facts of this version; null if this version has derived nothing yet. */
  facts: Uint8Array | null;
  /** The first event of the open chunk, which is derived again. */
  from: number;
  /** The words that the last row of the index has from each chunk, with their prefixes and separated by spaces. */
  words: StoredWords[];
  /** Entries of all chunks before `from`, if the facts are derived again. */
  earlier?: Uint8Array[];
}

export interface Slice extends RowChanges {
  through: number;
  /** The first event of the next chunk. The last chunk of this slice stays open as long as it has room. */
  next: number;
  /** As in the job. */
  isEnd: boolean;
  chunks: DerivedChunk[];
  facts: Uint8Array;
  columns: ListColumns;
  isRewritten: boolean;
}

/**
 * In a session with more events than this, each writing of a record counts as a separate record, even if the record is written
 * again or repeated.
 */
const MAX_REWRITTEN = 100_000;

type Begun = Pick<KeptSession, 'facts' | 'open' | 'records' | 'rows'>;
/** `records` is set if all entries were folded again. */
type Folded = { facts: Facts; records?: CountedRecords };

/** @returns undefined if the slice needs more of the stored data */
export function deriveSlice(job: SliceJob, prices: Prices, kept = new KeptSessions()): Slice | undefined {
  const { stored, sessionId, isEnd } = job;
  const begun = stored ? beginStored(stored, job) : kept.take(sessionId, job.through);
  if (!begun) return undefined;
  const before = begun.facts;
  const { chunks, entries, through, open } = cutChunks(
    job.appends,
    stored?.from ?? job.through + 1,
    job.isClosed,
    begun.open,
  );
  const isRewritten =
    before.isRewritten || entries.some(({ writing, echo }) => writing !== undefined || echo !== undefined);
  const isAnew = isRewritten && job.eventCount <= MAX_REWRITTEN;
  const counted = begun.records?.add(entries);
  if (isAnew && isEnd && !counted && stored?.earlier === undefined) return undefined;
  const folded = job.hasOtherPrices
    ? foldAnew(job, before, entries, prices.priceOf)
    : isAnew && !counted
      ? foldAll(job, before, entries, prices.priceOf)
      : foldOn(before, job, entries, prices.priceOf, isAnew ? counted : undefined);
  const { facts } = folded;
  const records = folded.records ?? (counted && begun.records);
  facts.isRewritten = isRewritten;
  facts.repository = repositoryOf(facts, job.place);
  noteLag(facts, job, entries);
  noteWindow(facts, prices);
  const rows = rowsOf(facts, job.place);
  const text = writeFacts(facts);
  const slice = {
    through,
    next: open.chunk?.first ?? through + 1,
    isEnd,
    chunks: chunks.map((chunk) => writeChunk(chunk, job)),
    facts: packText(text),
    columns: columnsOf(facts, through),
    isRewritten,
    ...compareRows(begun.rows, rows),
  };
  kept.put(sessionId, { through, facts, rows, open, records, weight: 2 * text.length });
  return slice;
}

function beginStored({ facts: stored, words }: StoredSlices, { through, place, wordPrefix }: SliceJob): Begun {
  const facts = readStoredFacts(stored);
  const records = through === 0 ? new CountedRecords() : undefined;
  return { facts, rows: rowsOf(facts, place), open: restoreRow(words, wordPrefix.length), records };
}

function restoreRow(stored: readonly StoredWords[], skipped: number): Open {
  const [head] = stored;
  if (!head) return {};
  const words = new RowWords();
  for (const one of stored)
    words.restore(
      wordsIn(one)
        .split(' ')
        .map((word) => word.slice(skipped)),
    );
  return { row: { first: head.first, words } };
}

const wordsIn = ({ words }: StoredWords): string => (typeof words === 'string' ? words : unpackText(words));

/** @param counted the entries that count, among `entries` */
function foldOn(
  facts: Facts,
  { place }: SliceJob,
  entries: readonly Entry[],
  priceOf: PriceOf,
  counted = entries,
): Folded {
  if (facts.folded === 0) noteBranch(facts, place.gitBranch?.slice(0, MAX_PLACE));
  fold(
    facts,
    counted.filter(({ sequence }) => sequence > facts.folded),
    priceOf,
  );
  const last = entries.at(-1);
  if (last) facts.folded = last.sequence + last.span - 1;
  return { facts };
}

/** Folds all entries of the session again, but only with its last events. Otherwise every slice would repeat this work. */
function foldAll(job: SliceJob, facts: Facts, entries: readonly Entry[], priceOf: PriceOf): Folded {
  return job.isEnd ? foldAnew(job, facts, entries, priceOf) : { facts };
}

function foldAnew({ stored, place }: SliceJob, { lag }: Facts, entries: readonly Entry[], priceOf: PriceOf): Folded {
  const bySequence: (Entry | undefined)[] = [];
  const earlier = (stored?.earlier ?? []).flatMap((bytes) => readEntries(bytes));
  const all = [...earlier, ...entries];
  for (const entry of all) bySequence[entry.sequence - 1] = entry;
  const { standingAt } = readRevisions(bySequence);
  const facts = noFacts();
  // The facts start empty, because entries with another place would otherwise count as already folded.
  const standing = withoutRepeated(all.flatMap((entry) => standingAt(entry)));
  noteBranch(facts, place.gitBranch?.slice(0, MAX_PLACE));
  fold(facts, standing, priceOf);
  const last = all.at(-1);
  const folded = last ? last.sequence + last.span - 1 : 0;
  return { facts: { ...facts, ...(lag !== undefined && { lag }), folded }, records: CountedRecords.of(all, standing) };
}

/** Removes the messages of sub-agents that the session's file repeats, if their own transcripts are present. */
function withoutRepeated(entries: readonly Entry[]): Entry[] {
  const own = readOwnLanes(entries);
  return entries.filter(({ lane, echo }) => !echo || lane === undefined || !own.has(lane));
}

const MAX_PLACE = 300;

/** The remote with which the session was opened is the most reliable. A folder alone is the last resort. */
function repositoryOf(facts: Facts, { repository, remote, repoRoot }: SliceJob['place']): string | undefined {
  const told = facts.address;
  const known = remote === null ? undefined : addressOf(remote);
  const address = repository ?? (told !== undefined && hasHost(told) ? told : (known ?? told));
  return (address ?? repoRoot ?? facts.folder)?.slice(0, MAX_PLACE);
}

function noteLag(facts: Facts, { appends, through }: SliceJob, entries: readonly Entry[]): void {
  const entry = entries.findLast(({ timed, sequence }) => timed && sequence > through);
  const append = entry && appends.findLast(({ first_sequence }) => first_sequence <= entry.sequence);
  if (append) facts.lag = Math.max(0, append.created_at - entry.time);
}

function noteWindow(facts: Facts, { contextWindowOf }: Prices): void {
  const window = facts.model === undefined ? undefined : contextWindowOf(facts.model);
  if (window) facts.window = window;
  else delete facts.window;
}

export const readEntries = (bytes: Uint8Array): Entry[] => JSON.parse(unpackText(bytes));

function writeChunk(chunk: Chunk, { stored, wordPrefix, packsWords }: SliceJob): DerivedChunk {
  const { first, last, entries, signature, row } = chunk;
  const known = packsWords ? stored?.words.find((other) => other.first === first) : undefined;
  if (known) chunk.words = wordsIn(known);
  const goesOn = chunk.words !== '';
  const added = chunk.fresh.map((word) => wordPrefix + word).join(' ');
  chunk.fresh = [];
  if (packsWords) chunk.words = [chunk.words, added].filter((text) => text !== '').join(' ');
  return {
    first,
    last,
    rowFirst: row.first,
    // The chunk may go on to change its own.
    signature: Uint8Array.from(signature.bytes),
    entries: packText(`[${entries}]`),
    words: packsWords ? packText(chunk.words) : null,
    added,
    goesOn,
  };
}

function columnsOf(facts: Facts, through: number): ListColumns {
  const total = noSpent();
  for (const { models } of facts.days.values()) for (const spent of models.values()) addSpent(total, spent);
  const [input_tokens, cached_tokens, , , output_tokens] = total.tokens;
  return {
    event_count: through,
    prompts: facts.prompts,
    tool_calls: facts.calls,
    failures: facts.failures,
    redactions: facts.redactions,
    files_changed: facts.files.size,
    lines_added: facts.linesAdded,
    lines_removed: facts.linesRemoved,
    lines_changed: Math.min(2_147_483_647, facts.linesAdded + facts.linesRemoved),
    input_tokens,
    cached_tokens,
    output_tokens,
    tokens: input_tokens + output_tokens,
    duration_ms: (facts.last ?? 0) - (facts.first ?? 0),
    first_event_at: facts.first ?? null,
    last_event_at: facts.last ?? null,
    lag_ms: facts.lag ?? null,
    interrupted: facts.interrupted ? 1 : 0,
    cost: costOfSpent(total),
    summary: writeShown(facts),
  };
}
