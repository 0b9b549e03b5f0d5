import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../context.ts';
import { describe, Failure } from '../failure.ts';
import type { Pipeline } from '../pipeline.ts';
import { type Sending, startSending } from '../sending.ts';
import { damageOf } from '../spool/damage.ts';
import { explainRefusal } from '../upload/problem.ts';
import type { Timing } from './limits.ts';
import type { Log } from './log.ts';
import { findStoppedAgents } from './processes.ts';
import type { StateReport } from './report.ts';

export interface DeliverOptions {
  signal: AbortSignal;
  log: Log;
  timing: Timing;
  report: StateReport;
}

/**
 * Sends until the signal. If only a person can help, for instance after a secret was revoked, it waits and tries again from
 * time to time. New events stay in the spool meanwhile.
 */
export function startDelivery(context: Context, pipeline: Pipeline, options: DeliverOptions) {
  const { spool } = pipeline;
  const { signal, log, timing, report } = options;
  let sending: Sending | undefined;
  let isRefused = false;
  let stopped: readonly string[] = [];
  const warnOfTrouble = (trouble: string) =>
    log.warn(`Sending to ${pipeline.settings.url} fails and will be retried: ${trouble}`);

  async function deliver(): Promise<void> {
    while (!signal.aborted) {
      const failure = await sendUntilRefused();
      if (signal.aborted) return;
      if (!(failure instanceof Failure) || damageOf(failure) !== undefined) throw failure;
      isRefused = true;
      log.warn(`Nothing is sent for now: ${failure.message} ${failure.hint ?? ''}`);
      noteRefusal(failure);
      await pause(timing.refusedMs, signal);
    }
  }

  async function sendUntilRefused(): Promise<unknown> {
    const ending = new AbortController();
    const lasting = AbortSignal.any([signal, ending.signal]);
    sending = startSending(context, pipeline, {
      ...{ signal: lasting, onTrouble: warnOfTrouble, findStopped: () => stopped },
      restartMs: timing.restartMs,
      deferMs: timing.deferMs,
      farewellMs: timing.farewellMs,
      // The sender pauses until the service accepts a heartbeat again.
      isPaused: () => isRefused,
    });
    const { ended, failure } = sending;
    const reason = await Promise.race([ended.then(failure), keepBeating(sending, lasting)]);
    ending.abort();
    await ended;
    return reason;
  }

  /** Resolves with the error that ended the sending. */
  async function keepBeating(current: Sending, lasting: AbortSignal): Promise<unknown> {
    let aheadMs: number | undefined;
    while (!lasting.aborted) {
      try {
        aheadMs = await current.heartbeat();
        if (isRefused) log.info('The service accepts captures again.');
        isRefused = false;
        current.wake();
        noteRefusal(undefined);
      } catch (error) {
        const reason = explainRefusal(error);
        if (lasting.aborted || reason instanceof Failure) return reason;
        warnOfTrouble(describe(error));
      }
      stopped = await findStoppedAgents(spool.sessions.openAgents(), context.agents, context.platform);
      if (stopped.length > 0) current.wake();
      for (const { sentence, hint = '' } of spool.deferrals.list().slice(0, 1)) log.warn(`${sentence} ${hint}`);
      write(() => spool.setMeta('daemon', JSON.stringify({ beatAt: context.now() })));
      await report({ spool, aheadMs })
        .then(current.report)
        .catch((error) => log.warn(`The state was not reported: ${describe(error)}`));
      await pause(timing.heartbeatMs, lasting);
    }
    return undefined;
  }

  /** Stores why nothing is sent at all. */
  const noteRefusal = (failure: Failure | undefined): void =>
    write(() => spool.setNotice('sending', failure && { sentence: failure.message, hint: failure.hint }));

  /** Writes facts for `status`. They need not survive a power cut, and a failed write is no reason to stop. */
  function write(work: () => void): void {
    try {
      spool.transact(work);
    } catch (error) {
      log.warn(`The spool cannot be written to: ${describe(error)}`);
    }
  }

  return {
    /** Rejects with an error that neither waiting nor a person can fix, such as a damaged spool. */
    ended: deliver(),
    wake: () => sending?.wake(),
    /** Whether the spooled events are being sent, as far as this process can tell. */
    isFlowing: () => !isRefused && sending?.isFailing() === false,
  };
}

const pause = (ms: number, signal: AbortSignal) => sleep(ms, undefined, { signal }).catch(() => {});
