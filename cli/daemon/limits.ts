import type { Context } from '../context.ts';
import { collectGarbage } from '../memory.ts';
import { formatBytes } from '../output.ts';
import { readPreferences } from '../privacy/preferences.ts';
import type { Spool } from '../spool/open.ts';
import type { Log } from './log.ts';

/** The daemon's waits, in milliseconds. */
export const TIMING = {
  /** Combines several notices of one write. */
  settleMs: 30,
  /** How often a long read is interrupted at most, while other work waits. */
  sliceMs: 500,
  heartbeatMs: 60_000,
  /** How long to wait before retrying a session or an agent that the service does not accept. */
  deferMs: 10 * 60_000,
  /** How long to wait after an error of this machine, such as a full disk. */
  restartMs: 10_000,
  /** How long to wait after a refusal that only a person can change. */
  refusedMs: 5 * 60_000,
  /** How often sign-in, preferences and clock are checked. */
  careMs: 2000,
  /** A larger delay means that the machine slept or its clock was set. A busy machine is never this late. */
  jumpMs: 30_000,
  /** How often missing folders of agents are looked for. An agent that runs for the first time creates its folder then. */
  absentMs: 5000,
  /** How long a request in progress has to be answered after a stop. */
  farewellMs: 5000,
  /** A transcript without any record is left alone for this long, because its first record may still be written. */
  patienceMs: 60_000,
};

export type Timing = typeof TIMING;

export const MEGABYTE = 1_000_000;
export const MAX_MEGABYTES = 1024;
/** Once full, the spool accepts events only after it has fallen to this share of its cap. */
const FREE_SHARE = 0.9;

/**
 * Returns a function that checks whether the spool is full. At its cap, the waiting events of excluded sessions are thrown
 * away, and then reading stops. Unread records stay in the transcripts.
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
      // These events are not sent, so they would fill the spool for good. Their transcripts are read again if the sessions
      // are wanted again.
      spool.transact(() => spool.readFromStart(excluded));
      bytes = spool.batches.bytes();
    }
    isFull = bytes >= mostBytes;
    if (isFull === wasFull) return isFull;
    const sentence = `The spool is full (${formatBytes(bytes)}), so nothing more is read until some of it is sent.`;
    const hint =
      'The events stay in the transcripts until the agents delete those. Run `capture status` to see why nothing is sent, or raise "spool": {"maxMegabytes"} in preferences.json.';
    if (isFull) log.warn(`${sentence} ${hint}`);
    else log.info('The spool is below its cap again: reading continues.');
    spool.setNotice('full', isFull ? { sentence, hint } : undefined);
    return isFull;
  };
}

/** The daemon is at rest after it was quiet for this long. */
const QUIET_MS = 5000;
/** Less work than this is not worth a collection, which takes some 20 ms. A daemon at rest still sends heartbeats. */
const MIN_WORK = 20;

/**
 * Releases the memory of reading and sending once the daemon is quiet. A catch-up of thousands of sessions takes a hundred
 * megabytes. The engine collects only when it needs more memory, and a daemon at rest never does.
 */
export function createMemory(spool: Pick<Spool, 'releaseMemory'>, collect = collectGarbage) {
  // Opening the spool and the first look at everything count as work, too.
  let work = MIN_WORK;
  const timer = setTimeout(() => {
    if (work < MIN_WORK) return;
    work = 0;
    spool.releaseMemory();
    collect();
  }, QUIET_MS).unref();

  return {
    /** Counts a commit or a request. */
    use(): void {
      work++;
      timer.refresh();
    },
    close: () => clearTimeout(timer),
  };
}
