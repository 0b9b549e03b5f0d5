import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../context.ts';
import { describe, Failure } from '../failure.ts';
import type { Pipeline } from '../pipeline.ts';
import { type Sending, startSending } from '../sending.ts';
import { damageOf } from '../spool/damage.ts';
import { explainRefusal } from '../upload/problem.ts';
import { VERSION } from '../version.ts';
import type { Log } from './log.ts';
import type { Timing } from './timing.ts';

export interface DeliverOptions {
  signal: AbortSignal;
  log: Log;
  isPaused: () => boolean;
  timing: Timing;
}

/**
 * Sends for as long as the signal allows. What only a person can change, such as a revoked secret, makes it rest and try
 * again now and then: what is captured meanwhile stays in the spool.
 */
export function startDelivery(context: Context, pipeline: Pipeline, options: DeliverOptions) {
  const { spool } = pipeline;
  const { signal, log, isPaused, timing } = options;
  let sending: Sending | undefined;
  let isHeld = false;
  let patience = new AbortController();

  async function deliver(): Promise<void> {
    while (!signal.aborted) {
      const failure = await sendUntilRefused();
      if (signal.aborted) return;
      if (!(failure instanceof Failure) || damageOf(failure) !== undefined) throw failure;
      hold(failure);
      await rest();
    }
  }

  async function sendUntilRefused(): Promise<unknown> {
    const ending = new AbortController();
    const lasting = AbortSignal.any([signal, ending.signal]);
    const current = startSending(context, pipeline, {
      ...{ signal: lasting, onTrouble: log.warn, restartMs: timing.restartMs, isPaused },
    });
    sending = current;
    const failure = await Promise.race([current.ended.then(current.failure), keepBeating(current, lasting)]);
    ending.abort();
    await current.ended;
    return failure;
  }

  /** Resolves with what ends the sending. */
  async function keepBeating(current: Sending, lasting: AbortSignal): Promise<unknown> {
    for (let beat = 1; !lasting.aborted; beat++) {
      try {
        await current.heartbeat();
        release();
      } catch (error) {
        const reason = explainRefusal(error);
        if (lasting.aborted || reason instanceof Failure) return reason;
        log.warn(describe(error));
      }
      noteDaemon();
      tellOfHeld(current);
      if (beat % timing.reconsiderBeats === 0) current.reconsider();
      await sleep(timing.heartbeatMs, undefined, { signal: lasting }).catch(() => {});
    }
    return undefined;
  }

  function noteDaemon(): void {
    const beat = { pid: context.pid, beatAt: context.now(), version: VERSION };
    attemptNote(() => spool.setMeta('daemon', JSON.stringify(beat)));
  }

  function tellOfHeld(current: Sending): void {
    const [failure] = current.held();
    if (failure) log.warn(`${failure.message} ${failure.hint ?? ''}`);
    attemptNote(() => spool.setNotice('heldSome', failure && { sentence: failure.message, hint: failure.hint }));
  }

  function hold(failure: Failure): void {
    isHeld = true;
    log.warn(`Nothing is sent for now: ${failure.message} ${failure.hint ?? ''}`);
    attemptNote(() => spool.setNotice('held', { sentence: failure.message, hint: failure.hint }));
  }

  function release(): void {
    if (isHeld) log.info('The service takes captures again.');
    isHeld = false;
    attemptNote(() => spool.setNotice('held', undefined));
  }

  /** What `status` shows need not survive a power cut, and is no reason to stop when it cannot be written. */
  function attemptNote(work: () => void): void {
    try {
      spool.transactLightly(work);
    } catch (error) {
      log.warn(`The spool cannot be written to: ${describe(error)}`);
    }
  }

  async function rest(): Promise<void> {
    const ends = AbortSignal.any([signal, patience.signal]);
    await sleep(timing.holdMs, undefined, { signal: ends }).catch(() => {});
  }

  return {
    /** Rejects with what neither waiting nor a person heals, such as a damaged spool. */
    ended: deliver(),
    wake: () => sending?.wake(),
    /** Whether what is in the spool is on its way, as far as one can tell. */
    isFlowing: () => !isHeld && !isPaused() && sending?.failingMs() === 0,
    /** Tries again at once, over new connections. */
    retryNow(): void {
      sending?.reconnect();
      patience.abort();
      patience = new AbortController();
    },
  };
}
