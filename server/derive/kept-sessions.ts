import type { Open } from './chunks.ts';
import type { CountedRecords } from './counted-records.ts';
import type { FactRows } from './fact-rows.ts';
import type { Facts } from './facts.ts';

/** The state of a session after its last slice. */
export interface KeptSession {
  /** Sequence of the last event that is derived. */
  through: number;
  facts: Facts;
  rows: FactRows;
  open: Open;
  /** Absent if the facts do not yet cover all entries, or earlier entries are unknown. */
  records: CountedRecords | undefined;
  /** Characters of the facts as JSON, and about as many for the rows that repeat their names. */
  weight: number;
}

/** The most bytes of kept facts, entries and words: some 8 MB of memory. */
const MAX_WEIGHT = 6_000_000;

/**
 * Keeps the state of the most recently derived sessions, so that the events of their open chunk need not be read again. The
 * state may be lost at any time, because the store has it too.
 */
export class KeptSessions {
  /** The most recently used session is the last entry. */
  readonly #sessions = new Map<string, KeptSession>();
  #weight = 0;

  /** Removes and returns the session, because the caller changes it. */
  take(sessionId: string | undefined, through: number): KeptSession | undefined {
    const session = this.#sessions.get(sessionId ?? '');
    if (sessionId === undefined || !session) return undefined;
    this.#sessions.delete(sessionId);
    this.#weight -= weightOf(session);
    // Otherwise the slice was not written, or another process has derived more.
    return session.through === through ? session : undefined;
  }

  put(sessionId: string | undefined, session: KeptSession): void {
    if (sessionId === undefined) return;
    this.take(sessionId, session.through);
    this.#sessions.set(sessionId, session);
    this.#weight += weightOf(session);
    for (const [oldest, { through }] of this.#sessions) {
      if (this.#weight <= MAX_WEIGHT) break;
      this.take(oldest, through);
    }
  }
}

const weightOf = ({ weight, open: { chunk, row }, records }: KeptSession): number =>
  weight +
  (records?.weight ?? 0) +
  (row ? row.words.weight : 0) +
  (chunk ? chunk.entries.length + chunk.words.length : 0);
