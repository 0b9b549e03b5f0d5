import { join } from 'node:path';
import type { Store } from '../../agents/store.ts';
import type { Spool } from '../../spool/open.ts';
import { fingerprint, START } from '../cursor.ts';
import { type Found, stampOf } from '../discover.ts';
import { copyOf, timeOfRecord, type Unread, withFolder } from '../identify.ts';
import { folderOf } from '../record.ts';
import { type ListedSession, listSessions } from './records.ts';

/** The sessions of a store's file that have changed since they were read. */
export function identifyStored(spool: Spool, found: Found, store: Store, now: number): Unread[] {
  const file = join(found.root, found.path);
  const sessions = listSessions(store, file, stampOf(found), now);
  const share = { ...found, size: Math.ceil(found.size / sessions.length) };
  return sessions.flatMap((session) => identifySession(spool, share, session) ?? []);
}

function identifySession(
  spool: Spool,
  found: Found,
  { readHead, name, stamp, folder }: ListedSession,
): Unread | undefined {
  const { agent, root } = found;
  const file = found.path;
  const path = name === '' ? file : `${file}#${name}`;
  const stored = { file, name, stamp };
  const known = spool.files.find(agent.id, root, path);
  if (known) {
    if (stamp !== '' && fingerprint(Buffer.from(stamp)).equals(known.tail)) return undefined;
    const { id, origin, startedAt, offset, pass } = known;
    const committed = { offset, pass };
    // Counted up, so that another process which reads the same is noticed.
    return {
      found: { ...found, path },
      id,
      origin,
      startedAt,
      cursor: { ...known, pass: pass + 1 },
      committed,
      stored,
    };
  }
  const head = readHead();
  const [first] = head;
  if (first === undefined) return undefined;
  const folders = [folder, ...head.map((record) => folderOf(record, agent))];
  const workedIn = folders.find((path) => path !== undefined);
  const origin = withFolder(agent.identify({ root, path }, copyOf(first)), workedIn);
  const times = head.values().map((record) => timeOfRecord(agent, record));
  const startedAt = times.find((time) => time !== undefined) ?? Math.floor(found.bornAt);
  const committed = { offset: 0, pass: 0 };
  return { found: { ...found, path }, id: undefined, origin, startedAt, cursor: START, committed, stored };
}
