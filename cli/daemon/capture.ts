import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../context.ts';
import { describe } from '../failure.ts';
import type { Pipeline } from '../pipeline.ts';
import type { Place } from '../read/discover.ts';
import { damageOf } from '../spool/damage.ts';
import { startDelivery } from './deliver.ts';
import { createHints } from './hints.ts';
import type { Log } from './log.ts';
import { createLooks } from './looks.ts';
import { createMemory } from './memory.ts';
import { createNotes } from './notes.ts';
import { createReading } from './reading.ts';
import { createRoom } from './room.ts';
import type { Timing } from './timing.ts';

export interface CaptureOptions {
  pipeline: Pipeline;
  places: readonly Place[];
  isPaused: () => boolean;
  signal: AbortSignal;
  log: Log;
  timing: Timing;
}

export type Capture = ReturnType<typeof startCapture>;

const tick = () => performance.now();

/** Reads and sends with one spool, until the signal, or until the spool can no longer be used as it is. */
export function startCapture(context: Context, options: CaptureOptions) {
  const { pipeline, places, isPaused, log, timing } = options;
  const { spool, folder } = pipeline;
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  let wake = () => {};
  let isWoken = false;
  const rouse = () => {
    isWoken = true;
    wake();
  };
  const hints = createHints({ platform: context.platform, onHint: rouse });
  const agents = new Set(context.agents.map(({ id }) => id));
  const notes = createNotes({ folder, agents, tick, onNote: rouse });
  const looks = createLooks({ places, hints, tick, now: context.now });
  const room = createRoom(context, spool, log, tick);
  const memory = createMemory(spool, tick);
  const counted: Context['fetch'] = (...request) => {
    memory.use();
    return context.fetch(...request);
  };
  const delivery = startDelivery({ ...context, fetch: counted }, pipeline, { signal, log, isPaused, timing });
  let hasRoom = true;
  const isStopped = () => signal.aborted || isPaused() || !hasRoom;
  const reading = createReading(context, pipeline, {
    ...{ looks, hints, notes, log, timing, tick, isStopped },
    isFlowing: delivery.isFlowing,
    onCommit() {
      delivery.wake();
      memory.use();
      hasRoom = !room.isFull();
    },
  });

  async function readOnce(): Promise<void> {
    room.checkAge();
    hasRoom = !room.isFull();
    if (!isStopped()) {
      await reading.readRound();
      // Another process may have read what is new and left it for this one to send.
      delivery.wake();
    }
    // A step a round: what is written to meanwhile does not wait long for it.
    spool.shrink();
    memory.release();
  }

  async function keepReading(): Promise<void> {
    while (!signal.aborted) {
      isWoken = false;
      try {
        await readOnce();
      } catch (error) {
        await recover(error);
      }
      await rest();
      await sleep(timing.settleMs, undefined, { signal });
    }
  }

  /** Reading is tried again, unless only opening the spool anew can tell where it stands. */
  async function recover(error: unknown): Promise<void> {
    looks.expire();
    const damage = damageOf(error);
    if (damage === 'damaged' || damage === 'unsure') throw error;
    if (damage === 'full') {
      log.warn('The disk is full. Reading waits until there is room; the transcripts keep what is not read.');
    } else log.warn(`Reading failed, and is tried again: ${describe(error)}`);
    await sleep(timing.restartMs, undefined, { signal });
  }

  /** Until something is due or hinted at. */
  async function rest(): Promise<void> {
    const isWaiting = isPaused() || !hasRoom;
    if (isWoken && !isWaiting) return;
    const pauseMs = isWaiting ? timing.careMs : Math.min(looks.pauseMs(), notes.pauseMs(), memory.pauseMs());
    const resting = new AbortController();
    const woken = new Promise<void>((resolve) => {
      wake = isWaiting ? () => {} : resolve;
    });
    const slept = sleep(pauseMs, undefined, { signal: AbortSignal.any([signal, resting.signal]) }).catch(() => {});
    await Promise.race([slept, woken]);
    resting.abort();
  }

  async function run(): Promise<void> {
    try {
      await Promise.race([keepReading(), delivery.ended]);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      stop.abort();
      hints.close();
      notes.close();
      await delivery.ended.catch(() => {});
    }
  }

  return {
    /** Rejects with what made the spool unusable, or with an error of this program. */
    ended: run(),
    /** The machine has slept, or its clock was set: nothing that was known of files and connections counts. */
    refresh(): void {
      looks.expire();
      delivery.retryNow();
      rouse();
    },
    /** A person has signed in anew, or ended a pause. */
    retryNow(): void {
      delivery.retryNow();
      delivery.wake();
      looks.expire();
      rouse();
    },
  };
}
