import { setImmediate } from 'node:timers/promises';
import { readAppends } from '../store/events.ts';
import { bytesOf, decodeFrame, type FramedEvent } from '../store/frame.ts';
import type { Db } from '../store/open.ts';
import { type SummarySource, writeSummaries } from '../store/summaries.ts';
import { HEAVY_BYTES } from '../turns.ts';
import { createBackground } from './background.ts';
import type { Change } from './session-log.ts';
import { addEvent, emptySummary, type Summary } from './summary.ts';

/** A summary and the last sequence it has counted. */
export interface Derived {
  summary: Summary;
  through: number;
}

export interface Summaries {
  /** Counts what was just stored, after it was answered. */
  note(change: Change): void;
  /** Each session's summary: through its last event if that can be had within the time, else as far as it is known. */
  read(sources: readonly SummarySource[]): Promise<Derived[]>;
  /** Writes down what was derived since the last time. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

export interface SummariesOptions {
  db: Db;
  onError: (error: unknown) => void;
  /** Told of a session that was made up for after `read` had answered without it. */
  onCaughtUp?: (source: SummarySource) => void;
  flushEveryMs?: number;
  /** How long `read` waits for sessions that lag. */
  patienceMs?: number;
}

/** Raised whenever the same events give other figures: what an earlier version has derived is then derived again. */
const VERSION = 1;

const MOST_KEPT = 5_000;
/** Bytes of stored payloads that wait to be counted; beyond, they are left to whoever reads the summary. */
const MOST_WAITING_BYTES = 32 * 1024 * 1024;
/** Then others are answered. */
const LONGEST_TURN_MS = 4;
/** Sessions made up for at the same time, so that a page of a hundred leaves the store to the others. */
const CATCH_UPS_AT_ONCE = 2;

/**
 * Figures of sessions, kept while their events go by. What is in memory may be lost at any time: it is derived again
 * from the appends when it is asked for.
 */
export function createSummaries(options: SummariesOptions): Summaries {
  const { db, onError, onCaughtUp, flushEveryMs = 2_000, patienceMs = 300 } = options;
  const kept = new Map<string, Derived & { organizationId: string }>();
  const dirty = new Set<string>();
  const catchUps = createBackground({ atOnce: CATCH_UPS_AT_ONCE, onError });
  const waiting: Change[] = [];
  let waitingBytes = 0;
  let draining = false;
  let flushed = Promise.resolve();
  const timer = setInterval(() => void flush().catch(onError), flushEveryMs).unref();

  function keep(organizationId: string, sessionId: string, derived: Derived): void {
    kept.delete(sessionId);
    kept.set(sessionId, { ...derived, organizationId });
    dirty.add(sessionId);
    // Those that were not added to for longest go, though the store may be gone and nothing of them written down.
    for (const oldest of kept.keys()) {
      if (kept.size <= MOST_KEPT) return;
      kept.delete(oldest);
      dirty.delete(oldest);
    }
  }

  function count({ organizationId, sessionId, eventCount, events = [] }: Change): void {
    const before = eventCount - events.length;
    const known = before === 0 ? { summary: emptySummary(), through: 0 } : kept.get(sessionId);
    // A batch before this one is unknown here; the next reader makes up for both.
    if (known?.through !== before) return;
    try {
      addEvents(known.summary, events);
      keep(organizationId, sessionId, { summary: known.summary, through: eventCount });
    } catch (error) {
      kept.delete(sessionId);
      onError(error);
    }
  }

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      await setImmediate();
      const until = performance.now() + LONGEST_TURN_MS;
      for (let change = waiting.shift(); change; change = performance.now() < until ? waiting.shift() : undefined) {
        waitingBytes -= bytesOf(change.events ?? []);
        count(change);
      }
    }
  }

  /** What the store or this process knows of the session. */
  function known({ sessionId, stored }: SummarySource): Derived {
    const inMemory = kept.get(sessionId);
    const fromStore = stored?.version === VERSION ? readStored(stored) : { summary: emptySummary(), through: 0 };
    return inMemory && inMemory.through >= fromStore.through ? inMemory : fromStore;
  }

  async function catchUp(source: SummarySource): Promise<void> {
    const { organizationId, sessionId, eventCount } = source;
    const base = known(source);
    const derived = { summary: structuredClone(base.summary), through: base.through };
    for await (const append of readAppends(db, organizationId, sessionId, base.through + 1, eventCount)) {
      await addInTurns(derived.summary, decodeFrame(append));
      derived.through = append.last_sequence;
      await setImmediate();
    }
    if ((kept.get(sessionId)?.through ?? 0) < derived.through) keep(organizationId, sessionId, derived);
  }

  async function writeDirty(): Promise<void> {
    // In one order everywhere, so that replicas that write the same sessions wait for each other and not in a circle.
    const ids = [...dirty].sort();
    dirty.clear();
    const rows = ids.flatMap((sessionId) => {
      const entry = kept.get(sessionId);
      if (!entry) return [];
      const { organizationId, through, summary } = entry;
      return [{ organizationId, sessionId, version: VERSION, through, summary: JSON.stringify(summary) }];
    });
    try {
      await writeSummaries(db, rows);
    } catch (error) {
      for (const id of ids) if (kept.has(id)) dirty.add(id);
      throw error;
    }
  }

  /** One after the other, so that whoever waits for one knows that all before it are over. */
  function flush(): Promise<void> {
    flushed = flushed.catch(() => undefined).then(writeDirty);
    return flushed;
  }

  return {
    note(change) {
      if (change.status === 'deleted') {
        kept.delete(change.sessionId);
        dirty.delete(change.sessionId);
      }
      const bytes = bytesOf(change.events ?? []);
      // A large batch is left to whoever reads the summary, who counts it a piece at a time.
      if (bytes === 0 || bytes > HEAVY_BYTES || waitingBytes + bytes > MOST_WAITING_BYTES) return;
      waitingBytes += bytes;
      waiting.push(change);
      if (draining) return;
      draining = true;
      void drain().finally(() => {
        draining = false;
      });
    },

    async read(sources) {
      const lagging = sources.filter((source) => known(source).through < source.eventCount);
      let waits = true;
      const all = lagging.map(async (source) => {
        await catchUps.run(source.sessionId, () => catchUp(source));
        // Where appends are missing it would be asked for, and told of, for ever.
        if (!waits && known(source).through >= source.eventCount) onCaughtUp?.(source);
      });
      await withinPatience(Promise.all(all), patienceMs);
      waits = false;
      return sources.map(known);
    },

    flush,

    async close() {
      clearInterval(timer);
      catchUps.close();
      waiting.length = 0;
      await flush();
    },
  };
}

function addEvents(summary: Summary, events: readonly FramedEvent[]): void {
  for (const { eventType, payload } of events) addEvent(summary, eventType, payload);
}

async function addInTurns(summary: Summary, events: readonly FramedEvent[]): Promise<void> {
  let until = performance.now() + LONGEST_TURN_MS;
  for (const { eventType, payload } of events) {
    addEvent(summary, eventType, payload);
    if (performance.now() < until) continue;
    await setImmediate();
    until = performance.now() + LONGEST_TURN_MS;
  }
}

const readStored = ({ through, summary }: NonNullable<SummarySource['stored']>): Derived => ({
  summary: JSON.parse(summary) as Summary,
  through,
});

/** Settles when the work does, or the time is over; what the work fails with is its own business. */
async function withinPatience(work: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, over]).finally(() => clearTimeout(timer));
}
