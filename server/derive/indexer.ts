import { setTimeout as wait } from 'node:timers/promises';
import { Background } from '../background.ts';
import type { Change } from '../ingest/session-log.ts';
import type { Db, SessionFactsRow, SessionRow } from '../store/schema.ts';
import { findBehind, findNewBehind, findOpenBehind } from '../store/sources.ts';
import { deriveSession, type WantsDigests } from './derive-session.ts';
import type { DeriveThread } from './derive-thread.ts';
import { VERSION } from './facts.ts';

/** A session and how far it is derived. */
interface Reached {
  session: SessionRow;
  derived?: Pick<SessionFactsRow, 'version' | 'derived_through'> | undefined;
}

type Target = Pick<Change, 'organizationId' | 'sessionId'>;

export interface IndexerOptions {
  db: Db;
  thread: Pick<DeriveThread, 'derive'>;
  digests?: WantsDigests;
  now: () => number;
  onError: (error: unknown) => void;
  /** Told of each session whose events took too long to derive. */
  onGivenUp?: (() => void) | undefined;
  /** Whether work that nobody waits for leaves half of the time to others; true unless told. */
  rests?: boolean;
  /** Told of a session that was derived. */
  onDerived?: (row: SessionRow) => void;
}

/** Batches of a session that arrive within this time are derived together. */
const GATHER_MS = 100;
/** Sessions derived at the same time: while one is written, the next is read. */
const AT_ONCE = 2;
/** Sessions that are noted. Others are left to `catchUp`, and to the people who read them. */
const MOST_NOTED = 10_000;
/** For how long a session whose events took too long to derive is left alone. */
const REST_MS = 600_000;
const PATIENCE_MS = 300;
const LONGEST_REST_MS = 1_000;
/** A session that waits for longer is noticed by people who look at figures and searches. */
const LAG_MS = 2_000;
/** Clocks of replicas differ, and a session may have been opened while the last look was under way. */
const OVERLAP_MS = 600_000;
/** How often all sessions are checked: one may have failed, been dropped, or lost its derived data. */
const CHECK_ALL_MS = 86_400_000;

/** A wish that a session be derived, until a run takes it. */
interface Wish {
  /** Whether somebody waits for it. */
  isUrgent: boolean;
}

/**
 * Derives what is known of sessions from their events, after those were stored and answered.
 *
 * | a session    | when                          | becomes                                        |
 * | ------------ | ----------------------------- | ---------------------------------------------- |
 * | derived      | `note`: events were stored    | noted                                          |
 * | noted        | 100 ms are over               | wished for, urgent                             |
 * | any          | `reach`: somebody reads it    | wished for, urgent                             |
 * | behind       | `catchUp` finds it            | wished for, not urgent                         |
 * | wished for   | its turn comes                | running: one run of a session at a time        |
 * | wished for   | its organization's queue is full | behind, until it is noted, read or found again |
 * | running      | wished for again              | running, and once more afterwards              |
 * | running      | it reaches the last event     | derived                                        |
 * | running      | it fails, or hangs            | behind                                         |
 */
export class Indexer {
  readonly #options: IndexerOptions;
  readonly #background: Background;
  readonly #noted = new Map<string, Target>();
  readonly #wishes = new Map<string, Wish>();
  readonly #runs = new Set<Promise<void>>();
  /** Sessions that are noted, wished for or running, and since when. */
  readonly #unfinished = new Map<string, { organizationId: string; since: number }>();
  #gathering: NodeJS.Timeout | undefined;
  #catchingUp: Promise<void> | undefined;
  /** When the last complete look began; undefined before the first one. */
  #lookedAt: number | undefined;
  /** When the last complete look at all sessions began. */
  #lookedAtAll: number | undefined;
  #mayBeBehind = true;

  constructor(options: IndexerOptions) {
    this.#options = options;
    const { onError, onGivenUp } = options;
    this.#background = new Background({ atOnce: AT_ONCE, onError, onGivenUp, restMs: REST_MS });
  }

