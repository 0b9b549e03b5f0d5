import type { Look } from '../../contract/session-view.ts';
import { siteOf } from '../network.ts';
import { readPolicy } from '../store/policies.ts';
import type { Db, SessionRow } from '../store/schema.ts';
import { addLooks, keyOfLooks, type Looks } from '../store/session-views.ts';
import { asService } from '../store/tenant.ts';

/** A member who looks at a session, and the request. */
export interface Looker {
  userId: string;
  address: string;
  /** The request comes from a page of the dashboard, not from a program. */
  isBrowser: boolean;
}

export interface SessionViewsOptions {
  db: Db;
  now: () => number;
  /** Called with the outcome of looks: `dropped` if too many wait for the store. */
  onSettled?: ((outcome: 'written' | 'retried' | 'dropped', looks: number) => void) | undefined;
}

/** How many rows may wait for the store, at about 300 bytes each. */
const MAX_WAITING = 20_000;
/** How many rows one statement writes. */
const WRITTEN_AT_ONCE = 200;

/**
 * Records who looks at the sessions of other members. Looks are summed in memory and written every few seconds, so that no
 * response waits for a write. Failed writes are retried. A crash loses the looks of the last few seconds.
 */
export class SessionViews {
  readonly #options: SessionViewsOptions;
  #waiting = new Map<string, Looks>();

  constructor(options: SessionViewsOptions) {
    this.#options = options;
  }

  /** @param isFurther whether the request continues a counted look, for example with the second page of events */
  note(looker: Looker, session: SessionRow, kind: Look, isFurther = false): void {
    const { userId, address, isBrowser } = looker;
    if (session.user_id === userId) return;
    const at = this.#options.now();
    this.#add({
      organizationId: session.organization_id,
      sessionId: session.session_id,
      userId,
      kind,
      firstAt: at,
      lastAt: at,
      count: isFurther ? 0 : 1,
      surface: isBrowser ? 'dashboard' : 'api',
      network: siteOf(address),
    });
  }

  /** Writes the waiting looks. Rejects if the store fails; the unwritten looks then keep waiting. */
  flush(): Promise<void> {
    return asService(() => this.#write());
  }

  async #write(): Promise<void> {
    const { db, onSettled } = this.#options;
    let left = [...this.#waiting.values()];
    this.#waiting = new Map();
    try {
      left = await this.#ofRecording(left);
      while (left.length > 0) {
        const some = left.slice(0, WRITTEN_AT_ONCE);
        await addLooks(db, some);
        onSettled?.('written', some.length);
        left = left.slice(WRITTEN_AT_ONCE);
      }
    } catch (error) {
      onSettled?.('retried', left.length);
      for (const one of left) this.#add(one);
      throw error;
    }
  }

  /** Keeps only the looks at sessions of organizations that record looks. */
  async #ofRecording(looks: readonly Looks[]): Promise<Looks[]> {
    const organizations = new Set(looks.map(({ organizationId }) => organizationId));
    const recording = new Set<string>();
    for (const organizationId of organizations) {
      if ((await readPolicy(this.#options.db, organizationId)).recordViews) recording.add(organizationId);
    }
    return looks.filter(({ organizationId }) => recording.has(organizationId));
  }

  #add(looks: Looks): void {
    const key = keyOfLooks(looks);
    const known = this.#waiting.get(key);
    if (!known) {
      if (this.#waiting.size >= MAX_WAITING) this.#options.onSettled?.('dropped', 1);
      else this.#waiting.set(key, looks);
      return;
    }
    const [earlier, later] = known.firstAt <= looks.firstAt ? [known, looks] : [looks, known];
    const count = known.count + looks.count;
    this.#waiting.set(key, { ...later, firstAt: earlier.firstAt, lastAt: Math.max(known.lastAt, looks.lastAt), count });
  }
}
