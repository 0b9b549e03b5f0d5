import { setTimeout as wait } from 'node:timers/promises';
import { Background } from '../background.ts';
import type { SessionChanged } from '../ingest/session-log.ts';
import { naming } from '../log/damaged.ts';
import type { Db, SessionFactsRow, SessionRow } from '../store/schema.ts';
import { findBehind, findNewBehind, findOpenBehind, isAnyBehind } from '../store/sources.ts';
import { asService } from '../store/tenant.ts';
import { Once } from '../work.ts';
import { deriveSession } from './derive-session.ts';
import type { DeriveThread } from './derive-thread.ts';

/** A session, and how far it is derived. */
interface Reached {
  session: SessionRow;
  derived?: Pick<SessionFactsRow, 'version' | 'derived_through'> | undefined;
}

type Target = Pick<SessionChanged, 'organizationId' | 'sessionId'>;

/** A session whose time to be derived has not come. */
interface Noted extends Target {
  /** By the monotonic clock, in milliseconds. */
  dueAt: number;
  /** Since when it counts as waiting, by the clock of the service. */
  since: number;
  /** Events that arrived since it was noted. */
  events: number;
}

export interface IndexerOptions {
  db: Db;
  thread: Pick<DeriveThread, 'derive'>;
  /** The version of derived data; see `version.ts`. */
  version: number;
  now: () => number;
  onError: (error: unknown) => void;
  /** Whether the session's events are damaged, so that it is left alone. */
  isDamaged?: (sessionId: string) => boolean;
  /** Called for each session whose events took too long to derive. */
  onGivenUp?: (() => void) | undefined;
  /** Whether work that nobody waits for leaves half of the time to other work; true by default. */
  rests?: boolean;
  /** Called for each session that was derived. */
  onDerived?: (row: SessionRow) => void;
  /** How long an open session waits for more events; 20 seconds by default. */
  gatherOpenMs?: number;
}

/** Batches of a session that arrive within this time are derived together. */
const GATHER_MS = 100;
/**
 * Deriving a session writes its facts, its figures and its open chunk again: some 100 KiB for an event of 1 KiB. So the events of
 * an open session that nobody reads are derived together.
 */
const GATHER_OPEN_MS = 20_000;
/** So many events are derived without waiting for more: a whole slice, in which few rows are written twice. */
const ENOUGH_EVENTS = 256;
/** The number of sessions that are derived at the same time: while one is written, the next one is read. */
const AT_ONCE = 2;
/** The most noted sessions. `catchUp` and readers find the others. */
const MAX_NOTED = 10_000;
/** How long a session is left alone after its events took too long to derive. */
const REST_MS = 600_000;
const PATIENCE_MS = 300;
/** How long a reader waits for the store to answer whether sessions are behind. */
const QUESTION_PATIENCE_MS = 100;
const MAX_REST_MS = 1_000;
/** If a session waits longer than this, people who look at figures and searches notice it. */
const LAG_MS = 2_000;
/** Clocks of replicas differ, and a session may have been opened during the last check. */
const OVERLAP_MS = 600_000;
/** How often all sessions are checked: a session may have failed, been dropped, or lost its derived data. */
const CHECK_ALL_MS = 86_400_000;

/** The most noted sessions that one search derives. The others stay noted: the queue of their organization would drop some. */
const MAX_REACHED = 200;

/** A request to derive a session. It exists until a run takes it. */
interface DeriveRequest {
  /** Whether somebody waits for it. */
  isUrgent: boolean;
}

/**
 * Derives the facts of sessions from their events, after the events were stored and acknowledged.
 *
 * | a session    | when                          | becomes                                        |
 * | ------------ | ----------------------------- | ---------------------------------------------- |
 * | derived      | `note`: events were stored    | noted                                          |
 * | noted        | 20 s have passed, or 100 ms since its first append, its end or its 256th new event | requested, urgent |
 * | noted        | `reachNoted`: somebody searches, or reads figures of its organization | requested, urgent |
 * | any          | `reach`: somebody reads it    | requested, urgent                              |
 * | behind       | `catchUp` finds it            | requested, not urgent                          |
 * | requested    | its turn comes                | running: one run of a session at a time        |
 * | requested    | its organization's queue is full | behind, until it is noted, read or found again |
 * | running      | requested again               | running, and once more afterwards              |
 * | running      | it reaches the last event     | derived                                        |
 * | running      | it fails, or hangs            | behind                                         |
 * | behind       | its events are damaged        | behind; it is left alone for an hour           |
 */
