import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readSettings, stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { describe, Failure } from '../failure.ts';
import type { Output } from '../output.ts';
import { openPipeline, type Pipeline } from '../pipeline.ts';
import type { Place } from '../read/discover.ts';
import { damageOf } from '../spool/damage.ts';
import { type Capture, startCapture } from './capture.ts';
import { createClock } from './clock.ts';
import { createLog } from './log.ts';
import { isPaused } from './pause.ts';
import { TIMING, type Timing } from './timing.ts';

export interface DaemonOptions {
  places: readonly Place[];
  /** The pipeline to begin with. What becomes of it later, by signing in anew for example, the daemon opens itself. */
  pipeline: Pipeline;
  timing?: Partial<Timing>;
}

/** Captures until the context's signal. What a person or the service can put right does not end it. */
export async function runDaemon(context: Context, options: DaemonOptions, output: Output): Promise<void> {
  const { places } = options;
  const timing = { ...TIMING, ...options.timing };
  const folder = stateFolder(context);
  const log = createLog(folder, context, output);
  const clock = createClock({ now: context.now, tick: () => performance.now() });
  const settings = createSettingsStamp(context);
  let pipeline: Pipeline | undefined = options.pipeline;
  let isSuspect = false;
  let paused = isPaused(folder, context.now());

  /** Looks after what may change from outside, until the capture has to be opened anew. */
  async function takeCare(capture: Capture, reopen: AbortController): Promise<void> {
    const signal = AbortSignal.any([context.stop, reopen.signal]);
    while (!signal.aborted) {
      await sleep(timing.careMs, undefined, { signal }).catch(() => {});
      if (clock.hasJumped(timing.careMs)) {
        log.info('The clock was set, or the machine has slept: everything is looked at again.');
        capture.refresh();
      }
      checkPause(capture);
      const change = settings.look();
      if (change === 'renewed') capture.retryNow();
      if (change !== 'other') continue;
      log.info('The sign-in has changed.');
      reopen.abort();
    }
  }

  function checkPause(capture: Capture): void {
    const before = paused;
    paused = isPaused(folder, context.now());
    if (paused === before) return;
    log.info(paused ? 'Paused: nothing is read or sent.' : 'The pause is over.');
    if (!paused) capture.retryNow();
  }

  async function captureWith(current: Pipeline): Promise<void> {
    log.info(`Capturing for ${current.account?.organizationName ?? current.settings.url}.`);
    const reopen = new AbortController();
    const signal = AbortSignal.any([context.stop, reopen.signal]);
    const capture = startCapture(context, {
      ...{ pipeline: current, places, signal, log, timing },
      isPaused: () => paused,
    });
    const care = takeCare(capture, reopen);
    try {
      await capture.ended;
    } catch (error) {
      isSuspect = damageOf(error) === 'damaged';
      log.warn(`The spool is opened anew: ${describe(error)}`);
      await sleep(timing.settleMs);
    } finally {
      reopen.abort();
      await care;
      closeQuietly(current);
    }
  }

  /** Undefined when asked to stop before. */
  async function reopen(): Promise<Pipeline | undefined> {
    while (!context.stop.aborted) {
      try {
        const opened = await openPipeline(context, { recalls: true, isSuspect });
        isSuspect = false;
        return opened;
      } catch (error) {
        log.warn(`${describe(error)} ${(error instanceof Failure && error.hint) || ''}`);
        await waitForChange();
      }
    }
    return undefined;
  }

  async function waitForChange(): Promise<void> {
    const until = performance.now() + timing.restartMs;
    while (!context.stop.aborted && performance.now() < until && settings.look() === undefined) {
      await sleep(timing.careMs, undefined, { signal: context.stop }).catch(() => {});
    }
  }

  output.say(`Capturing for ${pipeline.account?.organizationName ?? pipeline.settings.url}. Stop with Ctrl-C.`);
  try {
    for (; pipeline; pipeline = await reopen()) await captureWith(pipeline);
  } finally {
    log.info('Stopped.');
  }
}

/** `other`: another secret or address. `renewed`: the same ones, stored again, as by a person who wants it tried again. */
type Change = 'other' | 'renewed' | undefined;

function createSettingsStamp(context: Context) {
  const read = () => {
    try {
      return JSON.stringify(readSettings(context));
    } catch {
      // Half written by hand: what was read before counts.
      return values;
    }
  };
  const timeOf = () => statSync(join(stateFolder(context), 'config.json'), { throwIfNoEntry: false })?.mtimeMs;
  let values = '';
  values = read();
  let time = timeOf();

  return {
    look(): Change {
      const before = { values, time };
      time = timeOf();
      if (time === before.time) return undefined;
      values = read();
      return values === before.values ? 'renewed' : 'other';
    },
  };
}

/** One that is damaged cannot be closed properly either. */
function closeQuietly({ spool }: Pipeline): void {
  try {
    spool.close();
  } catch {
    // What was committed is on the disk.
  }
}
