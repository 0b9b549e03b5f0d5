import type { Context } from '../context.ts';
import { formatAge, formatBytes } from '../output.ts';
import { readPreferences } from '../preferences.ts';
import type { Spool } from '../spool/open.ts';
import type { Log } from './log.ts';

export const MEGABYTE = 1_000_000;
const DAY_MS = 24 * 60 * 60_000;
export const MAX_MEGABYTES = 1024;
export const MAX_DAYS = 30;
/** Once full, it takes more only when there is room for a while. */
const FREE_SHARE = 0.9;
const AGE_MS = 60_000;

/** Whether the spool may take more. At its cap reading stops: the transcripts keep what is not read. */
export function createRoom(context: Context, spool: Spool, log: Log, tick: () => number) {
  const { maxMegabytes = MAX_MEGABYTES, maxDays = MAX_DAYS } = readPreferences(context).spool ?? {};
  const maxBytes = maxMegabytes * MEGABYTE;
  let isFull = spool.notice('full') !== undefined;
  let ageDue = 0;
  let isOld = spool.notice('old') !== undefined;

  function tellFull(bytes: number): void {
    const notice = isFull && {
      sentence: `The spool is full (${formatBytes(bytes)}), so nothing more is read until some of it is sent.`,
      hint: 'The transcripts keep it for as long as their agents do. See why nothing is sent with `capture status`, or raise "spool": {"maxMegabytes"} in preferences.json.',
    };
    if (notice) log.warn(`${notice.sentence} ${notice.hint}`);
    else log.info('The spool has room again: reading goes on.');
    spool.setNotice('full', notice || undefined);
  }

  /** Warns of what has been waiting for too long. */
  function warnOfAge(): void {
    const { oldest } = spool.batches.depth();
    const age = oldest === undefined ? 0 : context.now() - oldest;
    const wasOld = isOld;
    isOld = age > maxDays * DAY_MS;
    if (isOld === wasOld) return;
    const sentence = `Events have been waiting to be sent for ${formatAge(age)}.`;
    const hint = 'They are kept, and sent when the service takes them. See why it does not with `capture status`.';
    if (isOld) log.warn(`${sentence} ${hint}`);
    spool.setNotice('old', isOld ? { sentence, hint } : undefined);
  }

  return {
    /** Looks at the spool, rarely enough to cost nothing; warns of what has been waiting for too long. */
    checkAge(): void {
      if (tick() < ageDue) return;
      ageDue = tick() + AGE_MS;
      warnOfAge();
    },
    /** Looks at the spool; true while it takes no more. */
    isFull(): boolean {
      const bytes = spool.batches.bytes();
      const before = isFull;
      isFull = bytes >= maxBytes * (isFull ? FREE_SHARE : 1);
      if (isFull !== before) tellFull(bytes);
      return isFull;
    },
  };
}
