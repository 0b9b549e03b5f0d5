import { type BulkResult, MAX_BATCHES_AT_ONCE, MAX_SESSIONS_AT_ONCE } from '../../contract/capture.ts';
import type { ProblemCode } from '../../contract/problem.ts';
import { contentSizeOf } from '../../contract/zstd-frame.ts';
import { describe, EXIT, Failure } from '../failure.ts';
import type { Batch, SendingOrder } from '../spool/batches.ts';
import type { SessionRow } from '../spool/sessions.ts';
import { createElsewhere } from './elsewhere.ts';
import { explainRefusal, notYet, tellBlocked } from './problem.ts';
import { createAppender, type Outcome, type RefusedEvent } from './refusals.ts';
import type { Append } from './service.ts';
import { createServiceSessions, type SessionsOptions, ThrownAway } from './sessions.ts';

export interface UploaderOptions extends SessionsOptions {
  signal: AbortSignal;
  /** Agents of which no process runs on this machine, asked when there is nothing to send. */
  findStopped?: () => readonly string[];
  /** A request at a time for each; by default what is live is sent beside a backlog. */
  orders?: readonly SendingOrder[];
  onSent?: (events: number) => void;
  /** Asked before each request: nothing is sent meanwhile. */
  isPaused?: () => boolean;
}

/** What a request may hold, in bytes once decoded: the backlog goes in large ones, what was captured last does not wait long. */
const REQUEST_SIZE: Record<SendingOrder, number> = { oldest: 3 * 1024 * 1024, newest: 256 * 1024 };
/** A session that was written to since does not wait behind a backlog. */
const LIVE_MS = 5 * 60 * 1000;
/** What may be answered otherwise in a moment. */
const NOT_YET = new Set(['idempotency_in_progress', 'rate_limited', 'service_unavailable', 'internal']);
/** A session that is said to be completed or unknown this often in a row is left alone for a while. */
const MOST_REOPENINGS = 3;

/**
 * Sends what is spooled: a session's batches in their order, many sessions a request. One request at a time carries what has
 * waited longest, another one what was captured last, so that a live session does not wait behind a backlog.
 */
