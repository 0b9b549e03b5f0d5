import { describe, type Failure } from '../failure.ts';
import type { Batch } from '../spool/batches.ts';
import { hasCode, hasStatus } from './problem.ts';
import { halve, readEvents } from './refuse.ts';
import { AgentDisabled } from './registration.ts';
import { createSessionKeeper, explainRefusal, type SessionDeps, SessionRefused } from './session.ts';

export interface UploaderOptions extends SessionDeps {
  signal: AbortSignal;
  /** A session is completed when its last event is older than this. */
  quietMs: number;
  /** Sessions sent at a time. */
  lanes?: number;
  onSent?: (events: number) => void;
  /** Asked before each session: nothing is sent meanwhile. */
  isPaused?: () => boolean;
}

const LANES = 6;
const BATCHES_A_TURN = 16;

/** Sends what is spooled: a session's batches one after another, several sessions at a time, the oldest first. */
export function createUploader(options: UploaderOptions) {
  const { spool, service, gate, signal, quietMs, now, lanes = LANES, onSent, isPaused } = options;
  const keeper = createSessionKeeper(options);
  const busy = new Set<number>();
  let acknowledged: Batch[] = [];
  let sleepers: (() => void)[] = [];
  // What the service will not have for now: agents that an administrator has disabled, and single sessions.
  const heldAgents = new Map<string, Failure>();
  const heldSessions = new Map<number, Failure>();
  let stopped = false;
  const isOver = () => stopped || signal.aborted;

  /** A commit for many: what was acknowledged and is sent again after a crash is recognised by its key. */
  function removeAcknowledged(): void {
    if (acknowledged.length === 0) return;
    const batches = acknowledged;
    acknowledged = [];
    spool.transactLightly(() => {
      for (const { id, session, events } of batches) {
        spool.batches.remove(id);
        spool.sessions.addSent(session, events);
        spool.count('eventsSent', events);
      }
      spool.setMeta('lastUploadAt', String(now()));
    });
  }

  function toSent({ session, number, events, records }: Batch) {
    const { agent, agentSession } = spool.sessions.get(session);
    return { agent, session: agentSession, number, events, records };
  }

  async function sendSession(session: number): Promise<void> {
    let after = 0;
    for (let turn = 0; turn < BATCHES_A_TURN && !isOver() && !isPaused?.(); turn++) {
      const batch = spool.batches.next(session, after);
      if (batch === undefined) break;
      const refused = await sendBatch(batch).catch(forgiveDropped);
      after = batch.id;
      if (refused === undefined) continue;
      // At once: should the spool be damaged now, this alone tells that the service has it.
      spool.journal.sent([toSent(batch)]);
      acknowledged.push({ ...batch, events: batch.events - refused });
      onSent?.(batch.events);
      if (acknowledged.length >= 16) removeAcknowledged();
    }
  }

  /** Sends a batch until it is answered; returns how many of its events were refused and set aside. */
  async function sendBatch(batch: Batch, isContinued = false): Promise<number> {
    const sessionId = await keeper.open(batch.session, batch);
    try {
      await gate.attempt(async () => {
        // It may have waited here for hours, and a person may have thrown it away meanwhile.
        if (!spool.batches.has(batch.id)) throw new BatchDropped();
        return service.append(sessionId, batch);
      });
      return 0;
    } catch (error) {
      // 404: the service has lost the session, as after being restored from a copy.
      if (hasCode(error, 'session_closed') || (hasStatus(error, 404) && !isContinued)) {
        keeper.leave(batch.session);
        return sendBatch(batch, true);
      }
      if (!hasStatus(error, 400, 409, 413, 415, 422)) throw error;
      return sendHalves(batch, error.message);
    }
  }

  /** One bad event refuses its whole batch: finds it, and sends the others. */
  async function sendHalves(batch: Batch, problem: string): Promise<number> {
    const halves = halve(batch);
    if (halves === undefined) {
      const [event] = readEvents(batch);
      spool.transact(() => {
        spool.batches.refuse(batch.session, JSON.stringify(event), problem, now());
        spool.count('eventsRefused');
      });
      return 1;
    }
    return (await sendBatch(halves[0])) + (await sendBatch(halves[1]));
  }

  const findWaiting = (accept: (session: number) => boolean) =>
    spool.batches
      .waiting(lanes + 1 + heldSessions.size, [...heldAgents.keys()])
      .find((session) => !heldSessions.has(session) && accept(session));

  function claim(): { session: number; task: 'send' | 'complete' } | undefined {
    removeAcknowledged();
    if (isPaused?.()) return undefined;
    const free = (id: number) => !busy.has(id);
    const session = findWaiting(free);
    if (session !== undefined) return { session, task: 'send' };
    const quiet = spool.sessions.completable(now() - quietMs, lanes + 1).find(free);
    return quiet === undefined ? undefined : { session: quiet, task: 'complete' };
  }

  async function workLane(): Promise<void> {
    while (!isOver()) {
      const claimed = claim();
      if (claimed === undefined) {
        await new Promise<void>((resolve) => sleepers.push(resolve));
        continue;
      }
      busy.add(claimed.session);
      try {
        await (claimed.task === 'send' ? sendSession(claimed.session) : keeper.complete(claimed.session));
      } catch (error) {
        if (error instanceof AgentDisabled) heldAgents.set(error.agent, error);
        else if (error instanceof SessionRefused) heldSessions.set(error.session, error);
        else throw error;
      } finally {
        busy.delete(claimed.session);
        removeAcknowledged();
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

  return {
    /** Runs until the signal; throws what trying again does not heal. */
    async run(): Promise<void> {
      stopped = false;
      signal.addEventListener('abort', wake);
      try {
        // Each to its end: what another lane is sending will be answered.
        const ends = await Promise.allSettled(Array.from({ length: lanes }, () => workLane().catch(stopAll)));
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
    /** What was refused for now is tried once more. */
    reconsider(): void {
      heldAgents.clear();
      heldSessions.clear();
      wake();
    },
    /** Why some of the spool stays there although the service takes the rest. */
    held: (): Failure[] => [...heldAgents.values(), ...heldSessions.values()],
    /** Whether nothing can be sent or completed for now. */
    isIdle: () =>
      busy.size === 0 &&
      findWaiting(() => true) === undefined &&
      spool.sessions.completable(now() - quietMs, 1).length === 0,
  };
}

class BatchDropped extends Error {}

function forgiveDropped(error: unknown): undefined {
  if (!(error instanceof BatchDropped)) throw error;
}
