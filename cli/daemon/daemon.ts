import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../context.ts';
import { describe, Failure } from '../failure.ts';
import type { Output } from '../output.ts';
import { openReader, type Pipeline } from '../pipeline.ts';
import type { Place, Trouble } from '../read/discover.ts';
import { giveWay } from '../read/give-way.ts';
import { startSending } from '../sending.ts';
import { createHints } from './hints.ts';

export interface DaemonOptions {
  pipeline: Pipeline;
  places: readonly Place[];
}

const POLL_MS = 2000;
/** Several changes of one write come as one. */
const SETTLE_MS = 50;
/** A long catch-up makes room for what is being written now, this often at most. */
const CATCH_UP_MS = 500;
const HEARTBEAT_MS = 60_000;
/** After an error of this machine, such as a full disk. */
const RESTART_MS = 10_000;
const PATIENCE_MS = 60_000;
/** What is being sent when asked to stop may be answered for this long; later it is sent again. */
const FAREWELL_MS = 5000;

/** Captures until the context's signal, or until the service will take nothing more. */
export async function runDaemon(context: Context, { pipeline, places }: DaemonOptions, output: Output): Promise<void> {
  const { spool } = pipeline;
  const stop = new AbortController();
  const signal = AbortSignal.any([context.stop, stop.signal]);
  const say = createSayer(output);
  let wake = () => {};
  const hints = createHints(places, () => wake());
  const sending = startSending(context, pipeline, { signal, onTrouble: say, restartMs: RESTART_MS });
  const reader = openReader(context, pipeline, {
    patienceMs: PATIENCE_MS,
    onTrouble: ({ path, reason }: Trouble) => say(`${path} cannot be read: ${reason}`),
  });
  let failure: unknown;

  async function readPlaces(from: readonly Place[], isStopped: () => boolean): Promise<void> {
    await reader.read(reader.findWork(from), {
      isStopped,
      async onCommit() {
        sending.wake();
        await giveWay(spool, isStopped);
      },
    });
  }

  async function readRound(): Promise<void> {
    await readPlaces(hints.take(), () => signal.aborted);
    const started = performance.now();
    const mustMakeRoom = () => hints.isPending() && performance.now() - started > CATCH_UP_MS;
    await readPlaces(places, () => signal.aborted || mustMakeRoom());
  }

  async function keepReading(): Promise<void> {
    while (!signal.aborted) {
      hints.refresh();
      try {
        await readRound();
      } catch (error) {
        say(`Reading failed, and is tried again: ${describe(error)}`);
        await sleep(RESTART_MS, undefined, { signal });
      }
      sending.wake();
      if (!hints.isPending()) await Promise.race([sleep(POLL_MS, undefined, { signal }), hint()]);
      await sleep(SETTLE_MS, undefined, { signal });
    }
  }

  const hint = () =>
    new Promise<void>((resolve) => {
      wake = resolve;
    });

  async function keepBeating(): Promise<void> {
    while (!signal.aborted) {
      await sending.heartbeat();
      spool.setMeta('daemon', JSON.stringify({ pid: context.pid, beatAt: context.now() }));
      await sleep(HEARTBEAT_MS, undefined, { signal });
    }
  }

  /** Whatever ends one of them ends all. */
  async function guard(work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (error) {
      if (!signal.aborted) failure ??= error;
    }
    stop.abort();
  }

  output.say(`Capturing for ${pipeline.account?.organizationName ?? pipeline.settings.url}. Stop with Ctrl-C.`);
  const beating = keepBeating().catch((error: unknown) => {
    if (error instanceof Failure) throw error;
    if (!signal.aborted) say(describe(error));
  });
  await Promise.all([guard(keepReading()), guard(beating.then(() => forever(signal))), guard(sending.ended)]);
  hints.close();
  await Promise.race([sending.ended, sleep(FAREWELL_MS)]);
  const reason = failure ?? sending.failure();
  if (reason !== undefined) throw reason;
}

const forever = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

/** The same trouble is told once, not at every try. */
function createSayer(output: Output) {
  let last = '';
  return (sentence: string) => {
    if (sentence !== last) output.warn(sentence);
    last = sentence;
  };
}
