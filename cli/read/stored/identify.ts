import { join } from 'node:path';
import type { Origin } from '../../agents/agent.ts';
import type { Store } from '../../agents/store.ts';
import type { Spool } from '../../spool/open.ts';
import { fingerprint, STORE_START } from '../cursor.ts';
import { stampOf, type Transcript } from '../discover.ts';
import { type IsWanted, keysOf, timeOfRecord, type UnreadTranscript, withFolder } from '../identify.ts';
import { folderOf } from '../record.ts';
import { type ListedSession, listSessions } from './records.ts';

/** The sessions of a store's file that have changed since they were read. */
export function findUnreadStored(
  spool: Spool,
  transcript: Transcript,
  store: Store,
  now: number,
  isWanted: IsWanted,
): UnreadTranscript[] {
  const file = join(transcript.root, transcript.path);
  const sessions = listSessions(store, file, stampOf(transcript), now);
  const share = { ...transcript, size: Math.ceil(transcript.size / sessions.length) };
  return sessions.flatMap((session) => findUnreadSession(spool, share, session, isWanted) ?? []);
}

function findUnreadSession(
  spool: Spool,
  transcript: Transcript,
  { readHead, name, stamp, folder }: ListedSession,
  isWanted: IsWanted,
): UnreadTranscript | undefined {
  const { agent, root, path: file } = transcript;
  const path = name === '' ? file : `${file}#${name}`;
  const stored = { file, name, stamp };
  const firstKeys = () => keysOf(agent, path, readHead());
  const known = spool.files.find(agent.id, root, path);
  if (known) {
    const { id, origin, startedAt, cursor } = known;
    const isUnchanged = stamp !== '' && cursor.kind === 'store' && fingerprint(Buffer.from(stamp)).equals(cursor.stamp);
    if (isUnchanged && !isWanted(known)) return undefined;
    const { position, pass } = cursor;
    // The counter lets this process notice another process that reads the same session.
    const from = isWanted(known) || cursor.kind !== 'store' ? STORE_START : cursor;
    return {
      ...transcript,
      ...{ path, id, origin, startedAt, stored, firstKeys },
      cursor: { ...from, pass: pass + 1 },
      committed: { position, pass },
      isFollowed: false,
    };
  }
  const head = readHead();
  const [first] = head;
  if (first === undefined) return undefined;
  const folders = [folder, ...head.map((record) => folderOf(record, agent))];
  const workedIn = folders.find((path) => path !== undefined);
  const origin = withFolder(agent.identify({ root, path }, first), workedIn);
  // The earliest time counts, because a fork has a new header before the copied records.
  const times = head.flatMap((record) => timeOfRecord(agent, record) ?? []);
  const startedAt = times.length > 0 ? Math.min(...times) : birthOf(transcript, origin);
  const committed = { position: 0, pass: 0 };
  const place = { path, id: undefined, origin, startedAt, cursor: STORE_START, committed, stored };
  return { ...transcript, ...place, isFollowed: false, firstKeys };
}

/** Each write may replace a document with another file. A session that is named after its start time shows the start anyway. */
const birthOf = ({ bornAt }: Transcript, { session }: Origin): number =>
  Math.min(Math.floor(bornAt), /^\d{13}$/.test(session) ? Number(session) : Number.POSITIVE_INFINITY);
