import { join } from 'node:path';
import { storeOf } from '../agents/store.ts';
import type { Context } from '../context.ts';
import type { Spool } from '../spool/open.ts';
import { attempt, type Found, findTranscripts, type Trouble } from './discover.ts';
import { identify, type Unread } from './identify.ts';
import { ownPlaces } from './places.ts';
import { identifyStored } from './stored/identify.ts';

/** Every transcript in the agents' own folders, with those of its sessions that the spool does not know to their end. */
export function* findUnread(
  context: Context,
  spool: Spool,
  onTrouble: (trouble: Trouble) => void,
): Generator<Found & { sessions: Unread[] }> {
  for (const found of findTranscripts(ownPlaces(context), onTrouble)) {
    const { agent, root, path } = found;
    const store = storeOf(agent, path);
    const sessions: Unread[] = [];
    attempt(join(root, path), onTrouble, () => {
      const unread = store
        ? identifyStored(spool, found, store, context.now(), () => false)
        : [identify(spool, found, false, () => false) ?? []].flat();
      sessions.push(...unread);
    });
    yield { ...found, sessions };
  }
}
