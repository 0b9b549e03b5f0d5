import type { Look } from '../../contract/session-view.ts';
import { siteOf } from '../network.ts';
import { readPolicy } from '../store/policies.ts';
import type { Db, SessionRow } from '../store/schema.ts';
import { addLooks, keyOfLooks, type Looks } from '../store/session-views.ts';
import { type Flushable, WriteBehind } from '../write-behind.ts';

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

/** Records who looks at the sessions of other members. */
export class SessionViews implements Flushable {
  readonly #options: SessionViewsOptions;
  readonly #waiting: WriteBehind<Looks>;

  constructor(options: SessionViewsOptions) {
    this.#options = options;
    const { onSettled } = options;
    this.#waiting = new WriteBehind({
      keyOf: keyOfLooks,
      merge: sumOf,
      write: (looks) => this.#write(looks),
      atOnce: WRITTEN_AT_ONCE,
      maxWaiting: MAX_WAITING,
      onDropped: () => onSettled?.('dropped', 1),
      onRetried: (looks) => onSettled?.('retried', looks),
    });
  }

  /** @param isFurther whether the request continues a counted look, for example with the second page of events */
  note(looker: Looker, session: SessionRow, kind: Look, isFurther = false): void {
    const { userId, address, isBrowser } = looker;
    if (session.user_id === userId) return;
    const at = this.#options.now();
    this.#waiting.add({
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

  flush(): Promise<void> {
    return this.#waiting.flush();
  }

  async #write(looks: readonly Looks[]): Promise<void> {
    const { db, onSettled } = this.#options;
    const recorded = await this.#ofRecording(looks);
    if (recorded.length === 0) return;
    await addLooks(db, recorded);
    onSettled?.('written', recorded.length);
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
}

function sumOf(one: Looks, other: Looks): Looks {
  const [earlier, later] = one.firstAt <= other.firstAt ? [one, other] : [other, one];
  const lastAt = Math.max(one.lastAt, other.lastAt);
  return { ...later, firstAt: earlier.firstAt, lastAt, count: one.count + other.count };
}
