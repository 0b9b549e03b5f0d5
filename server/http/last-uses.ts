import { markDirectoryUsed } from '../store/directory.ts';
import type { Db } from '../store/schema.ts';
import { markSecretUsed } from '../store/secrets.ts';
import { WriteBehind } from '../write-behind.ts';

/** A use of a credential, at a time in epoch milliseconds. */
export interface Use {
  kind: 'secret' | 'directory token';
  organizationId: string;
  /** The id of the secret or of the directory token. */
  id: string;
  at: number;
}

const MARKS = { secret: markSecretUsed, 'directory token': markDirectoryUsed };

/** Remembers when secrets and directory tokens were last used. */
export const createLastUses = (db: Db) =>
  new WriteBehind<Use>({
    keyOf: ({ id }) => id,
    merge: (one, other) => (one.at > other.at ? one : other),
    write: async (uses) => {
      for (const { kind, organizationId, id, at } of uses) await MARKS[kind](db, organizationId, id, at);
    },
    atOnce: 1,
  });