export class Indexer {
  readonly #options: IndexerOptions;
  readonly #background: Background;
  readonly #noted = new Map<string, Noted>();
  readonly #requests = new Map<string, DeriveRequest>();
  readonly #runs = new Set<Promise<void>>();
  /** Sessions that are requested or running, and since when they wait. */
  readonly #unfinished = new Map<string, { organizationId: string; since: number }>();
  #gathering: NodeJS.Timeout | undefined;
  /** When the timer ends, by the monotonic clock. */
  #gatheringUntil = 0;
  #catchingUp: Promise<void> | undefined;
  /** When the last complete check began; undefined before the first one. */
  #lookedAt: number | undefined;
  /** When the last complete check of all sessions began. */
  #lookedAtAll: number | undefined;
  /** Sessions that the running check has found behind and not derived yet: the rest of one page. */
  #found: Target[] = [];
  /**
   * Organizations that had no session behind when the store was asked. Needed until the first check of all sessions has ended.
   */
  readonly #upToDate = new Set<string>();
  readonly #asking = new Once<boolean>();

  constructor(options: IndexerOptions) {
    this.#options = options;
    const { onError, onGivenUp } = options;
    this.#background = new Background({ atOnce: AT_ONCE, onError, onGivenUp, restMs: REST_MS });
  }

