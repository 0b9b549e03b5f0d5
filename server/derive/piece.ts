import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { Entry } from '../../contract/entry/entry.ts';
import { readOwnLanes } from '../../contract/entry/lanes.ts';
import { readRevisions } from '../../contract/entry/revisions.ts';
import type { Columns, DerivedChunk } from '../store/derived.ts';
import type { SessionDay } from '../store/session-days.ts';
import { type Chunk, cutChunks, type Source } from './chunks.ts';
import { type CostOf, dayRowsOf, type Place } from './day-rows.ts';
import { type Facts, noFacts, readFacts, writeFacts } from './facts.ts';
import { fold } from './fold.ts';
import { addressOf, noteBranch } from './fold-meta.ts';
import { costOfFacts } from './prices.ts';
import { writeShown } from './summary.ts';
import { compareValues, type Value, valuesOf } from './values.ts';

/** Raised whenever the same events give other facts or entries: what an earlier version derived is derived anew. */
export const VERSION = 7;

/** A stretch of a session that is to be derived. */
export interface PieceJob {
  place: Place & { repoRoot: string | null; remote: string | null; gitBranch: string | null };
  /** JSON of this version to go on from; empty where nothing was derived by it. */
  facts: string;
  /** Where the first chunk begins, and the sequence of the last event that is derived already. */
  from: number;
  through: number;
  appends: Source[];
  /** Whether there are no events behind these, and none may come. */
  isEnd: boolean;
  isClosed: boolean;
  /** Events that the session has. */
  eventCount: number;
  /** What each word begins with in the index. */
  wordPrefix: string;
  /** Words of chunks that are made anew, where the index can only be added to. */
  words: { first: number; words: Uint8Array }[];
  /** Entries of all chunks before `from`, where the facts are made anew. */
  earlier?: Uint8Array[];
}

export interface Piece {
  through: number;
  next: number;
  chunks: DerivedChunk[];
  facts: string;
  columns: Columns;
  isRewritten: boolean;
  days: SessionDay[];
  values: { added: Value[]; removed: Value[] };
}

/** Of longer sessions, each writing of a record that is written again, or is repeated, counts as a record of its own. */
const MOST_REWRITTEN = 100_000;

/** @returns undefined where the earlier entries are needed, which were not given */
export function derivePiece(job: PieceJob, costOf: CostOf): Piece | undefined {
  const { chunks, through, next } = cutChunks(job.appends, job.from, job.isClosed);
  const entries = chunks.flatMap((chunk) => chunk.entries);
  const before = readFacts(job.facts);
  const stored = valuesOf(before);
  const isRewritten =
    before.isRewritten || entries.some(({ writing, echo }) => writing !== undefined || echo !== undefined);
  const isAnew = isRewritten && job.eventCount <= MOST_REWRITTEN;
  if (isAnew && job.isEnd && job.earlier === undefined) return undefined;
  const facts = isAnew && job.isEnd ? foldAnew(job, entries) : before;
  // Before the end of what is there, it would be done again and again.
  if (!isAnew) foldOn(facts, job, entries);
  facts.isRewritten = isRewritten;
  facts.repository = repositoryOf(facts, job.place);
  noteLag(facts, job, entries);
  return {
    through,
    next,
    chunks: chunks.map((chunk) => writeChunk(chunk, job)),
    facts: writeFacts(facts),
    columns: columnsOf(facts, through, costOfFacts(facts, costOf)),
    isRewritten,
    days: dayRowsOf(facts, job.place, costOf),
    values: compareValues(stored, valuesOf(facts)),
  };
}

function foldOn(facts: Facts, { place }: PieceJob, entries: readonly Entry[]): void {
  if (facts.folded === 0) noteBranch(facts, place.gitBranch?.slice(0, LONGEST_PLACE));
  fold(
    facts,
    entries.filter(({ sequence }) => sequence > facts.folded),
  );
  const last = entries.at(-1);
  if (last) facts.folded = last.sequence + last.span - 1;
}

function foldAnew(job: PieceJob, entries: readonly Entry[]): Facts {
  const bySequence: (Entry | undefined)[] = [];
  const earlier = (job.earlier ?? []).flatMap((bytes) => readEntries(bytes));
  const all = [...earlier, ...entries];
  for (const entry of all) bySequence[entry.sequence - 1] = entry;
  const { standingAt } = readRevisions(bySequence);
  const facts = noFacts();
  // What stands elsewhere than it came would otherwise be taken for folded already.
  const standing = withoutRepeated(all.flatMap((entry) => standingAt(entry)));
  noteBranch(facts, job.place.gitBranch?.slice(0, LONGEST_PLACE));
  fold(facts, standing);
  const last = all.at(-1);
  const { lag } = readFacts(job.facts);
  return { ...facts, ...(lag !== undefined && { lag }), folded: last ? last.sequence + last.span - 1 : 0 };
}

/** Without what the session's file repeats of sub-agents whose own transcripts are here. */
function withoutRepeated(entries: readonly Entry[]): Entry[] {
  const own = readOwnLanes(entries);
  return entries.filter(({ lane, echo }) => !echo || lane === undefined || !own.has(lane));
}

const LONGEST_PLACE = 300;

const repositoryOf = (facts: Facts, { remote, repoRoot }: PieceJob['place']): string | undefined =>
  (facts.address ?? (remote === null ? undefined : addressOf(remote)) ?? repoRoot ?? facts.folder)?.slice(
    0,
    LONGEST_PLACE,
  );

function noteLag(facts: Facts, { appends, through }: PieceJob, entries: readonly Entry[]): void {
  const entry = entries.findLast(({ timed, sequence }) => timed && sequence > through);
  const append = entry && appends.findLast(({ first_sequence }) => first_sequence <= entry.sequence);
  if (append) facts.lag = Math.max(0, append.created_at - entry.time);
}

/** Level 3 makes a seventh less than 1 of it, in half as much time again. */
const packed = (text: string): Uint8Array => zstdCompressSync(text);

export const readEntries = (bytes: Uint8Array): Entry[] => JSON.parse(zstdDecompressSync(bytes).toString('utf8'));

function writeChunk({ first, last, entries, words }: Chunk, job: PieceJob): DerivedChunk {
  const earlier = job.words.find((chunk) => chunk.first === first);
  const before = new Set(earlier ? zstdDecompressSync(earlier.words).toString('utf8').split(' ') : []);
  const added = [...words].map((word) => job.wordPrefix + word).filter((word) => !before.has(word));
  const all = [...before, ...added].filter((word) => word !== '');
  return {
    first,
    last,
    entries: packed(JSON.stringify(entries)),
    words: all,
    packedWords: packed(all.join(' ')),
    added: added.join(' '),
  };
}

function columnsOf(facts: Facts, through: number, cost: number | null): Columns {
  const sum = (at: number) =>
    [...facts.days.values()]
      .flatMap(({ models }) => [...models.values()])
      .reduce((total, of) => total + (of[at] ?? 0), 0);
  const [input_tokens, cached_tokens, output_tokens] = [sum(0), sum(1), sum(3)];
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
    cost,
    summary: writeShown(facts),
  };
}
