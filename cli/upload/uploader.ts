import { type BulkResult, MAX_BATCHES_AT_ONCE, MAX_SESSIONS_AT_ONCE } from '../../contract/capture.ts';
import type { ProblemCode } from '../../contract/problem.ts';
import { contentSizeOf } from '../../contract/zstd-frame.ts';
import { describe, EXIT, Failure } from '../failure.ts';
import type { Batch, SendingOrder } from '../spool/batches.ts';
import type { Deferral } from '../spool/deferrals.ts';
import type { Spool } from '../spool/open.ts';
import type { SessionRow } from '../spool/sessions.ts';
import { followSent } from './chains.ts';
import { createElsewhere } from './elsewhere.ts';
import type { KnownEvent } from './known-events.ts';
import { explainRefusal, notYet, tellBlocked } from './problem.ts';
import { createAppender, type Outcome, type RefusedEvent } from './refusals.ts';
import { NotHiddenYet, Withdrawn } from './restriction.ts';
import type { Append } from './service.ts';
import { createServiceSessions, type SessionsOptions } from './sessions.ts';

/*
 * The states of a session that has something to send. They are a column of the spool (`spool/deferrals.ts`), so a crash
 * loses none and `capture status` reads them. Only `busy` is in memory: after a crash the request is sent again, and the service
 * recognises its keys.
 *
 * | state | meaning | what ends it |
 * | --- | --- | --- |
 * | waiting | its batches go into the next request with room for them | they are sent, and it becomes busy |
 * | busy | a request for it is in progress | the answer: waiting, deferred or refused |
 * | deferred, why, until | the service, or a proxy on the way, does not accept the session's events | the time `until`, or `capture import` |
 * | refused, why, until | the service refused an event and has accepted no other, so the service may be at fault | the service accepts another event; an event that is refused again is set aside. Otherwise as for deferred |
 *
 * Beside its state, a session may be *sent elsewhere*: the service has events of it that this spool did not send. The sender
 * looks each event up at the service before it sends it (`elsewhere.ts`).
 */

export interface UploaderOptions extends SessionsOptions {
  signal: AbortSignal;
  /** The agents without a running process on this machine. Called when there is nothing to send. */
  findStopped?: () => readonly string[];
  /** One request at a time runs for each order. By default, live sessions are sent beside a backlog. */
  orders?: readonly SendingOrder[];
  onSent?: (events: number) => void;
  /** Called before each request. While it returns true, nothing is sent. */
  isPaused?: () => boolean;
}

/** The size limit of a request, in decoded bytes. The backlog is sent in large requests; the newest events must not wait long. */
const REQUEST_SIZE: Record<SendingOrder, number> = { oldest: 3 * 1024 * 1024, newest: 256 * 1024 };
/** A session that was written to within this time does not wait behind a backlog. */
const LIVE_MS = 5 * 60 * 1000;
/** The delay is short, because until then people see a session that they should not see. */
const HIDE_AGAIN_MS = 10_000;
/** Codes that may change in a moment. */
const NOT_YET = new Set(['idempotency_in_progress', 'rate_limited', 'service_unavailable', 'internal']);
/**
 * How often in a row the service may report that a session is completed or unknown. After that, the session is deferred
 * before each try.
 */
const MAX_REOPENINGS = 3;

/**
 * Sends the spooled events: each session's batches in their order, many sessions per request. One request carries the events
 * that have waited longest. Another one carries the newest events, so that a live session does not wait behind a backlog.
 */
export class Uploader {
  readonly #options: UploaderOptions;
  readonly #spool: Spool;
  readonly #orders: readonly SendingOrder[];
  readonly #elsewhere: ReturnType<typeof createElsewhere>;
  readonly #sessions: ReturnType<typeof createServiceSessions>;
  readonly #append: ReturnType<typeof createAppender>;
  /** Sessions with a request in progress. */
  readonly #busy = new Set<number>();
  /** The number of events of each session of the service that is being sent to. */
  readonly #eventCounts = new Map<string, number>();
  /** Whether the service has accepted an event since this process began. If so, an event that it refuses is invalid. */
  #takesEvents = false;
  #sleepers: (() => void)[] = [];
  #isStopped = false;

