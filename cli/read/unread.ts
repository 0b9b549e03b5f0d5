import { join } from 'node:path';
import { storeOf } from '../agents/store.ts';
import type { Context } from '../context.ts';
import type { Spool } from '../spool/open.ts';
import { type Found, findTranscripts, type Trouble, tolerateFileErrors } from './discover.ts';
import { findUnreadFile, type IsWanted, type Unread } from './identify.ts';
import { ownPlaces } from './places.ts';
import { findUnreadStored } from './stored/identify.ts';

export interface UnreadOptions {
  now: number;
  /** Whether the first record may not have been written yet. */
  isYoung: boolean;
  isWanted: IsWanted;
}

/** The unread part of a file: the whole file, or some sessions of a store. */
export function findAllUnread(spool: Spool, found: Found, { now, isYoung, isWanted }: UnreadOptions): Unread[] {
  const store = storeOf(found.agent, found.path);
  if (store) return findUnreadStored(spool, found, store, now, isWanted);
  const file = findUnreadFile(spool, found, isYoung, isWanted);
  return file ? [file] : [];
}

/**
 * Every transcript in the agents' own folders, with its sessions that the spool has not read to their end. `onOther` is called
 * with the absolute path of each other file.
 */
export function* findUnread(
  context: Context,
  spool: Spool,
  onTrouble: (trouble: Trouble) => void,
  onOther: (path: string) => void = () => {},
): Generator<Found & { sessions: Unread[] }> {
  const places = ownPlaces(context).map((place) => ({
    ...place,
    onOther: (path: string) => onOther(join(place.root, path)),
  }));
  for (const found of findTranscripts(places, onTrouble)) {
    const sessions: Unread[] = [];
    tolerateFileErrors(join(found.root, found.path), onTrouble, () => {
      sessions.push(...findAllUnread(spool, found, { now: context.now(), isYoung: false, isWanted: () => false }));
    });
    yield { ...found, sessions };
  }
}
