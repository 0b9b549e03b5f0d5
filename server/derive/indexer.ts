import { setTimeout as wait } from 'node:timers/promises';
import { Background } from '../background.ts';
import type { Change } from '../ingest/session-log.ts';
import type { Db } from '../store/open.ts';
import type { SessionFactsRow, SessionRow } from '../store/schema.ts';
import { findBehind } from '../store/sources.ts';
import { VERSION } from './piece.ts';
import { deriveSession } from './session.ts';
import type { DeriveThread } from './thread.ts';

/** Derives what is known of sessions from their events, after those were stored and answered. */
export interface Indexer {
  /** Has the session derived soon. Costs the append nothing. */
  note(change: Target): void;
  /**
   * Derives the sessions through their last events; settles when that is done, or the time is over.
   * @returns whether any of them was behind
   */
  reach(sessions: readonly Reached[], patienceMs?: number): Promise<boolean>;
  /** Derives what an earlier process has left, and others in between; settles when nothing is behind. */
  catchUp(): Promise<void>;
  /** Whether sessions may be behind of which nobody has told. */
  isCatchingUp(): boolean;
  /** Sessions that were noted and are not derived yet. */
  waiting(): number;
  close(): Promise<void>;
}

/** A session and how far it is derived. */
interface Reached {
  session: SessionRow;
  derived?: Pick<SessionFactsRow, 'version' | 'derived_through'> | undefined;
}

type Target = Pick<Change, 'organizationId' | 'sessionId'>;

export interface IndexerOptions {
  db: Db;
  thread: Pick<DeriveThread, 'derive'>;
  now: () => number;
  onError: (error: unknown) => void;
  /** Told of each session whose events took too long to derive. */
  onGivenUp?: (() => void) | undefined;
  /** Whether what nobody waits for leaves half of the time to others; true unless told. */
  rests?: boolean;
  /** Told of a session that was derived. */
  onDerived?: (row: SessionRow) => void;
}

/** Batches of a session that come within this time are derived together. */
const GATHER_MS = 100;
/** Sessions at the same time: while one is written, the next is read. */
const AT_ONCE = 2;
/** Beyond, sessions are left to `catchUp` and to who reads them. */
const MOST_NOTED = 10_000;
/** For how long a session whose events took too long to derive is left alone. */
const REST_MS = 600_000;
const PATIENCE_MS = 300;
const LONGEST_REST_MS = 1_000;

export function createIndexer(options: IndexerOptions): Indexer {
  const { db, thread, now, onError, onGivenUp, onDerived } = options;
  const { derive } = thread;
  const background = new Background({ atOnce: AT_ONCE, onError, onGivenUp, restMs: REST_MS });
  const noted = new Map<string, Target>();
  /** Sessions that are to be derived, and whether somebody waits for it. */
  const wanted = new Map<string, boolean>();
  const runs = new Set<Promise<void>>();
  let timer: NodeJS.Timeout | undefined;
  let caughtUp: Promise<void> | undefined;
  /** Until it was looked everything may be behind. */
  let mayBeBehind = true;

  /** One after the other for each session: what is wanted while it is derived is derived by the same run. */
  async function run(session: Target, isAsked: boolean): Promise<void> {
    const { organizationId, sessionId } = session;
    wanted.set(sessionId, isAsked || (wanted.get(sessionId) ?? false));
    const work = async (signal: AbortSignal) => {
      for (let asked = take(sessionId); asked !== undefined && !signal.aborted; asked = take(sessionId)) {
        const isUrgent = () => asked || wanted.get(sessionId) === true;
        const isQuick = () => options.rests === false || isUrgent();
        const rest = createRest(isQuick, signal);
        const row = await deriveSession({ db, derive, now, rest, signal }, organizationId, sessionId);
        if (row && isUrgent()) onDerived?.(row);
      }
    };
    const running = background.run(sessionId, work, { group: organizationId }).then(() => {
      // It was just over when this was asked for.
      return wanted.has(sessionId) ? background.run(sessionId, work, { group: organizationId }) : undefined;
    });
    runs.add(running);
    await running.finally(() => runs.delete(running));
  }

  function take(sessionId: string): boolean | undefined {
    const asked = wanted.get(sessionId);
    wanted.delete(sessionId);
    return asked;
  }

  async function runNoted(): Promise<void> {
    timer = undefined;
    const all = [...noted.values()];
    noted.clear();
    await Promise.all(all.map((session) => run(session, true)));
  }

  async function catchUpNow(): Promise<void> {
    let before: string | undefined;
    do {
      const { behind, next } = await findBehind(db, VERSION, before);
      mayBeBehind ||= behind.length > 0;
      for (const session of behind) {
        if (background.signal.aborted) return;
        await run(session, false);
      }
      before = next;
    } while (before !== undefined && !background.signal.aborted);
    mayBeBehind = false;
  }

  return {
    note(session) {
      if (background.signal.aborted || noted.size >= MOST_NOTED) return;
      noted.set(session.sessionId, session);
      timer ??= setTimeout(() => void runNoted(), GATHER_MS).unref();
    },

    async reach(sessions, patienceMs = PATIENCE_MS) {
      const behind = sessions.filter(({ session, derived }) => {
        const isKnown = derived !== undefined && derived.version >= VERSION;
        return !isKnown || derived.derived_through < session.event_count;
      });
      if (behind.length === 0) return false;
      const all = behind.map(({ session }) => {
        return run({ organizationId: session.organization_id, sessionId: session.session_id }, true);
      });
      await withinPatience(Promise.all(all), patienceMs);
      return true;
    },

    catchUp() {
      caughtUp ??= catchUpNow()
        .catch((error) => {
          if (!background.signal.aborted) onError(error);
        })
        .finally(() => {
          caughtUp = undefined;
        });
      return caughtUp;
    },

    isCatchingUp: () => mayBeBehind,

    waiting: () => noted.size + runs.size,

    async close() {
      clearTimeout(timer);
      await background.close();
    },
  };
}

/** Between two pieces that nobody waits for: as long as the last one took, so that others have half of the time. */
function createRest(isQuick: () => boolean, signal: AbortSignal): () => Promise<void> {
  let since = performance.now();
  return async () => {
    const took = Math.min(LONGEST_REST_MS, performance.now() - since);
    if (!isQuick()) await wait(took, undefined, { signal }).catch(() => undefined);
    since = performance.now();
  };
}

/** Settles when the work does, or the time is over; what the work fails with is its own business. */
async function withinPatience(work: Promise<unknown>, ms: number): Promise<void> {
  const over = new AbortController();
  await Promise.race([work, wait(ms, undefined, { signal: over.signal }).catch(() => undefined)]);
  over.abort();
}
