import { Recent } from '../recent.ts';
import { markDirectoryUsed } from '../store/directory.ts';
import type { Db } from '../store/schema.ts';
import { markSecretUsed, USES_APART_MS } from '../store/secrets.ts';
import { type Flushable, WriteBehind } from '../write-behind.ts';

/** A use of a credential, at a time in epoch milliseconds. */
export interface Use {
  kind: 'secret' | 'directory token';
  organizationId: string;
  /** The id of the secret or of the directory token. */
  id: string;
  at: number;
}

const MARKS = { secret: markSecretUsed, 'directory token': markDirectoryUsed };

/** The most credentials that are remembered as just recorded. */
const MAX_RECORDED = 10_000;

export interface LastUses extends Flushable {
  add(use: Use): void;
}

/** Remembers when secrets and directory tokens were last used. A busy one causes one write a minute. */
export function createLastUses(db: Db, now: () => number): LastUses {
  const recorded = new Recent<true>({ max: MAX_RECORDED, now });
  const uses = new WriteBehind<Use>({
    keyOf: ({ id }) => id,
    merge: (one, other) => (one.at > other.at ? one : other),
    async write(some) {
      for (const { kind, organizationId, id, at } of some) {
        await MARKS[kind](db, organizationId, id, at);
        recorded.set(id, true, USES_APART_MS);
      }
    },
    atOnce: 1,
  });
  return {
    add(use) {
      if (!recorded.get(use.id)) uses.add(use);
    },
    flush: () => uses.flush(),
  };
}
