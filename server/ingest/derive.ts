import { readAppends } from '../store/events.ts';
import { decodeFrame, type FramedEvent } from '../store/frame.ts';
import type { Db } from '../store/open.ts';
import { type findSummaries, writeSummary } from '../store/summaries.ts';
import { addEvent, emptySummary, type Summary } from './summary.ts';

/** A summary and the last sequence it has counted. */
export interface Derived {
  summary: Summary;
  through: number;
}

export interface Deriver {
  /** Counts a batch that was just stored; cheap, and never in the way of the answer. */
  add(organizationId: string, sessionId: string, firstSequence: number, events: readonly FramedEvent[]): void;
  /** The session's summary through `eventCount`, made up for from the stored appends where it lags. */
  bringUpTo(organizationId: string, sessionId: string, eventCount: number, kept: Derived): Promise<Derived>;
  /** Writes down what was derived since the last time. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

export interface DeriverOptions {
  db: Db;
  onError: (error: unknown) => void;
  flushEveryMs?: number;
}

const MOST_KEPT = 5_000;

/**
 * Figures of sessions, kept while their events go by. What is in memory may be lost at any time: it is derived again
 * from the appends when it is asked for.
 */
export function createDeriver({ db, onError, flushEveryMs = 1_000 }: DeriverOptions): Deriver {
  const kept = new Map<string, Derived & { organizationId: string }>();
  const dirty = new Set<string>();
  const timer = setInterval(() => void flush().catch(onError), flushEveryMs).unref();

  function keep(organizationId: string, sessionId: string, derived: Derived): void {
    if (kept.size >= MOST_KEPT) for (const id of kept.keys()) if (!dirty.has(id)) kept.delete(id);
    kept.set(sessionId, { ...derived, organizationId });
    dirty.add(sessionId);
  }

  async function flush(): Promise<void> {
    const ids = [...dirty];
    dirty.clear();
    if (ids.length === 0) return;
    await db.transaction().execute(async (transaction) => {
      for (const id of ids) {
        const entry = kept.get(id);
        if (entry)
          await writeSummary(transaction, entry.organizationId, id, entry.through, JSON.stringify(entry.summary));
      }
    });
  }

  return {
    add(organizationId, sessionId, firstSequence, events) {
      const known = firstSequence === 1 ? { summary: emptySummary(), through: 0 } : kept.get(sessionId);
      // A batch before this one is unknown here; the next reader makes up for both.
      if (known?.through !== firstSequence - 1) return;
      try {
        for (const { eventType, payload } of events) addEvent(known.summary, eventType, payload);
      } catch (error) {
        // The batch is stored and must be answered so, whatever can be made of it.
        kept.delete(sessionId);
        return onError(error);
      }
      keep(organizationId, sessionId, { summary: known.summary, through: firstSequence - 1 + events.length });
    },

    async bringUpTo(organizationId, sessionId, eventCount, stored) {
      const inMemory = kept.get(sessionId);
      const base = inMemory && inMemory.through >= stored.through ? inMemory : stored;
      if (base.through >= eventCount) return base;
      const derived = { summary: structuredClone(base.summary), through: base.through };
      for await (const append of readAppends(db, organizationId, sessionId, base.through + 1, eventCount)) {
        for (const { eventType, payload } of decodeFrame(append)) addEvent(derived.summary, eventType, payload);
        derived.through = append.last_sequence;
      }
      if ((kept.get(sessionId)?.through ?? 0) < derived.through) keep(organizationId, sessionId, derived);
      return derived;
    },

    flush,

    async close() {
      clearInterval(timer);
      await flush();
    },
  };
}

/** What the store kept of a session, in the deriver's form. */
export const keptSummary = (row: Awaited<ReturnType<typeof findSummaries>>[number]): Derived =>
  row.summary === null || row.summarized_through === null
    ? { summary: emptySummary(), through: 0 }
    : { summary: JSON.parse(row.summary) as Summary, through: row.summarized_through };
