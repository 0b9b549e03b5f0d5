import { join } from 'node:path';
import { storeOf } from '../agents/store.ts';
import type { Closed } from '../decide/periods.ts';
import type { Cursor } from '../spool/files.ts';
import { openBytes } from './bytes.ts';
import type { UnreadTranscript } from './identify.ts';
import type { CapturedRecord, RecordStream } from './record.ts';
import { createStoredStream, type StoredPlace, type StoredStreamOptions } from './stored/stream.ts';
import { createRecordStream, type StreamOptions } from './stream.ts';

/** An open transcript. `id` and `committed` change with each commit. */
export interface OpenTranscript extends UnreadTranscript {
  /** The periods of its session whose records stay on this machine. */
  closed: readonly Closed[];
  stream: RecordStream;
  /** The next record to take over. Undefined at the end. */
  next: CapturedRecord | undefined;
}

/** A transcript to be read from its cursor on. */
export interface RecordSource
  extends Omit<StreamOptions, 'from' | 'cursor'>,
    Omit<StoredStreamOptions, 'store' | 'stored' | 'cursor'> {
  /** The file's present path. Defaults to `path`. */
  at?: string;
  /** The place in the agent's store, for an agent with a store. */
  stored?: StoredPlace | undefined;
  cursor: Cursor;
}

/**
 * Opens the records of a transcript. This is the only place that distinguishes ways of reading transcripts. Throws where the
 * transcript cannot be read.
 */
export function openRecords({ at, stored, cursor, ...more }: RecordSource): RecordStream {
  const { agent, root, path } = more;
  const store = stored && storeOf(agent, stored.file);
  if (store && cursor.kind === 'store') return createStoredStream({ ...more, store, stored, cursor });
  if (cursor.kind !== 'file') throw new Error(`${path} was read as a store before`);
  return createRecordStream({ ...more, cursor, from: openBytes(at ?? join(root, path)) });
}
