import type { Context } from '../context.ts';
import { collectGarbage } from '../memory.ts';
import { formatBytes } from '../output.ts';
import { readPreferences } from '../privacy/preferences.ts';
import type { Spool } from '../spool/open.ts';
import type { Log } from './log.ts';

/** The daemon's waits, in milliseconds. */
export const TIMING = {
  /** Several changes of one write come as one. */
  settleMs: 30,
  /** A long reading is interrupted this often at most, where something else waits. */
  sliceMs: 500,
  heartbeatMs: 60_000,
  /** What the service does not take of a session or an agent is tried again after this long. */
  heldMs: 10 * 60_000,
  /** After an error of this machine, such as a full disk. */
  restartMs: 10_000,
  /** After a refusal that only a person can change. */
  holdMs: 5 * 60_000,
  /** How often sign-in, preferences and clock are checked. */
  careMs: 2000,
  /** By more than this no machine is late that only has other work: it has slept, or its clock was set. */
  jumpMs: 30_000,
};

export type Timing = typeof TIMING;

export const MEGABYTE = 1_000_000;
export const MAX_MEGABYTES = 1024;
/** Once full, the spool takes more only when it has fallen to this share of its cap. */
const FREE_SHARE = 0.9;

/**
 * Tells whether the spool may take no more. At its cap what waits of excluded sessions is thrown away, and then reading stops: the
 * transcripts keep what is not read.
 */
export function createSpoolLimit(context: Context, spool: Spool, log: Log): () => boolean {
  const maxBytes = (readPreferences(context).spool?.maxMegabytes ?? MAX_MEGABYTES) * MEGABYTE;
  let isFull = spool.notice('full') !== undefined;
  return () => {
    let bytes = spool.batches.bytes();
    const wasFull = isFull;
    const mostBytes = maxBytes * (isFull ? FREE_SHARE : 1);
    const excluded = bytes >= mostBytes ? spool.batches.keptBack() : [];
    if (excluded.length > 0) {
      // Nothing of them is sent, so they would fill it for good. Their transcripts are read again once they are wanted.
      spool.transact(() => spool.readAnew(excluded));
      bytes = spool.batches.bytes();
    }
    isFull = bytes >= mostBytes;
    if (isFull === wasFull) return isFull;
    const sentence = `The spool is full (${formatBytes(bytes)}), so nothing more is read until some of it is sent.`;
    const hint =
      'The events stay in the transcripts until their agents delete those. Run `capture status` to see why nothing is sent, or raise "spool": {"maxMegabytes"} in preferences.json.';
    if (isFull) log.warn(`${sentence} ${hint}`);
    else log.info('The spool is below its cap again: reading continues.');
    spool.setNotice('full', isFull ? { sentence, hint } : undefined);
    return isFull;
  };
}

/** Quiet for this long, it is at rest. */
const QUIET_MS = 5000;
/** Fewer commits and requests are not worth it: collecting takes some 20 ms, and a daemon at rest sends heartbeats. */
const MIN_WORK = 20;

/**
 * Gives back, once it is quiet, the memory that reading and sending took: a catch-up of thousands of sessions takes a
 * hundred megabytes, and the engine collects only when it needs more, which a daemon at rest never does.
 */
export function createMemory(spool: Pick<Spool, 'releaseMemory'>, collect = collectGarbage) {
  // Opening the spool and the first look at everything are work, too.
  let work = MIN_WORK;
  const timer = setTimeout(() => {
    if (work < MIN_WORK) return;
    work = 0;
    spool.releaseMemory();
    collect();
  }, QUIET_MS).unref();

  return {
    /** A commit or a request. */
    use(): void {
      work++;
      timer.refresh();
    },
    close: () => clearTimeout(timer),
  };
}
