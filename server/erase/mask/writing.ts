import type { Slices } from '../../background.ts';
import { readAppends, type StoredAppend } from '../../store/events.ts';
import { type Job, noteProgress } from '../../store/jobs.ts';
import type { Db, SessionRow } from '../../store/schema.ts';
import type { Masker } from './mask-thread.ts';
import { type MaskedAppend, writeMasked } from './masked-events.ts';
import { type SessionMask, TODAYS_RULES } from './masks.ts';

interface WritingOptions {
  db: Db;
  now: () => number;
}

/**
 * How many appends the thread masks at once. When a text is masked, one transaction writes them, and the appends of other
 * senders wait for it.
 */
const AT_ONCE = { appends: 20, bytes: 256 * 1024 };
/**
 * How many masked appends wait for one transaction when rules find them. After a crash the rules no longer know the secrets of
 * earlier events, so related events should be written together.
 */
const MAX_GROUP_BY_RULES = { appends: 200, bytes: 8 * 1024 * 1024 };
/** How long a slice takes before other work is served. */
const SLICE_MS = 500;
/** Writes the findings of a masker in a session, and its progress. */
export class Writing {
  readonly #options: WritingOptions;
  readonly #job: Job;
  readonly #mask: SessionMask;
  readonly #masker: Pick<Masker, 'add' | 'end'>;
  readonly #turn = new Turn();
  /** Findings that are not written yet. */
  #found: MaskedAppend[] = [];
  /** False at the end: the text may also be in parts of a payload that are too many and too short. */
  isComplete = true;

  constructor(options: WritingOptions, job: Job, mask: SessionMask, masker: Pick<Masker, 'add' | 'end'>) {
    this.#options = options;
    this.#job = job;
    this.#mask = mask;
    this.#masker = masker;
  }

  /** Masks from an event on to the end of the given session. @returns false if another mask changed the same appends */
  async *mask(session: SessionRow, from: number): Slices<boolean> {
    for await (const appends of readSome(this.#options.db, session, from, session.event_count)) {
      const { masked, isSettled } = await this.#masker.add(appends);
      this.#found.push(...masked);
      const through = isSettled ? appends.at(-1)?.last_sequence : undefined;
      if (this.#isFull() && !(await this.flush(through))) return false;
      // After a crash the rules no longer know earlier events, so the progress never passes an unwritten finding.
      if (this.#found.length === 0 && through !== undefined) this.#job.progress = String(through);
      if (this.#turn.isOver()) yield 0;
    }
    return true;
  }

  async end(): Promise<boolean> {
    const { masked, isComplete } = await this.#masker.end();
    this.isComplete = isComplete;
    this.#found.push(...masked);
    return this.flush();
  }

  /**
   * @param through the event up to which everything is masked afterwards
   * @returns false if another mask changed the same appends
   */
  async flush(through?: number): Promise<boolean> {
    const { db, now } = this.#options;
    if (this.#found.length === 0) return true;
    const { progress } = this.#job;
    const job = { ...this.#job, progress: through === undefined ? progress : String(through) };
    const along = async (transaction: Db) => void (await noteProgress(transaction, job, now()));
    if (!(await writeMasked(db, this.#mask, this.#found, now(), along))) return false;
    this.#job.progress = job.progress;
    this.#found = [];
    return true;
  }

  #isFull(): boolean {
    if (this.#mask.sealed !== TODAYS_RULES) return this.#found.length > 0;
    const bytes = this.#found.reduce((sum, { body }) => sum + body.byteLength, 0);
    return this.#found.length >= MAX_GROUP_BY_RULES.appends || bytes >= MAX_GROUP_BY_RULES.bytes;
  }
}

/** Measures the time of a slice. */
export class Turn {
  #since = performance.now();

  isOver(): boolean {
    const isOver = performance.now() - this.#since > SLICE_MS;
    if (isOver) this.#since = performance.now();
    return isOver;
  }
}

/** Reads appends of a session in groups that are masked at once. */
export async function* readSome(db: Db, session: SessionRow, from: number, to: number): AsyncGenerator<StoredAppend[]> {
  let some: StoredAppend[] = [];
  let bytes = 0;
  for await (const append of readAppends(db, session.organization_id, session.session_id, from, to)) {
    some.push(append);
    bytes += append.body.byteLength;
    if (some.length < AT_ONCE.appends && bytes < AT_ONCE.bytes) continue;
    yield some;
    [some, bytes] = [[], 0];
  }
  if (some.length > 0) yield some;
}
