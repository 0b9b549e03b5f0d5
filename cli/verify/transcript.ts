import { join } from 'node:path';
import type { Agent } from '../agents/agent.ts';
import { type Store, storeOf } from '../agents/store.ts';
import type { Context } from '../context.ts';
import { isThere } from '../read/bytes.ts';
import { FILE_START, fingerprint, STORE_START } from '../read/cursor.ts';
import { findTranscripts, stampOf } from '../read/discover.ts';
import type { RecordHash } from '../read/identity.ts';
import { filesOf, findAgent, isContinued, type MovedTranscripts } from '../read/known-files.ts';
import { openRecords } from '../read/open.ts';
import type { CapturedRecord, RecordStream } from '../read/record.ts';
import { listSessions } from '../read/stored/records.ts';
import type { FileRow } from '../spool/files.ts';

/** The present state of a transcript, read from its start. */
export interface PresentTranscript {
  stream: RecordStream;
  /** Whether the spool knows it in its present form, except for appended records. If not, some records may still be unread. */
  isKnown: boolean;
  /** Whether its agent rewrites it. Then the service rightly has records that are no longer in it, in another order. */
  isRewritten: boolean;
  /** Records from this position on were appended after the last reading. */
  readTo: number;
}

/** All records of a transcript, as capturing reads them. Undefined if the file is gone. */
export function openTranscript(
  context: Context,
  row: FileRow,
  hashRecord: RecordHash,
  moved: MovedTranscripts,
): PresentTranscript | undefined {
  const agent = findAgent(context, row);
  if (agent === undefined) return undefined;
  for (const file of filesOf(row.path)) {
    if (!isThere(join(row.root, file))) continue;
    const store = storeOf(agent, file);
    if (store) return openStored(agent, store, row, file, context.now(), hashRecord);
    if (file === row.path) return openLines(agent, row, join(row.root, row.path), hashRecord);
  }
  const path = moved.find(row);
  return path === undefined ? undefined : openLines(agent, row, path, hashRecord);
}

function openLines(agent: Agent, row: FileRow, at: string, hashRecord: RecordHash): PresentTranscript {
  const { root, path, origin, cursor } = row;
  const isKnown = cursor.kind === 'file' && isContinued(at, cursor);
  return {
    stream: openRecords({ agent, root, path, at, origin, cursor: FILE_START, hashRecord, ...WHOLE }),
    isKnown,
    isRewritten: cursor.pass > 0 || !isKnown,
    readTo: isKnown ? cursor.position : Number.POSITIVE_INFINITY,
  };
}

function openStored(agent: Agent, store: Store, row: FileRow, file: string, now: number, hashRecord: RecordHash) {
  const { root, path, origin, cursor } = row;
  const name = path === file ? '' : path.slice(file.length + 1);
  const [found] = findTranscripts([{ agent, root, below: file, isNamed: true }], () => {});
  const sessions = found ? listSessions(store, join(root, file), stampOf(found), now) : [];
  const stamp = sessions.find((session) => session.name === name)?.stamp;
  if (stamp === undefined) return undefined;
  const stored = { file, name, stamp };
  return {
    stream: openRecords({ agent, root, path, stored, origin, cursor: STORE_START, hashRecord, ...WHOLE }),
    isKnown: stamp !== '' && cursor.kind === 'store' && fingerprint(Buffer.from(stamp)).equals(cursor.stamp),
    isRewritten: true,
    readTo: Number.POSITIVE_INFINITY,
  };
}

/** Records that are still being written are included: they are already captured, or wait to be. */
const WHOLE = { chunkBytes: 128 * 1024, isAbandoned: false, settledBefore: Number.POSITIVE_INFINITY };

/** The position of a record. Every record makes at least one event. */
export const positionOf = ({ events }: CapturedRecord): number => events[0]?.payload.source.position ?? 0;
