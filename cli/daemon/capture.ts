import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { storeOf } from '../agents/store.ts';
import type { Context } from '../context.ts';
import { describe } from '../failure.ts';
import type { Pipeline } from '../pipeline.ts';
import type { Consent } from '../privacy/consent.ts';
import { type Place, type Trouble, transcriptAt } from '../read/discover.ts';
import type { UnreadTranscript } from '../read/identify.ts';
import { bytesOf, type Progress, type Work } from '../read/reader.ts';
import { LARGE_BYTES, openReader, type Reader } from '../reading.ts';
import { damageOf } from '../spool/damage.ts';
import { startDelivery } from './deliver.ts';
import { createMemory, createSpoolLimit, type Timing } from './limits.ts';
import type { Log } from './log.ts';
import type { StateReport } from './report.ts';
import { createScan } from './scan.ts';
import { createWatch, type Watch } from './watch.ts';

export interface CaptureOptions {
  pipeline: Pipeline;
  places: readonly Place[];
  consent: Consent;
  signal: AbortSignal;
  log: Log;
  timing: Timing;
  report: StateReport;
}

const tick = () => performance.now();
/** The processor time of this process in milliseconds. */
function cpu(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/**
 * Reads and sends with one spool, until the signal. Rejects with the error that made the spool unusable, or with an error of
 * this program.
 */
export async function captureLive(context: Context, options: CaptureOptions): Promise<void> {
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  const memory = createMemory(options.pipeline.spool);
  const fetch: Context['fetch'] = (...request) => {
    memory.use();
    return context.fetch(...request);
  };
  const delivery = startDelivery({ ...context, fetch }, options.pipeline, { ...options, signal });
  let reading: Reading | undefined;
  try {
    reading = new Reading(context, { ...options, signal, memory, delivery });
    await Promise.race([reading.run(), delivery.ended]);
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    stop.abort();
    memory.close();
    reading?.close();
    await Promise.allSettled([delivery.ended, reading?.catchingUp]);
  }
}

interface ReadingOptions extends CaptureOptions {
  memory: ReturnType<typeof createMemory>;
  delivery: ReturnType<typeof startDelivery>;
}

/** Reads changed transcripts into the spool. Small changes are read at once; large ones are read beside everything else. */
class Reading {
  readonly #options: ReadingOptions;
  readonly #watch: Watch;
  readonly #scan: ReturnType<typeof createScan>;
  readonly #findFull: () => boolean;
  readonly #reader: Reader;
  /** How many files could not be read so far. */
  #troubles = 0;
  /** Whether the spool is full. */
  #isFull = false;
  /** The process that reads a large backlog. */
  #catchingUp: Promise<void> | undefined;
  /** Aborted by anything that ends the pause between two rounds. */
  #pause = new AbortController();

  constructor(context: Context, options: ReadingOptions) {
    const { pipeline, places, consent, log, timing } = options;
    this.#options = options;
    this.#watch = createWatch({
      platform: context.platform,
      onChange: (place) => {
        this.#scan.notice(place);
        this.#pause.abort();
      },
    });
    const inboxes = context.agents
      .filter(({ hookedAs }) => hookedAs !== undefined)
      .map((agent) => ({ agent, root: join(pipeline.folder, 'inbox', agent.id), below: '' }));
    this.#scan = createScan({ places, inboxes, watch: this.#watch, tick, now: context.now, timing });
    this.#findFull = createSpoolLimit(context, pipeline.spool, log);
    const onTrouble = ({ path, reason }: Trouble) => {
      this.#troubles++;
      log.warn(`${path} cannot be read: ${reason}`);
    };
    const onReadHere = (reason: string) => log.warn(`The daemon itself reads the backlog: ${reason}`);
    this.#reader = openReader(context, pipeline, { consent, patienceMs: timing.patienceMs, onTrouble, onReadHere });
  }

  /** The process that reads a large backlog, while it runs. */
  get catchingUp(): Promise<void> | undefined {
    return this.#catchingUp;
  }

  /** Runs until the signal. */
  async run(): Promise<void> {
    const { signal, timing, delivery, pipeline } = this.#options;
    while (!signal.aborted) {
      this.#pause = new AbortController();
      try {
        this.#isFull = this.#findFull();
        if (!this.#isStopped()) {
          await this.#readRound();
          // Another process may have read new records and left them for this one to send.
          delivery.wake();
        }
        // Each round gives one step of space back, so that new changes do not wait long for it.
        pipeline.spool.shrink();
      } catch (error) {
        await this.#recover(error);
      }
      await this.#waitUntilDue();
      await sleep(timing.settleMs, undefined, { signal });
    }
  }

  close(): void {
    this.#watch.close();
  }

  #isStopped(): boolean {
    return this.#options.signal.aborted || this.#isFull;
  }

  async #readRound(): Promise<void> {
    const changed = this.#scan.take();
    await this.#readFiles(changed.filter((place) => !isStore(place)));
    for (const place of changed.filter(isStore)) {
      if (this.#isStopped()) break;
      await this.#readStore(place);
    }
    const everything = this.#isStopped() ? [] : this.#scan.takeEverything();
    if (everything.length === 0 || this.#catchingUp !== undefined) return;
    const work = this.#reader.findWork(everything);
    this.#scan.learn(work);
    if (this.#reader.isLarge(work)) this.#catchingUp = this.#catchUp(work);
    else if (!(await this.#read(work, () => this.#scan.isNoticed()))) this.#scan.expire();
  }

  /**
   * Reads sessions in the order of their age. A large backlog, and sessions that must wait for others, are left to the
   * next read of everything, which covers them too.
   */
  async #readFiles(files: readonly Place[]): Promise<void> {
    if (files.length === 0) return;
    const work = this.#reader.findWork(files);
    // A new folder may contain more files than the system reported.
    this.#scan.follow(work.sessions);
    const few = pickSmall(work.sessions);
    const left = work.sessions.filter((session) => !few.has(session)).flat();
    const sessions = work.sessions.filter(
      (session) => few.has(session) && !session.some((file) => this.#mayRepeat(file, left)),
    );
    const isRead = await this.#read({ ...work, sessions }, () => false);
    if (!isRead || sessions.length < work.sessions.length) this.#scan.expire();
  }

  /** Reads a store. A store that is read as a whole is not read at each of its changes. */
  async #readStore(place: Place): Promise<void> {
    const started = cpu();
    const troublesBefore = this.#troubles;
    // A document would be read from its beginning again, so a new change does not interrupt the reading, even if it is a
    // change of the same document.
    const isWhole = storeOf(place.agent, place.below)?.kind === 'document';
    const mustYield = () => !isWhole && this.#scan.isNoticed();
    const isRead = await this.#read(this.#reader.findWork([place]), mustYield);
    const hasFailed = this.#troubles > troublesBefore;
    if (isRead || hasFailed) this.#scan.leaveAlone(place, cpu() - started, hasFailed);
    else this.#scan.notice(place);
  }

  /** Reads work, and stops after a while if something else must be read. Returns false if some of it is left. */
  async #read(work: Work, mustYield: () => boolean): Promise<boolean> {
    const started = tick();
    const isSliceOver = () => tick() - started > this.#options.timing.sliceMs;
    const mustStop = () => this.#isStopped() || (isSliceOver() && mustYield());
    const isWhole = await this.#reader.readHere(work, this.#progress(mustStop));
    // If this process did not stop, another process has read some of it meanwhile.
    if (!isWhole || this.#isStopped()) this.#scan.expire();
    return isWhole && !mustStop();
  }

  #progress(isStopped: () => boolean): Progress {
    const { delivery, memory } = this.#options;
    return {
      isStopped,
      onCommit: () => {
        delivery.wake();
        memory.use();
        this.#isFull = this.#findFull();
      },
      isFlowing: delivery.isFlowing,
    };
  }

  /**
   * Whether a transcript may begin with records of another one that is not read to its end, or that is left for later. Those
   * records would then count as its own.
   */
  #mayRepeat({ agent, origin, id }: UnreadTranscript, left: readonly UnreadTranscript[]): boolean {
    const { session, subagent, forkedFrom } = origin;
    if (id !== undefined || (forkedFrom ?? subagent) === undefined) return false;
    const parent = forkedFrom ?? session;
    const isLeft = left.some((other) => other.agent.id === agent.id && other.origin.session === parent);
    return isLeft || !this.#options.pipeline.spool.sessions.isSettled(agent.id, parent);
  }

  /** Has another process read a large backlog, while this one reads the transcripts that are being written. */
  async #catchUp(work: Work): Promise<void> {
    try {
      await this.#reader.read(
        work,
        this.#progress(() => this.#isStopped()),
      );
    } finally {
      this.#catchingUp = undefined;
      this.#scan.expire();
      this.#pause.abort();
    }
  }

  /** Retries reading, unless the spool must be opened again to find out how far it got. */
  async #recover(error: unknown): Promise<void> {
    const { log, timing, signal } = this.#options;
    this.#scan.expire();
    const damage = damageOf(error);
    if (damage === 'damaged' || damage === 'unsure') throw error;
    if (damage === 'full') {
      log.warn('The disk is full. Reading waits until there is room. Unread records stay in the transcripts.');
    } else log.warn(`Reading failed and will be retried: ${describe(error)}`);
    await sleep(timing.restartMs, undefined, { signal });
  }

  /** Waits until something is due or noticed. */
  async #waitUntilDue(): Promise<void> {
    const { timing, signal } = this.#options;
    const pauseMs = this.#isFull ? timing.careMs : this.#scan.pauseMs();
    const ends = this.#isFull ? signal : AbortSignal.any([signal, this.#pause.signal]);
    await sleep(pauseMs, undefined, { signal: ends }).catch(() => {});
  }
}

const isStore = ({ agent, below }: Place): boolean =>
  transcriptAt(agent, below) !== undefined && storeOf(agent, below) !== undefined;

/**
 * Picks the sessions to read before all others: the small ones. A new message in one session must not wait for the megabytes
 * of another.
 */
function pickSmall(sessions: readonly UnreadTranscript[][]): Set<UnreadTranscript[]> {
  const sizes = new Map(sessions.map((files) => [files, files.reduce((sum, file) => sum + bytesOf(file), 0)]));
  const small = new Set<UnreadTranscript[]>();
  let bytes = 0;
  for (const [files, size] of [...sizes].sort(([, one], [, other]) => one - other)) {
    bytes += size;
    if (bytes <= LARGE_BYTES) small.add(files);
  }
  return small;
}