  /**
   * Makes the indexer derive the session: soon, or together with later events if it is open and only grows. This costs the append
   * nothing.
   */
  note({ organizationId, sessionId, ...change }: Target & Partial<SessionChanged>): void {
    const known = this.#noted.get(sessionId);
    if (this.#isClosed || (!known && this.#noted.size >= MAX_NOTED)) return;
    const { gatherOpenMs = GATHER_OPEN_MS, now } = this.#options;
    // The events of the change are not kept here: they would stay in memory until the session's turn comes.
    const events = (known?.events ?? 0) + (change.events?.length ?? 0);
    const later = onlyGrows(change) && events < ENOUGH_EVENTS ? gatherOpenMs : 0;
    const dueAt = Math.min(known?.dueAt ?? Number.POSITIVE_INFINITY, performance.now() + GATHER_MS + later);
    const since = Math.min(known?.since ?? Number.POSITIVE_INFINITY, now() + later);
    this.#noted.set(sessionId, { organizationId, sessionId, dueAt, since, events });
    this.#gather(dueAt);
  }

  /**
   * Derives the sessions through their last events. Settles when that is done, or the time is over.
   * @returns whether any of them was behind
   */
  async reach(sessions: readonly Reached[], patienceMs = PATIENCE_MS): Promise<boolean> {
    const { version } = this.#options;
    const behind = sessions.filter(({ session, derived }) => {
      const isKnown = derived !== undefined && derived.version >= version;
      return !isKnown || derived.derived_through < session.event_count;
    });
    if (behind.length === 0) return false;
    const all = behind.map(({ session }) => {
      return this.#run({ organizationId: session.organization_id, sessionId: session.session_id }, true);
    });
    await withinPatience(Promise.all(all), patienceMs);
    return true;
  }

  /** Derives noted sessions of the organization, the longest noted first. Settles when that is done, or the time is over. */
  async reachNoted(organizationId: string, patienceMs = QUESTION_PATIENCE_MS): Promise<void> {
    const isOf = (session: Noted) => session.organizationId === organizationId;
    const noted = [...this.#noted.values().filter(isOf).take(MAX_REACHED)];
    if (noted.length > 0) await withinPatience(this.#runNoted(noted), patienceMs);
  }

  /**
   * Derives the sessions that other processes and failures left behind. Settles when nothing is behind. It checks all sessions
   * the first time and once a day, otherwise only those that may have changed.
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
   * Whether derived data of the organization may lack sessions: some have waited for a while, a check has found some, or the first
   * check has not ended and the earliest or latest sessions are behind. Until the store has answered, the answer is yes.
   */
  async isCatchingUp(organizationId: string): Promise<boolean> {
    const { db, version, now } = this.#options;
    const latest = now() - LAG_MS;
    const isLate = (session: { organizationId: string; since: number }) =>
      session.organizationId === organizationId && session.since < latest;
    if (this.#unfinished.values().some(isLate) || this.#noted.values().some(isLate)) return true;
    if (this.#found.some((session) => session.organizationId === organizationId)) return true;
    if (this.#lookedAtAll !== undefined || this.#upToDate.has(organizationId)) return false;
    // One question to the store serves everyone who opens the dashboard after a start. It includes sessions that they may not
    // see.
    const asked = this.#asking.run(organizationId, async () => {
      const isBehind = await asService(() => isAnyBehind(db, version, organizationId));
      if (!isBehind) this.#upToDate.add(organizationId);
      return isBehind;
    });
    // A busy store may need seconds. Nobody waits for that.
    let isBehind = true;
    const answer = asked.then((answered) => {
      isBehind = answered;
    });
    await withinPatience(answer, QUESTION_PATIENCE_MS);
    return isBehind;
  }

  /** The number of sessions that are noted but not yet derived. */
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

  #gather(dueAt: number): void {
    if (this.#gathering !== undefined && this.#gatheringUntil <= dueAt) return;
    clearTimeout(this.#gathering);
    // Sessions whose times lie close together are due together, so that the noted ones are not searched for each of them.
    const ms = Math.max(GATHER_MS, dueAt - performance.now());
    this.#gatheringUntil = performance.now() + ms;
    this.#gathering = setTimeout(() => void this.#runDue(), ms).unref();
  }

  async #runDue(): Promise<void> {
    this.#gathering = undefined;
    const due = Map.groupBy(this.#noted.values(), ({ dueAt }) => dueAt <= this.#gatheringUntil);
    const later = due.get(false) ?? [];
    if (later.length > 0) this.#gather(later.reduce((at, { dueAt }) => Math.min(at, dueAt), Number.POSITIVE_INFINITY));
    await this.#runNoted(due.get(true) ?? []);
  }

  async #runNoted(sessions: readonly Noted[]): Promise<void> {
    for (const { sessionId } of sessions) this.#noted.delete(sessionId);
    await Promise.all(sessions.map((session) => this.#run(session, true, session.since)));
  }

  async #run(session: Target, isUrgent: boolean, since = this.#options.now()): Promise<void> {
    if (this.#options.isDamaged?.(session.sessionId)) return;
    const running = this.#runUntilTaken(session, isUrgent);
    this.#runs.add(running);
    if (!this.#unfinished.has(session.sessionId)) {
      this.#unfinished.set(session.sessionId, { organizationId: session.organizationId, since });
    }
    await running.finally(() => {
      this.#runs.delete(running);
      this.#unfinished.delete(session.sessionId);
    });
  }

  async #runUntilTaken(session: Target, isUrgent: boolean): Promise<void> {
    const { organizationId, sessionId } = session;
    const request = this.#requests.get(sessionId) ?? { isUrgent };
    request.isUrgent ||= isUrgent;
    this.#requests.set(sessionId, request);
    const begin = () =>
      this.#background.run(sessionId, (signal) => this.#derive(session, signal), { group: organizationId });
    await begin();
    // The run may have taken requests just before this one was made.
    if (this.#requests.get(sessionId) === request) await begin();
    // The queue had no room for it.
    if (this.#requests.get(sessionId) === request) this.#requests.delete(sessionId);
  }

  /** Derives a session until no request for it is left. */
  async #derive({ organizationId, sessionId }: Target, signal: AbortSignal): Promise<void> {
    const { db, thread, version, now, rests = true, onDerived } = this.#options;
    for (let next = this.#take(sessionId); next !== undefined && !signal.aborted; next = this.#take(sessionId)) {
      const taken = next;
      const isUrgent = () => taken.isUrgent || this.#requests.get(sessionId)?.isUrgent === true;
      const rest = createRest(() => !rests || isUrgent(), signal);
      const options = { db, derive: thread.derive, version, now, rest, signal };
      const begunAt = now();
      const row = await naming({ organizationId, sessionId }, () => deriveSession(options, organizationId, sessionId));
      // Only events that arrived after this run began still wait.
      const unfinished = this.#unfinished.get(sessionId);
      if (unfinished) unfinished.since = Math.max(unfinished.since, begunAt);
      if (row && isUrgent()) onDerived?.(row);
    }
  }

  #take(sessionId: string): DeriveRequest | undefined {
    const request = this.#requests.get(sessionId);
    this.#requests.delete(sessionId);
    return request;
  }

  async #catchUp(): Promise<void> {
    const { db, now, version } = this.#options;
    const begunAt = now();
    this.#upToDate.clear();
    const isDue = this.#lookedAtAll === undefined || begunAt - this.#lookedAtAll >= CHECK_ALL_MS;
    const since = isDue ? undefined : this.#lookedAt;
    const looks =
      since === undefined
        ? [(before?: string) => findBehind(db, version, before)]
        : [
            (before?: string) => findOpenBehind(db, version, before),
            (after?: string) => findNewBehind(db, version, since - OVERLAP_MS, after),
          ];
    for (const look of looks) {
      let place: string | undefined;
      do {
        const { behind, next } = await look(place);
        this.#found = behind;
        for (let session = behind.shift(); session; session = behind.shift()) {
          if (this.#isClosed) return;
          await this.#run(session, false);
        }
        place = next;
      } while (place !== undefined && !this.#isClosed);
    }
    if (this.#isClosed) return;
    this.#lookedAt = begunAt;
    if (isDue) this.#lookedAtAll = begunAt;
  }
}

/** Whether the change adds events to a session that was read before and may get more. */
const onlyGrows = ({ status, eventCount = 0, events }: Partial<SessionChanged>): boolean =>
  status === 'active' && events !== undefined && eventCount > events.length;

/**
 * Between two slices that nobody waits for, rests as long as the last slice took. Other work therefore gets half of the time.
 */
function createRest(isQuick: () => boolean, signal: AbortSignal): () => Promise<void> {
  let since = performance.now();
  return async () => {
    const took = Math.min(MAX_REST_MS, performance.now() - since);
    if (!isQuick()) await wait(took, undefined, { signal }).catch(() => undefined);
    since = performance.now();
  };
}

/** Settles when the work settles, or when the time is over. */
async function withinPatience(work: Promise<unknown>, ms: number): Promise<void> {
  const over = new AbortController();
  await Promise.race([work, wait(ms, undefined, { signal: over.signal }).catch(() => undefined)]);
  over.abort();
}
