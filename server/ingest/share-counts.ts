import type { Db, ShareRow } from '../store/schema.ts';
import { addShareViews, type ShareViews } from '../store/shares.ts';
import { asService } from '../store/tenant.ts';

/**
 * Counts how often shares are opened. Counts are kept in memory and written every few seconds, so that no response waits for a
 * write. A crash loses the views of the last few seconds.
 */
export class ShareCounts {
  readonly #db: Db;
  readonly #now: () => number;
  #waiting = new Map<string, ShareViews>();

  constructor(db: Db, now: () => number) {
    this.#db = db;
    this.#now = now;
  }

  /** @param isFurther whether the request continues a counted view, for example with its events */
  note({ share_id: shareId, organization_id: organizationId }: ShareRow, isFurther = false): void {
    const count = (this.#waiting.get(shareId)?.count ?? 0) + (isFurther ? 0 : 1);
    this.#waiting.set(shareId, { shareId, organizationId, count, lastAt: this.#now() });
  }

  /** Writes the waiting counts. Rejects if the store fails; the unwritten counts then keep waiting. */
  flush(): Promise<void> {
    return asService(async () => {
      for (const [shareId, views] of [...this.#waiting]) {
        await addShareViews(this.#db, views);
        const { count = 0 } = this.#waiting.get(shareId) ?? {};
        if (count > views.count) this.#waiting.set(shareId, { ...views, count: count - views.count });
        else this.#waiting.delete(shareId);
      }
    });
  }
}
