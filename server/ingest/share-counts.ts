import type { Db } from '../store/schema.ts';
import type { ShareRow } from '../store/schema-governance.ts';
import { addShareViews, type ShareViews } from '../store/shares.ts';
import { asService } from '../store/tenant.ts';

/**
 * Counts how often shares are opened: in memory, and written every few seconds, so that no answer waits for it. A crash loses
 * the views of these seconds.
 */
export class ShareCounts {
  readonly #db: Db;
  readonly #now: () => number;
  #waiting = new Map<string, ShareViews>();

  constructor(db: Db, now: () => number) {
    this.#db = db;
    this.#now = now;
  }

  /** @param isFurther whether it belongs to a view that was counted, such as its events */
  note({ share_id: shareId, organization_id: organizationId }: ShareRow, isFurther = false): void {
    const count = (this.#waiting.get(shareId)?.count ?? 0) + (isFurther ? 0 : 1);
    this.#waiting.set(shareId, { shareId, organizationId, count, lastAt: this.#now() });
  }

  /** Writes what waits. Rejects where the store cannot, and then the rest waits on. */
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
