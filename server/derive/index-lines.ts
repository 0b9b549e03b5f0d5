import type { JobAsker } from '../idle-worker.ts';
import { readChunks } from '../store/derived.ts';
import { unpackText } from '../store/packed.ts';
import type { Db, SessionRow } from '../store/schema.ts';
import type { ReadableSession } from '../store/viewer.ts';
import { readSome } from './derive-session.ts';
import type { SliceJob } from './derive-slice.ts';
import type { DeriveThread } from './derive-thread.ts';

/** The most events that are derived at once for a reader who cannot wait for the indexer. */
const MAX_AT_ONCE = 2_000;

/**
 * A line of JSON for each chunk of the session from `from` on. The events after the last chunk get lines too, if they are few.
 */
export async function* indexLines(
  db: Db,
  thread: Pick<DeriveThread, 'derive'>,
  row: ReadableSession,
  from: number,
  asker: JobAsker,
): AsyncGenerator<string> {
  const { organization_id: organizationId, session_id: sessionId, event_count: eventCount } = row;
  let next = from;
  for await (const chunk of readChunks(db, organizationId, sessionId, from, eventCount)) {
    yield line(chunk.first_sequence, chunk.last_sequence, chunk.entries);
    next = chunk.last_sequence + 1;
  }
  if (next > eventCount || eventCount - next >= MAX_AT_ONCE) return;
  const { appends, isEnd } = await readSome(db, row, next, 4);
  const slice = await thread.derive(lastSlice(row, next, appends, isEnd), asker);
  for (const { first, last, entries } of slice?.chunks ?? []) yield line(first, last, entries);
}

/** A job that is only used for its chunks. */
const lastSlice = (row: SessionRow, from: number, appends: SliceJob['appends'], isEnd: boolean): SliceJob => ({
  place: {
    agentId: row.agent_id,
    environmentId: row.environment_id,
    repository: null,
    repoRoot: null,
    remote: null,
    gitBranch: null,
  },
  stored: { facts: null, from, words: [], earlier: [] },
  through: from - 1,
  appends,
  isEnd,
  isClosed: row.status !== 'active',
  eventCount: row.event_count,
  wordPrefix: '',
  packsWords: false,
});

const line = (first: number, last: number, entries: Uint8Array) =>
  `{"first":${first},"last":${last},"entries":${unpackText(entries)}}\n`;
