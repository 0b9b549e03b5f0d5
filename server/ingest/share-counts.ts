import type { Db, ShareRow } from '../store/schema.ts';
import { addShareViews, type ShareViews } from '../store/shares.ts';
import { type Flushable, WriteBehind } from '../write-behind.ts';

/** Counts how often shares are opened. */
export class ShareCounts implements Flushable {
  readonly #now: () => number;
  readonly #waiting: WriteBehind<ShareViews>;

  constructor(db: Db, now: () => number) {
    this.#now = now;
    this.#waiting = new WriteBehind({
      keyOf: ({ shareId }) => shareId,
      merge: (one, other) => ({
        ...one,
        count: one.count + other.count,
        lastAt: Math.max(one.lastAt, other.lastAt),
      }),
      write: async (views) => {
        for (const one of views) await addShareViews(db, one);
      },
      atOnce: 1,
    });
  }

  /** @param isFurther whether the request continues a counted view, for example with its events */
  note({ share_id: shareId, organization_id: organizationId }: ShareRow, isFurther = false): void {
    this.#waiting.add({ shareId, organizationId, count: isFurther ? 0 : 1, lastAt: this.#now() });
  }

  flush(): Promise<void> {
    return this.#waiting.flush();
  }
}
