import { openSync } from 'node:fs';
import { join } from 'node:path';
import type { Agent, Origin } from '../agents/agent.ts';
import { storeOf } from '../agents/store.ts';
import type { Cursor } from '../spool/files.ts';
import type { RecordHash } from './identity.ts';
import type { RecordStream } from './record.ts';
import { createStoredStream, type StoredPlace } from './stored/stream.ts';
import { createRecordStream } from './stream.ts';

/** A transcript to be read from its cursor on. */
export interface RecordSource {
  agent: Agent;
  root: string;
  /** The path that its events tell. */
  path: string;
  /** Where its file is by now; at its path where absent. */
  at?: string | undefined;
  /** Its place in its agent's store. */
  stored?: StoredPlace | undefined;
  origin: Origin;
  cursor: Cursor;
  hashRecord: RecordHash;
  /** How much of a file is read at once. */
  chunkBytes: number;
  maxLineBytes?: number | undefined;
  /** Whether a file was left alone for so long that a last line without its end will not get one. */
  isAbandoned: boolean;
  /** A store's records that are still being written are left alone if they changed at or after this time. */
  settledBefore: number;
}

/**
 * The records of a transcript. An agent whose transcripts are read in another way has to be told apart here, and nowhere
 * else. Throws where it cannot be read.
 */
export function openRecords({
  agent,
  root,
  path,
  at = join(root, path),
  stored,
  cursor,
  ...more
}: RecordSource): RecordStream {
  const store = stored && storeOf(agent, stored.file);
  if (store && cursor.kind === 'store')
    return createStoredStream({ ...more, agent, store, root, path, stored, cursor });
  if (cursor.kind !== 'file') throw new Error(`${path} was read as a store before`);
  return createRecordStream({ ...more, agent, path, cursor, fd: openSync(at, 'r') });
}
