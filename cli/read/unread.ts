import { join } from 'node:path';
import { storeOf } from '../agents/store.ts';
import type { Context } from '../context.ts';
import type { Spool } from '../spool/open.ts';
import { findTranscripts, type Transcript, type Trouble, tolerateFileErrors } from './discover.ts';
import { findUnreadFile, type IsWanted, type UnreadTranscript } from './identify.ts';
import { ownPlaces } from './places.ts';
import { findUnreadStored } from './stored/identify.ts';

export interface UnreadOptions {
  now: number;
  /** Whether the first record may not have been written yet. */
  isYoung: boolean;
  isWanted: IsWanted;
}

/** The unread part of a file: the whole file, or some sessions of a store. */
export function findAllUnread(
  spool: Spool,
  transcript: Transcript,
  { now, isYoung, isWanted }: UnreadOptions,
): UnreadTranscript[] {
  const store = storeOf(transcript.agent, transcript.path);
  if (store) return findUnreadStored(spool, transcript, store, now, isWanted);
  const file = findUnreadFile(spool, transcript, isYoung, isWanted);
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
): Generator<Transcript & { sessions: UnreadTranscript[] }> {
  const places = ownPlaces(context).map((place) => ({
    ...place,
    onOther: (path: string) => onOther(join(place.root, path)),
  }));
  for (const transcript of findTranscripts(places, onTrouble)) {
    const sessions: UnreadTranscript[] = [];
    tolerateFileErrors(join(transcript.root, transcript.path), onTrouble, () => {
      sessions.push(...findAllUnread(spool, transcript, { now: context.now(), isYoung: false, isWanted: () => false }));
    });
    yield { ...transcript, sessions };
  }
}
