import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { storeOf } from '../agents/store.ts';
import { CATCH_UP_BYTES, startCatchUp } from '../catch-up/start.ts';
import type { Context } from '../context.ts';
import { describe } from '../failure.ts';
import { openReader, type Pipeline } from '../pipeline.ts';
import type { Consent } from '../privacy/consent.ts';
import { type Place, type Trouble, transcriptAt } from '../read/discover.ts';
import { giveWay } from '../read/give-way.ts';
import type { Unread } from '../read/identify.ts';
import { bytesOf, type Work } from '../read/reader.ts';
import { damageOf } from '../spool/damage.ts';
import { startDelivery } from './deliver.ts';
import { createMemory, createSpoolLimit, type Timing } from './limits.ts';
import type { Log } from './log.ts';
import { createScan } from './scan.ts';
import { createWatch } from './watch.ts';

export interface CaptureOptions {
  pipeline: Pipeline;
  places: readonly Place[];
  consent: Consent;
  signal: AbortSignal;
  log: Log;
  timing: Timing;
}

/** A transcript without any record is left alone for this long: its first one may be to come. */
const PATIENCE_MS = 60_000;

const tick = () => performance.now();
/** Milliseconds that the processor has worked for this process. */
function cpu(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/**
 * Reads and sends with one spool, until the signal. Rejects with what made the spool unusable, or with an error of this
 * program.
 */
export async function capture(context: Context, options: CaptureOptions): Promise<void> {
  const { pipeline, places, consent, log, timing } = options;
  const { spool, folder } = pipeline;
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  let resting = new AbortController();
  const wake = () => resting.abort();
  const watch = createWatch({
    platform: context.platform,
    onChange(place) {
      scan.notice(place);
      wake();
    },
  });
  const inboxes = context.agents
    .filter(({ hookedAs }) => hookedAs !== undefined)
    .map((agent) => ({ agent, root: join(folder, 'inbox', agent.id), below: '' }));
  const scan = createScan({ places, inboxes, watch, tick, now: context.now });
  const findFull = createSpoolLimit(context, spool, log);
  const memory = createMemory(spool);
  const fetch: Context['fetch'] = (...request) => {
    memory.use();
    return context.fetch(...request);
  };
  const delivery = startDelivery({ ...context, fetch }, pipeline, { signal, log, timing });
  let troubles = 0;
  function onTrouble({ path, reason }: Trouble): void {
    troubles++;
    log.warn(`${path} cannot be read: ${reason}`);
  }
  const choices = { consent, patienceMs: PATIENCE_MS, onTrouble };
  const reader = openReader(context, pipeline, choices);
  let isFull = false;
  const isStopped = () => signal.aborted || isFull;
  let catchingUp: Promise<void> | undefined;
  let mayCatchUp = true;

  async function onCommit(mustStop: () => boolean): Promise<void> {
    delivery.wake();
    memory.use();
    isFull = findFull();
    await giveWay(spool, { isStopped: mustStop, isFlowing: delivery.isFlowing });
  }

  /** Lets something else be read after a while, if it must. False where some of it is left. */
  async function read(work: Work, mustYield: () => boolean): Promise<boolean> {
    const started = tick();
    const mustStop = () => isStopped() || (tick() - started > timing.sliceMs && mustYield());
    const isWhole = await reader.read(work, { isStopped: mustStop, onCommit: () => onCommit(mustStop) });
    // Otherwise another process has read some of it meanwhile.
    if (!isWhole || isStopped()) scan.expire();
    return isWhole && !mustStop();
  }

  /**
   * In the order of their age. What there is much of, and what has to wait for others, is read with everything, in which they
   * are as well.
   */
  async function readFiles(files: readonly Place[]): Promise<void> {
    if (files.length === 0) return;
    const work = reader.findWork(files);
    // In a folder that is new there may be more than was noticed.
    scan.follow(work.sessions);
    const few = pickSmall(work.sessions);
    const left = work.sessions.filter((session) => !few.has(session)).flat();
    const sessions = work.sessions.filter(
      (session) => few.has(session) && !session.some((file) => mayRepeat(file, left)),
    );
    const isRead = await read({ ...work, sessions }, () => false);
    if (!isRead || sessions.length < work.sessions.length) scan.expire();
  }

  /**
   * Whether it may begin with records of another transcript that is not read to its end, or among those left to be read
   * later: they would count as its own.
   */
  function mayRepeat({ found: { agent }, origin, id }: Unread, left: readonly Unread[]): boolean {
    const { session, subagent, forkedFrom } = origin;
    if (id !== undefined || (forkedFrom ?? subagent) === undefined) return false;
    const parent = forkedFrom ?? session;
    const isLeft = left.some(({ found, origin }) => found.agent.id === agent.id && origin.session === parent);
    return isLeft || !spool.sessions.isSettled(agent.id, parent);
  }

  /** Has what there is much of read beside this process, which goes on with what is being written. */
  async function catchUp(): Promise<void> {
    try {
      const reading = { isStopped, onCommit: () => onCommit(isStopped) };
      await startCatchUp(context, { ...choices, ...reading, spool: spool.path, places });
    } catch (error) {
      mayCatchUp = false;
      log.warn(`What there is to catch up with is read by the daemon itself: ${describe(error)}`);
    }
    catchingUp = undefined;
    scan.expire();
    wake();
  }

  async function readRound(): Promise<void> {
    const isStore = ({ agent, below }: Place) =>
      transcriptAt(agent, below) !== undefined && storeOf(agent, below) !== undefined;
    const changed = scan.take();
    await readFiles(changed.filter((place) => !isStore(place)));
    for (const place of changed.filter(isStore)) {
      if (isStopped()) break;
      const started = cpu();
      const troublesBefore = troubles;
      // A document would be read from its beginning again: it is not interrupted for what is noticed, itself included.
      const isWhole = storeOf(place.agent, place.below)?.kind === 'document';
      const mustYield = () => !isWhole && scan.isNoticed();
      // What is read as a whole whenever it changes is not read at each of its changes.
      const isRead = await read(reader.findWork([place]), mustYield);
      const hasFailed = troubles > troublesBefore;
      if (isRead || hasFailed) scan.rest(place, cpu() - started, hasFailed);
      else scan.notice(place);
    }
    const everything = isStopped() ? [] : scan.takeEverything();
    if (everything.length === 0 || catchingUp !== undefined) return;
    const work = reader.findWork(everything);
    scan.learn(work);
    if (mayCatchUp && work.bytes > CATCH_UP_BYTES) catchingUp = catchUp();
    else if (!(await read(work, scan.isNoticed))) scan.expire();
  }

  async function keepReading(): Promise<void> {
    while (!signal.aborted) {
      resting = new AbortController();
      try {
        isFull = findFull();
        if (!isStopped()) {
          await readRound();
          // Another process may have read what is new and left it for this one to send.
          delivery.wake();
        }
        // A step a round: what is written to meanwhile does not wait long for it.
        spool.shrink();
      } catch (error) {
        await recover(error);
      }
      await rest();
      await sleep(timing.settleMs, undefined, { signal });
    }
  }

  /** Reading is tried again, unless only opening the spool anew can tell where it stands. */
  async function recover(error: unknown): Promise<void> {
    scan.expire();
    const damage = damageOf(error);
    if (damage === 'damaged' || damage === 'unsure') throw error;
    if (damage === 'full') {
      log.warn('The disk is full. Reading waits until there is room; the transcripts keep what is not read.');
    } else log.warn(`Reading failed, and is tried again: ${describe(error)}`);
    await sleep(timing.restartMs, undefined, { signal });
  }

  /** Until something is due or noticed. */
  async function rest(): Promise<void> {
    const pauseMs = isFull ? timing.careMs : scan.pauseMs();
    const ends = isFull ? signal : AbortSignal.any([signal, resting.signal]);
    await sleep(pauseMs, undefined, { signal: ends }).catch(() => {});
  }

  try {
    await Promise.race([keepReading(), delivery.ended]);
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    stop.abort();
    watch.close();
    memory.close();
    await Promise.allSettled([delivery.ended, catchingUp]);
  }
}

/**
 * As many sessions as may be read before anything else is: the small ones, since what was just said in one does not wait for
 * the megabytes of another.
 */
function pickSmall(sessions: readonly Unread[][]): Set<Unread[]> {
  const sizes = new Map(sessions.map((files) => [files, files.reduce((sum, file) => sum + bytesOf(file), 0)]));
  const small = new Set<Unread[]>();
  let bytes = 0;
  for (const [files, size] of [...sizes].sort(([, one], [, other]) => one - other)) {
    bytes += size;
    if (bytes <= CATCH_UP_BYTES) small.add(files);
  }
  return small;
}