export function createUploader(options: UploaderOptions) {
  const { spool, service, retry, signal, now, findStopped = () => [], onSent, isPaused } = options;
  const { orders = ['oldest', 'newest'] } = options;
  const elsewhere = createElsewhere(options);
  const sessions = createServiceSessions(options, isAllHeld);
  const append = createAppender((appends) => retry.attempt(() => sendOnce(appends)), tryDoubtful);
  const busy = new Set<number>();
  /** How many events each of the service's sessions has that is being sent to. */
  const counts = new Map<string, number>();
  const reopenings = new Map<number, number>();
  /** Sessions that the service will not have for now. */
  const refusedSessions = new Map<number, Failure>();
  /** Those of which an event was refused while it is not known whether the service takes anything at all. */
  const doubtful = new Set<number>();
  let takesEvents = false;
  let sleepers: (() => void)[] = [];
  let stopped = false;
  const isOver = () => stopped || signal.aborted;

  async function sendOnce(appends: readonly Append[]): Promise<BulkResult[]> {
    // They may have waited here for hours.
    if (!appends.every((one) => one.isWanted())) throw new ThrownAway();
    const results = await service.append(expecting(appends)).catch((error) => Promise.reject(tellBlocked(error)));
    for (const { sessionId, lastSequence = 0 } of results) raise(sessionId, lastSequence);
    // The answer for a session's first batch is the answer for the session; the others were not tried.
    const firsts = new Map([...results].reverse().map((result) => [result.sessionId, result]));
    const waiting = [...firsts.values()].filter(({ code }) => code !== undefined && NOT_YET.has(code));
    if (waiting.length < firsts.size) return results;
    const [{ code, error = '' } = {}] = waiting;
    throw notYet(code as ProblemCode, error);
  }

  /** Each behind those before it. */
  function expecting(appends: readonly Append[]): Append[] {
    const next = new Map(counts);
    return appends.map((append) => {
      const expectedEvents = next.get(append.sessionId);
      if (expectedEvents !== undefined) next.set(append.sessionId, expectedEvents + append.events);
      return { ...append, expectedEvents };
    });
  }

  function raise(sessionId: string, count: number): void {
    const known = counts.get(sessionId);
    if (known !== undefined) counts.set(sessionId, Math.max(known, count));
  }

  const findWaiting = (order: SendingOrder): number[] => {
    const changedSince = order === 'newest' ? now() - LIVE_MS : 0;
    return spool.batches.waiting(order, MAX_SESSIONS_AT_ONCE, changedSince, [...busy, ...refusedSessions.keys()]);
  };

  /** Batches of sessions that are open, as many as go into a request. */
  async function gather(order: SendingOrder, ids: readonly number[]): Promise<Batch[]> {
    const batches: Batch[] = [];
    let size = 0;
    for (const [index, id] of ids.entries()) {
      const { state, heldElsewhere } = spool.sessions.get(id);
      if (state !== 'open') continue;
      if (heldElsewhere) await elsewhere.find(id, ids.slice(index + 1));
      for (const batch of spool.batches.ofSession(id)) {
        const bytes = contentSizeOf(batch.body) ?? 0;
        const isFull = batches.length === MAX_BATCHES_AT_ONCE || (size > 0 && size + bytes > REQUEST_SIZE[order]);
        if (isFull) return batches;
        batches.push(batch);
        size += bytes;
      }
    }
    return batches;
  }

  async function isAllHeld(id: number): Promise<boolean> {
    const batches = [...spool.batches.ofSession(id)];
    if (!(await elsewhere.hasAll(id, batches))) return false;
    spool.transact(() => {
      for (const batch of batches) remove(batch, 0, batch.events);
    });
    return true;
  }

  async function send(order: SendingOrder, ids: readonly number[], release: (id: number) => void): Promise<void> {
    for (const [id, failure] of await sessions.open(ids)) refusedSessions.set(id, failure);
    const batches = await gather(order, ids);
    // Whoever did not fit in need not wait for the answer.
    const included = new Set(batches.map(({ session }) => session));
    for (const id of ids) if (!included.has(id)) release(id);
    const left = batches.map((batch) => ({ batch, rest: elsewhere.take(batch) }));
    const asked = left.flatMap(({ batch, rest }) =>
      rest.batch ? [{ batch, rest, append: toAppend(rest.batch) }] : [],
    );
    const outcomes = asked.length > 0 ? await append(asked.map((one) => one.append)) : [];
    spool.transact(() => {
      for (const { batch, rest } of left) if (rest.batch === undefined) remove(batch, 0, batch.events);
      for (const [index, { batch, rest, append: sent }] of asked.entries()) {
        takeOutcome(batch, sent, outcomes[index] as Outcome);
        if (spool.batches.has(batch.id)) elsewhere.giveBack(rest);
      }
      spool.setMeta('lastUploadAt', String(now()));
    });
    for (const { append: sent } of asked) counts.delete(sent.sessionId);
    elsewhere.forgetMet(ids);
  }

  function toAppend({ id, session, key, events, body }: Batch): Append {
    const { serviceId = '', serviceEvents } = spool.sessions.get(session);
    if (serviceEvents !== undefined) counts.set(serviceId, serviceEvents);
    return { sessionId: serviceId, key, events, body, isWanted: () => spool.batches.has(id) };
  }

  function takeOutcome(batch: Batch, { sessionId, events: sent }: Append, outcome: Outcome): void {
    const { session, events } = batch;
    if (outcome.kind === 'answered') {
      takeAnswer(session, outcome);
      return;
    }
    const count = counts.get(sessionId);
    if (count !== undefined) {
      spool.sessions.setServiceEvents(session, count);
      elsewhere.accept(session, sessionId, count);
    }
    if (outcome.kind === 'accepted') {
      reopenings.delete(session);
      remove(batch, sent, events - sent);
    } else if (outcome.kind === 'refused') {
      if (takesEvents) setAside(batch, outcome.events);
      else {
        doubtful.add(session);
        refusedSessions.set(session, refusedAlone(spool.sessions.get(session), outcome.events));
      }
    } else {
      refusedSessions.set(session, blocked(spool.sessions.get(session).agentSession, outcome.problem));
    }
  }

  function takeAnswer(session: number, { code, problem, eventCount }: Extract<Outcome, { kind: 'answered' }>): void {
    if (code === 'session_deleted') {
      spool.keepBack(session, 'deleted', now());
      return;
    }
    if (code === 'quota_reached') refusedSessions.set(session, new Failure(EXIT.failure, problem));
    if (code === 'sequence_mismatch' || code === 'session_closed') elsewhere.suspect(session, eventCount);
    if (eventCount !== undefined) spool.sessions.setServiceEvents(session, eventCount);
    if (code !== 'session_closed' && code !== 'not_found') return;
    const times = (reopenings.get(session) ?? 0) + 1;
    reopenings.set(session, times);
    if (times > MOST_REOPENINGS) refusedSessions.set(session, new Failure(EXIT.failure, problem));
    // Unknown: the service has lost the session, as after being restored from a copy.
    else if (code === 'not_found') {
      spool.sessions.reset(session);
      elsewhere.forget(session);
    } else spool.sessions.close(session);
  }

  /** What was acknowledged and is sent again after a crash is recognised by its key. */
  function remove({ id, session }: Batch, sent: number, known: number): void {
    spool.batches.remove(id);
    spool.sessions.addSent(session, sent + known);
    spool.count('eventsSent', sent);
    spool.count('eventsHeld', known);
    onSent?.(sent);
  }

  /** The service takes other events, so it is those that are wrong: refused again, they are set aside. */
  function tryDoubtful(): void {
    takesEvents = true;
    for (const session of doubtful) refusedSessions.delete(session);
    doubtful.clear();
  }

  function setAside(batch: Batch, events: readonly RefusedEvent[]): void {
    for (const one of events) spool.refused.add({ session: batch.session, ...one, refusedAt: now() });
    spool.count('eventsRefused', events.length);
    remove(batch, batch.events - events.length, 0);
  }

  const findOver = () =>
    spool.sessions.completable(now(), findStopped(), MAX_SESSIONS_AT_ONCE).filter((id) => !busy.has(id));

  async function work(order: SendingOrder): Promise<void> {
    while (!isOver()) {
      const isAwake = !isPaused?.();
      const waiting = isAwake ? findWaiting(order) : [];
      const over = isAwake && waiting.length === 0 && order === 'oldest' ? findOver() : [];
      if (waiting.length + over.length === 0) {
        await new Promise<void>((resolve) => sleepers.push(resolve));
        continue;
      }
      // Released early, a session may be the other's by the end.
      const mine = new Set([...waiting, ...over]);
      const release = (id: number) => void (mine.delete(id) && busy.delete(id));
      for (const id of mine) busy.add(id);
      try {
        if (waiting.length > 0) await send(order, waiting, release);
        else await sessions.complete(over);
      } catch (error) {
        // What was taken for requests that are not sent now, or whose answers cannot be noted, has to be found again.
        for (const id of mine) elsewhere.forget(id);
        if (!(error instanceof ThrownAway)) throw error;
      } finally {
        for (const id of mine) busy.delete(id);
        // What is free now may be for the other one to complete or to send.
        wake();
      }
    }
  }

  function stopAll(error: unknown): never {
    stopped = true;
    wake();
    throw error;
  }

  function wake(): void {
    const waiting = sleepers;
    sleepers = [];
    for (const resolve of waiting) resolve();
  }

  /** What was refused for now is tried once more. */
  function reconsider(): void {
    refusedSessions.clear();
    reopenings.clear();
    doubtful.clear();
    wake();
  }

  return {
    /** Runs until the signal; throws what trying again does not heal. */
    async run(): Promise<void> {
      stopped = false;
      reconsider();
      signal.addEventListener('abort', wake);
      try {
        // Each to its end: what the other is sending will be answered.
        const ends = await Promise.allSettled(orders.map((order) => work(order).catch(stopAll)));
        const failed = ends.find((end) => end.status === 'rejected');
        if (failed) throw failed.reason;
      } catch (error) {
        if (!signal.aborted) {
          spool.setMeta('lastError', `${new Date(now()).toISOString()} ${describe(error)}`);
          throw explainRefusal(error);
        }
      } finally {
        signal.removeEventListener('abort', wake);
      }
    },
    /** There is something new to send. */
    wake,
    reconsider,
    /** Why some of the spool stays there although the service takes the rest. */
    held: (): Failure[] => [...refusedSessions.values()],
    /** Whether nothing can be sent or completed for now. */
    isIdle: () => busy.size === 0 && findWaiting('oldest').length === 0 && findOver().length === 0,
  };
}

/** Whether the events are wrong or the service is, is not known while nothing else was sent. */
const refusedAlone = ({ agent, agentSession }: SessionRow, [first]: readonly RefusedEvent[]) =>
  new Failure(
    EXIT.failure,
    `The service refuses what session ${agentSession} of ${agent} says: ${first?.problem}`,
    'It stays in the spool and is tried again. Once the service takes something else, it is set aside.',
  );

const blocked = (session: string, problem: string) =>
  new Failure(
    EXIT.temporary,
    `What session ${session} says does not get through: ${problem}.`,
    'A firewall or proxy may dislike its text. It stays in the spool and is tried again; the other sessions go on.',
  );