  constructor(options: UploaderOptions) {
    const { spool, retry, orders = ['oldest', 'newest'] } = options;
    this.#options = options;
    this.#spool = spool;
    this.#orders = orders;
    this.#elsewhere = createElsewhere(options);
    this.#sessions = createServiceSessions(options, (id) => this.#isAllKnown(id));
    const send = (appends: readonly Append[]) => retry.attempt(() => this.#sendOnce(appends));
    this.#append = createAppender(send, () => this.#noteTaken());
  }

  /** Runs until the signal. Throws errors that a retry cannot fix. */
  async run(): Promise<void> {
    const { signal, now } = this.#options;
    const wake = () => this.wake();
    this.#isStopped = false;
    signal.addEventListener('abort', wake);
    try {
      // Waits for both loops, because a request of the other one will still be answered.
      const ends = await Promise.allSettled(
        this.#orders.map((order) => this.#work(order).catch((error: unknown) => this.#stopAll(error))),
      );
      const failed = ends.find((end) => end.status === 'rejected');
      if (failed) throw failed.reason;
    } catch (error) {
      if (!signal.aborted) {
        this.#spool.setMeta('lastError', `${new Date(now()).toISOString()} ${describe(error)}`);
        throw explainRefusal(error);
      }
    } finally {
      signal.removeEventListener('abort', wake);
    }
  }

  /** Wakes the sender, because there is something new to send. */
  wake(): void {
    const waiting = this.#sleepers;
    this.#sleepers = [];
    for (const resolve of waiting) resolve();
  }

  /** Whether nothing can be sent or completed for now. */
  isIdle(): boolean {
    return (
      this.#busy.size === 0 &&
      this.#findWaiting('oldest').length === 0 &&
      this.#findOver().length + this.#findOverexposed().length === 0
    );
  }

  async #work(order: SendingOrder): Promise<void> {
    const { signal, isPaused } = this.#options;
    while (!this.#isStopped && !signal.aborted) {
      const isAwake = !isPaused?.();
      const waiting = isAwake ? this.#findWaiting(order) : [];
      const over = isAwake && waiting.length === 0 && order === 'oldest' ? this.#findOver() : [];
      const overexposed =
        isAwake && waiting.length + over.length === 0 && order === 'oldest' ? this.#findOverexposed() : [];
      if (waiting.length + over.length + overexposed.length === 0) {
        await new Promise<void>((resolve) => this.#sleepers.push(resolve));
        continue;
      }
      // If these were released early, the other loop could take a session before the end.
      const mine = new Set([...waiting, ...over, ...overexposed]);
      const release = (id: number) => void (mine.delete(id) && this.#busy.delete(id));
      for (const id of mine) this.#busy.add(id);
      try {
        if (waiting.length > 0) await this.#send(order, waiting, release);
        else if (over.length > 0) await this.#sessions.complete(over);
        else this.#deferAll(await this.#sessions.hide(overexposed));
      } catch (error) {
        // Known events that these requests used must be found again.
        for (const id of mine) this.#elsewhere.forget(id);
        if (!(error instanceof Withdrawn)) throw error;
      } finally {
        for (const id of mine) this.#busy.delete(id);
        // The other loop may send or complete these sessions now.
        this.wake();
      }
    }
  }

  #stopAll(error: unknown): never {
    this.#isStopped = true;
    this.wake();
    throw error;
  }

  #findWaiting(order: SendingOrder): number[] {
    const now = this.#options.now();
    const changedSince = order === 'newest' ? now - LIVE_MS : 0;
    return this.#spool.batches.waiting({
      order,
      limit: MAX_SESSIONS_AT_ONCE,
      changedSince,
      without: [...this.#busy],
      now,
    });
  }

  #findOver(): number[] {
    const { now, findStopped = () => [] } = this.#options;
    const over = this.#spool.sessions.completable(now(), findStopped(), MAX_SESSIONS_AT_ONCE);
    return over.filter((id) => !this.#busy.has(id));
  }

  /** Sent sessions that a person has hidden since. */
  #findOverexposed(): number[] {
    return this.#spool.sessions
      .overexposed(this.#options.now(), MAX_SESSIONS_AT_ONCE)
      .filter((id) => !this.#busy.has(id));
  }

  async #send(order: SendingOrder, ids: readonly number[], release: (id: number) => void): Promise<void> {
    const refused = await this.#sessions.open(ids);
    this.#deferAll(refused);
    const batches = await this.#gather(
      order,
      ids.filter((id) => !refused.has(id)),
    );
    // Sessions that did not fit into the request need not wait for its answer.
    const included = new Set(batches.map(({ session }) => session));
    for (const id of ids) if (!included.has(id)) release(id);
    const appends: Append[] = [];
    const taken: (readonly KnownEvent[])[] = [];
    const known: Batch[] = [];
    for (const batch of batches) {
      const part = this.#elsewhere.removeKnown(batch);
      if (part.rest === undefined) known.push(batch);
      else {
        appends.push(this.#toAppend(batch, part.rest));
        taken.push(part.taken);
      }
    }
    const outcomes = appends.length > 0 ? await this.#append(appends) : [];
    this.#spool.transact(() => {
      for (const batch of known) this.#remove(batch, 0, batch.events);
      for (const [index, append] of appends.entries()) {
        this.#noteOutcome(append, outcomes[index] as Outcome);
        if (this.#spool.batches.has(append.batch.id)) this.#elsewhere.giveBack(taken[index] ?? []);
      }
      this.#spool.setMeta('lastUploadAt', String(this.#options.now()));
    });
    for (const { sessionId } of appends) this.#eventCounts.delete(sessionId);
    this.#elsewhere.forgetMet(ids);
  }

  /** Batches of open sessions, as many as fit into a request. */
  async #gather(order: SendingOrder, ids: readonly number[]): Promise<Batch[]> {
    const batches: Batch[] = [];
    let size = 0;
    for (const [index, id] of ids.entries()) {
      const { state, sentElsewhere } = this.#spool.sessions.get(id);
      if (state !== 'open') continue;
      if (sentElsewhere) await this.#elsewhere.find(id, ids.slice(index + 1));
      for (const batch of this.#spool.batches.ofSession(id)) {
        const bytes = contentSizeOf(batch.body) ?? 0;
        const isFull = batches.length === MAX_BATCHES_AT_ONCE || (size > 0 && size + bytes > REQUEST_SIZE[order]);
        if (isFull) return batches;
        batches.push(batch);
        size += bytes;
      }
    }
    return batches;
  }

  /** The append of a batch, or of the part of it that the service does not have yet. */
  #toAppend(batch: Batch, { key, events, body, digests, marks }: Batch): Append {
    const { serviceId = '', serviceEvents } = this.#spool.sessions.get(batch.session);
    if (serviceEvents !== undefined) this.#eventCounts.set(serviceId, serviceEvents);
    return { batch, sessionId: serviceId, key, events, body, digests, marks };
  }

  async #sendOnce(appends: readonly Append[]): Promise<BulkResult[]> {
    // The appends may have waited here for hours.
    if (!appends.every(({ batch }) => this.#spool.batches.has(batch.id))) throw new Withdrawn();
    const ids = new Set(appends.flatMap(({ sessionId }) => this.#spool.sessions.findByServiceId(sessionId) ?? []));
    for (const id of ids) this.#sessions.checkRequest(id);
    const sent = this.#options.service.append(this.#expecting(appends));
    const results = await sent.catch((error) => Promise.reject(tellBlocked(error)));
    for (const { sessionId, lastSequence = 0 } of results) this.#raise(sessionId, lastSequence);
    this.#spool.transact(() => {
      for (const [index, append] of appends.entries()) followSent(this.#spool, append, results[index] as BulkResult);
    });
    // The answer for a session's first batch counts for the session; the service did not try the others.
    const firsts = new Map([...results].reverse().map((result) => [result.sessionId, result]));
    const waiting = [...firsts.values()].filter(({ code }) => code !== undefined && NOT_YET.has(code));
    if (waiting.length < firsts.size) return results;
    const [{ code, error = '' } = {}] = waiting;
    throw notYet(code as ProblemCode, error);
  }

  /** Each append expects the event count after the one before it. */
  #expecting(appends: readonly Append[]): Append[] {
    const next = new Map(this.#eventCounts);
    return appends.map((append) => {
      const expectedEvents = next.get(append.sessionId);
      if (expectedEvents !== undefined) next.set(append.sessionId, expectedEvents + append.events);
      return { ...append, expectedEvents };
    });
  }

  #raise(sessionId: string, count: number): void {
    const known = this.#eventCounts.get(sessionId);
    if (known !== undefined) this.#eventCounts.set(sessionId, Math.max(known, count));
  }

  #noteOutcome({ batch, sessionId, events: sent }: Append, outcome: Outcome): void {
    const { session, events } = batch;
    const { sessions, deferrals } = this.#spool;
    const count = outcome.kind === 'answered' ? undefined : this.#eventCounts.get(sessionId);
    if (count !== undefined) {
      sessions.setServiceEvents(session, count);
      this.#elsewhere.accept(session, sessionId, count);
    }
    switch (outcome.kind) {
      case 'answered':
        this.#noteAnswer(session, outcome);
        break;
      case 'accepted':
        deferrals.end(session);
        this.#remove(batch, sent, events - sent);
        break;
      case 'refused':
        if (this.#takesEvents) this.#setAside(batch, outcome.events);
        else this.#defer(session, 'refused', refusedAlone(sessions.get(session), outcome.events));
        break;
      case 'blocked':
        this.#defer(session, 'deferred', blocked(sessions.get(session).agentSession, outcome.problem));
    }
  }

  #noteAnswer(session: number, { code, problem, eventCount }: Extract<Outcome, { kind: 'answered' }>): void {
    const { sessions, deferrals } = this.#spool;
    const hasKey = sessions.get(session).serviceEvents !== undefined;
    if (code === 'session_deleted' && !hasKey) {
      this.#spool.keepBack(session, 'deleted', this.#options.now());
      return;
    }
    if (code === 'quota_reached') this.#defer(session, 'deferred', new Failure(EXIT.failure, problem));
    if (code === 'sequence_mismatch' || code === 'session_closed') this.#elsewhere.suspect(session, eventCount);
    if (eventCount !== undefined) sessions.setServiceEvents(session, eventCount);
    if (code !== 'session_closed' && code !== 'session_deleted' && code !== 'not_found') return;
    if (deferrals.countReopening(session) > MAX_REOPENINGS) {
      this.#defer(session, 'deferred', new Failure(EXIT.failure, problem));
    }
    // This also applies to a deferred session. Otherwise, the same session of the service would be asked for ever, with
    // the same answer.
    if (code === 'session_deleted') {
      // A look-up by its key shows whether a person deleted it or it expired.
      sessions.reset(session);
    } else if (code === 'not_found') {
      // The service has lost the session, for instance because it was restored from a copy.
      sessions.reset(session);
      this.#elsewhere.forget(session);
    } else sessions.close(session);
  }

  #deferAll(refused: ReadonlyMap<number, Failure>): void {
    if (refused.size === 0) return;
    this.#spool.transact(() => {
      for (const [id, failure] of refused) this.#defer(id, 'deferred', failure);
    });
  }

  #defer(session: number, state: Deferral['state'], failure: Failure): void {
    const { message: sentence, hint, exitCode } = failure;
    const { now, deferMs } = this.#options;
    const until = now() + (failure instanceof NotHiddenYet ? Math.min(deferMs, HIDE_AGAIN_MS) : deferMs);
    this.#spool.deferrals.defer(session, { state, sentence, hint, exitCode, until });
  }

  /** The service accepts other events, so the refused ones are invalid. If they are refused again, they are set aside. */
  #noteTaken(): void {
    if (this.#takesEvents) return;
    this.#takesEvents = true;
    this.#spool.transact(() => this.#spool.deferrals.endRefused());
  }

  #setAside(batch: Append['batch'], events: readonly RefusedEvent[]): void {
    const refusedAt = this.#options.now();
    for (const one of events) this.#spool.refused.add({ session: batch.session, ...one, refusedAt });
    this.#spool.count('eventsRefused', events.length);
    this.#remove(batch, batch.events - events.length, 0);
  }

  async #isAllKnown(id: number): Promise<boolean> {
    const batches = [...this.#spool.batches.ofSession(id)];
    if (!(await this.#elsewhere.hasAll(id, batches))) return false;
    this.#spool.transact(() => {
      for (const batch of batches) this.#remove(batch, 0, batch.events);
    });
    return true;
  }

  /** The service recognises by its key an acknowledged batch that is sent again after a crash. */
  #remove({ id, session }: Append['batch'], sent: number, known: number): void {
    this.#spool.batches.remove(id);
    this.#spool.sessions.addSent(session, sent + known);
    this.#spool.count('eventsSent', sent);
    this.#spool.count('eventsKnown', known);
    this.#options.onSent?.(sent);
  }
}

/** While nothing else was sent, it is unknown whether the events or the service are at fault. */
const refusedAlone = ({ agent, agentSession }: SessionRow, [first]: readonly RefusedEvent[]) =>
  new Failure(
    EXIT.failure,
    `The service refuses an event of session ${agentSession} of ${agent}: ${first?.problem}`,
    'It stays in the spool and is retried. Once the service accepts another event, it is set aside.',
  );

const blocked = (session: string, problem: string) =>
  new Failure(
    EXIT.temporary,
    `The text of session ${session} is blocked on the way: ${problem}.`,
    'A firewall or proxy may reject it. It stays in the spool and is retried. The other sessions continue.',
  );