  /** Has the session derived soon. Costs the append nothing. */
  note({ organizationId, sessionId }: Target): void {
    if (this.#isClosed || this.#noted.size >= MOST_NOTED) return;
    // Without the events of the change: they would stay in memory until the session's turn comes.
    this.#noted.set(sessionId, { organizationId, sessionId });
    this.#noteUnfinished({ organizationId, sessionId });
    this.#gathering ??= setTimeout(() => void this.#runNoted(), GATHER_MS).unref();
  }

  /**
   * Derives the sessions through their last events; settles when that is done, or the time is over.
   * @returns whether any of them was behind
   */
  async reach(sessions: readonly Reached[], patienceMs = PATIENCE_MS): Promise<boolean> {
    const behind = sessions.filter(({ session, derived }) => {
      const isKnown = derived !== undefined && derived.version >= VERSION;
      return !isKnown || derived.derived_through < session.event_count;
    });
    if (behind.length === 0) return false;
    const all = behind.map(({ session }) => {
      return this.#run({ organizationId: session.organization_id, sessionId: session.session_id }, true);
    });
    await withinPatience(Promise.all(all), patienceMs);
    return true;
  }

  /**
   * Derives what other processes and failures have left; settles when nothing is behind. It looks at all sessions the
   * first time and once a day, otherwise at those that may have changed.
   */
  catchUp(): Promise<void> {
    this.#catchingUp ??= this.#catchUp()
      .catch((error) => {
        if (!this.#isClosed) this.#options.onError(error);
      })
      .finally(() => {
        this.#catchingUp = undefined;
      });
    return this.#catchingUp;
  }

  /**
   * Whether derived data of the organization may lack sessions: some have waited for a while, or a look at all sessions is not
   * over.
   */
  isCatchingUp(organizationId: string): boolean {
    const latest = this.#options.now() - LAG_MS;
    const isLate = (session: { organizationId: string; since: number }) =>
      session.organizationId === organizationId && session.since < latest;
    return this.#mayBeBehind || this.#unfinished.values().some(isLate);
  }

  /** Sessions that were noted and are not derived yet. */
  waiting(): number {
    return this.#noted.size + this.#runs.size;
  }

  async close(): Promise<void> {
    clearTimeout(this.#gathering);
    await this.#background.close();
  }

  get #isClosed(): boolean {
    return this.#background.signal.aborted;
  }

  async #runNoted(): Promise<void> {
    this.#gathering = undefined;
    const all = [...this.#noted.values()];
    this.#noted.clear();
    await Promise.all(all.map((session) => this.#run(session, true)));
  }

  async #run(session: Target, isUrgent: boolean): Promise<void> {
    const running = this.#runUntilTaken(session, isUrgent);
    this.#runs.add(running);
    this.#noteUnfinished(session);
    await running.finally(() => {
      this.#runs.delete(running);
      if (!this.#noted.has(session.sessionId)) this.#unfinished.delete(session.sessionId);
    });
  }

  #noteUnfinished({ organizationId, sessionId }: Target): void {
    if (this.#unfinished.has(sessionId)) return;
    this.#unfinished.set(sessionId, { organizationId, since: this.#options.now() });
  }

  async #runUntilTaken(session: Target, isUrgent: boolean): Promise<void> {
    const { organizationId, sessionId } = session;
    const wish = this.#wishes.get(sessionId) ?? { isUrgent };
    wish.isUrgent ||= isUrgent;
    this.#wishes.set(sessionId, wish);
    const begin = () =>
      this.#background.run(sessionId, (signal) => this.#derive(session, signal), { group: organizationId });
    await begin();
    // The run may have looked for wishes just before this one was made.
    if (this.#wishes.get(sessionId) === wish) await begin();
    // There was no room for it.
    if (this.#wishes.get(sessionId) === wish) this.#wishes.delete(sessionId);
  }

  /** Derives a session until nobody wishes for it any more. */
  async #derive({ organizationId, sessionId }: Target, signal: AbortSignal): Promise<void> {
    const { db, thread, digests, now, rests = true, onDerived } = this.#options;
    for (let wish = this.#take(sessionId); wish !== undefined && !signal.aborted; wish = this.#take(sessionId)) {
      const taken = wish;
      const isUrgent = () => taken.isUrgent || this.#wishes.get(sessionId)?.isUrgent === true;
      const rest = createRest(() => !rests || isUrgent(), signal);
      const options = { db, derive: thread.derive, digests, now, rest, signal };
      const begunAt = now();
      const row = await deriveSession(options, organizationId, sessionId);
      // Only events that came after this run began still wait.
      const unfinished = this.#unfinished.get(sessionId);
      if (unfinished) unfinished.since = Math.max(unfinished.since, begunAt);
      if (row && isUrgent()) onDerived?.(row);
    }
  }

  #take(sessionId: string): Wish | undefined {
    const wish = this.#wishes.get(sessionId);
    this.#wishes.delete(sessionId);
    return wish;
  }

  async #catchUp(): Promise<void> {
    const { db, now } = this.#options;
    const begunAt = now();
    const isDue = this.#lookedAtAll === undefined || begunAt - this.#lookedAtAll >= CHECK_ALL_MS;
    const since = isDue ? undefined : this.#lookedAt;
    const looks =
      since === undefined
        ? [(before?: string) => findBehind(db, VERSION, before)]
        : [
            (before?: string) => findOpenBehind(db, VERSION, before),
            (after?: string) => findNewBehind(db, VERSION, since - OVERLAP_MS, after),
          ];
    for (const look of looks) {
      let place: string | undefined;
      do {
        const { behind, next } = await look(place);
        this.#mayBeBehind ||= behind.length > 0;
        for (const session of behind) {
          if (this.#isClosed) return;
          await this.#run(session, false);
        }
        place = next;
      } while (place !== undefined && !this.#isClosed);
    }
    if (this.#isClosed) return;
    this.#lookedAt = begunAt;
    if (isDue) this.#lookedAtAll = begunAt;
    this.#mayBeBehind = false;
  }
}

/** Rests between two slices that nobody waits for, for as long as the last one took: others get half of the time. */
function createRest(isQuick: () => boolean, signal: AbortSignal): () => Promise<void> {
  let since = performance.now();
  return async () => {
    const took = Math.min(LONGEST_REST_MS, performance.now() - since);
    if (!isQuick()) await wait(took, undefined, { signal }).catch(() => undefined);
    since = performance.now();
  };
}

/** Settles when the work does, or when the time is over. */
async function withinPatience(work: Promise<unknown>, ms: number): Promise<void> {
  const over = new AbortController();
  await Promise.race([work, wait(ms, undefined, { signal: over.signal }).catch(() => undefined)]);
  over.abort();
}
