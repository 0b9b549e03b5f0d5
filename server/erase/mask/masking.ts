import { setTimeout as wait } from 'node:timers/promises';
import { createMarker } from '../../../redact/mark.ts';
import type { Slices } from '../../background.ts';
import type { JobAsker } from '../../idle-worker.ts';
import { type Jobs, Unrepairable } from '../../jobs.ts';
import { nameSession } from '../../log/damaged.ts';
import type { SessionKey } from '../../log/decide.ts';
import type { Job } from '../../store/jobs.ts';
import type { Db, SessionRow } from '../../store/schema.ts';
import { findSession } from '../../store/sessions.ts';
import { wholeOrganization } from '../../store/viewer.ts';
import { countInSlices, inOneGo } from './count.ts';
import { maskEachSession } from './mask-everywhere.ts';
import type { Wanted } from './mask-program.ts';
import type { MaskThread } from './mask-thread.ts';
import {
  endMask,
  findMask,
  finishMask,
  insertMask,
  insertMaskOfAll,
  isOfSession,
  jobOf,
  MASK_JOB,
  MaskHeld,
  type MaskOfAll,
  newMaskOfAllId,
  type SessionMask,
  TODAYS_RULES,
} from './masks.ts';
import { markKey, seal, unseal } from './seal.ts';
import { Writing } from './writing.ts';

export interface MaskingOptions {
  db: Db;
  jobs: Pick<Jobs, 'register' | 'start'>;
  thread: Pick<MaskThread, 'begin'>;
  pepper: string;
  now: () => number;
  /** Present if acknowledged events may not be in the store yet. */
  bus?: OnItsWay | undefined;
  /** Called when a session was masked, because its derived data must be renewed. */
  onMasked: (session: SessionRow) => Promise<void>;
  /** Called for each session that a mask of all sessions leaves out because its events are damaged. */
  noteDamage: (error: unknown) => void;
  /** Called with the reason when a mask waits for acknowledged events to reach the store, once in each attempt of its job. */
  onWaits: (reason: string) => void;
}

/** Gives access to events that are acknowledged but perhaps not in the store yet. */
export interface OnItsWay {
  /** How many events of the session are acknowledged, including those that are not in the store yet. */
  countAccepted(place: SessionKey): Promise<number>;
  /** Removes the original messages of the session's events that are in the store. False: not all of them are settled yet. */
  removeWritten(place: SessionKey, eventCount: number): Promise<boolean>;
}

/** How much is masked, or would be masked. */
export interface Counts {
  mark: string;
  events: number;
  places: number;
  fields: number;
  /** The figures that contain the text and are left as they are, if there are any. */
  left?: string[];
  /** Set if the text may also be in parts of a payload that are too many and too short to be searched together. */
  incomplete?: true;
}

/** The rule in the marks of texts that a member marked. */
const RULE = 'manual';
/** How long a request waits for the end of masking, in milliseconds. */
const PATIENCE_MS = 20_000;
/** How long a mask waits for events to reach the store, how often it checks, and how long it then pauses without using memory. */
const [MAX_WAIT_MS, LOOK_EVERY_MS, REST_MS] = [5_000, 100, 30_000];
const HELP = 'see "Dead letters" in docs/event-bus.md';
/** How often a mask starts again because another mask changed the same session. */
const MAX_TRIES = 20;

/**
 * Masks texts in stored sessions. A mask is a job (`jobs.ts`). Of a session, its progress is the event up to which everything is
 * masked; of all sessions, the last session that was read (`mask-everywhere.ts`).
 *
 * | a mask  | when                                                | becomes                               |
 * | ------- | --------------------------------------------------- | ------------------------------------- |
 * | –       | a member marks a text                               | running; its text is kept encrypted   |
 * | running | a transaction is committed                          | running, some appends further         |
 * | running | events do not reach the store                       | running, after a pause                |
 * | running | it has read what arrived until then                 | done; its text is deleted             |
 * | running | the session is held                                 | held; its text is deleted             |
 * | running | of all sessions: a session was read                 | running; continues after that session |
 * | running | of all sessions: no session is left                 | done; its text is deleted             |
 * | running | of all sessions: its requester is no admin any more | stopped; its text is deleted          |
 * | running | its job fails for good                              | failed; its text is deleted           |
 * | running | its requester withdraws it                          | cancelled; its text is deleted        |
 */
export class Masking {
  readonly #options: MaskingOptions;

  constructor(options: MaskingOptions) {
    this.#options = options;
    options.jobs.register(MASK_JOB, {
      work: (job) => this.#work(job),
      fail: (job) => this.#stop(job, 'failed'),
    });
  }

  /**
   * Counts what would be masked, and changes nothing.
   * @param db refuses queries once nobody waits for the count
   */
  count(db: Db, session: SessionRow, text: string, asker: JobAsker): Promise<Counts> {
    return inOneGo(this.countInSlices(session, text, asker, db));
  }

  async *countInSlices(session: SessionRow, text: string, asker: JobAsker, db = this.#options.db): Slices<Counts> {
    const mark = this.#markOf(session.session_id, text);
    const masker = await this.#options.thread.begin({ kind: 'text', text, mark }, asker);
    const { events, places, fields, left, isComplete } = yield* countInSlices(db, session, masker);
    return { mark, events, places, fields, ...(left.length > 0 && { left }), ...(!isComplete && { incomplete: true }) };
  }

  /** Waits for the acknowledged events of the session to reach the store. After a while it returns the session without them. */
  async *whenArrived(session: SessionRow): Slices<SessionRow> {
    const { db, bus } = this.#options;
    if (!bus) return session;
    const { organization_id: organizationId, session_id: sessionId } = session;
    const accepted = await bus.countAccepted({ organizationId, sessionId });
    let arrived = session;
    yield* poll(async () => {
      arrived = (await findSession(db, wholeOrganization(organizationId), sessionId)) ?? arrived;
      return arrived.event_count >= accepted;
    });
    return arrived;
  }

  /**
   * Masks a text. Resolves once that is done, or after a while; the mask then continues by itself.
   * @throws MaskHeld
   */
  async mask(place: SessionKey, userId: string, text: string): Promise<SessionMask> {
    const { db, jobs } = this.#options;
    const row = await this.ask(place, userId, text);
    const over = new AbortController();
    const patience = wait(PATIENCE_MS, undefined, { signal: over.signal }).catch(() => undefined);
    await Promise.race([jobs.start(jobOf(row)), patience]);
    over.abort();
    const found = await findMask(db, place.organizationId, row.mask_id);
    return found && isOfSession(found) ? found : row;
  }

  /**
   * Stores the request to mask a text. The caller must start the job.
   * @param along writes more in the same transaction
   * @throws MaskHeld
   */
  async ask(
    { organizationId, sessionId }: SessionKey,
    userId: string,
    text: string,
    along?: (transaction: Db) => Promise<void>,
  ): Promise<SessionMask> {
    const { db, pepper, now, bus } = this.#options;
    const mark = this.#markOf(sessionId, text);
    const sealed = seal(pepper, sessionId, text);
    const acceptedEvents = (await bus?.countAccepted({ organizationId, sessionId })) ?? 0;
    return insertMask(db, { organizationId, sessionId, userId, mark, sealed, acceptedEvents }, now(), along);
  }

  /**
   * Requests to mask a text in all sessions that the person may read, or to count it, and begins.
   * @throws Problem `quota_reached`
   */
  async maskEverywhere(organizationId: string, userId: string, text: string, isDry: boolean): Promise<MaskOfAll> {
    const { db, pepper, now, jobs } = this.#options;
    const maskId = newMaskOfAllId(now());
    const sealed = seal(pepper, maskId, text);
    const row = await insertMaskOfAll(db, { maskId, organizationId, userId, isDry, sealed }, now());
    void jobs.start(jobOf(row));
    return row;
  }

  async *#work(job: Job): Slices {
    const { db, pepper } = this.#options;
    const mask = await findMask(db, job.organization_id, job.job_id);
    if (!mask || mask.sealed === null) return;
    const { mask_id, sealed } = mask;
    if (isOfSession(mask)) return yield* this.#maskSession(job, mask, this.#wantedOf(mask.session_id, sealed));
    yield* maskEachSession({ ...this.#options, masking: this }, job, mask, () => unsealed(pepper, mask_id, sealed));
  }

  async *#maskSession(job: Job, mask: SessionMask, wanted: Wanted): Slices {
    const { onWaits } = this.#options;
    let isTold = false;
    try {
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const outcome = yield* this.#attempt(job, mask, wanted);
        if (outcome === 'done') return;
        if (outcome === 'overtaken') continue;
        tries--;
        if (!isTold) onWaits(`the mask ${mask.mask_id} of the session ${mask.session_id} waits: ${outcome.waits}`);
        isTold = true;
        yield REST_MS;
      }
    } catch (error) {
      if (error instanceof MaskHeld) return this.#stop(job, 'held');
      throw nameSession(placeOf(mask), error);
    }
    throw new Error('other masks kept changing the appends');
  }

  /**
   * Masks the events that were acknowledged when the mask was requested, and those that arrived until these had been read. Thus
   * it reads a session that keeps growing only once.
   * @returns `waits`: why events do not reach the store; `overtaken`: another mask changed the appends that were read
   */
  async *#attempt(job: Job, mask: SessionMask, wanted: Wanted): Slices<'done' | 'overtaken' | { waits: string }> {
    const { db, thread, bus, now, onMasked } = this.#options;
    const { organization_id: organizationId, session_id: sessionId } = mask;
    const find = () => findSession(db, wholeOrganization(organizationId), sessionId);
    const masker = await thread.begin(wanted, { group: organizationId, person: mask.requested_by, signal: undefined });
    try {
      const writing = new Writing(this.#options, job, mask, masker);
      let session = await find();
      if (session && !(yield* writing.mask(session, Number(job.progress) + 1))) return 'overtaken';
      const read = Math.max(Number(job.progress), session?.event_count ?? 0);
      const hasArrived = yield* poll(async () => {
        session = await find();
        return !session || session.event_count >= Number(mask.accepted_events);
      });
      if (session && !(yield* writing.mask(session, read + 1))) return 'overtaken';
      if (!hasArrived) {
        const waits = `of ${mask.accepted_events} events that were acknowledged ${session?.event_count} can be read; ${HELP}`;
        return (await writing.flush()) ? { waits } : 'overtaken';
      }
      if (!(await writing.end())) return 'overtaken';
      if (!writing.isComplete) throw new Unrepairable('a payload has too many short parts to be searched completely');
      // Removes the original events from the bus, because all of them are in the store by now.
      const { event_count: eventCount = 0 } = session ?? {};
      const isGone = async () => !bus || !session || bus.removeWritten({ organizationId, sessionId }, eventCount);
      if (!(yield* poll(isGone))) return { waits: 'a worker has yet to settle messages of the event bus' };
      for (let isDone = false; !isDone; ) {
        const before = await find();
        const own = before && { before, ...(await masker.maskFields(before)) };
        isDone = await finishMask(db, job, mask, own, now());
      }
      // Uses the session row that covers the masked events.
      if (session) await onMasked({ ...session, updated_at: now() });
      return 'done';
    } finally {
      await masker.drop();
    }
  }

  /** Ends a mask early. The text that it has masked so far stays masked. */
  async #stop(job: Job, outcome: 'held' | 'failed'): Promise<void> {
    const { db, now, onMasked } = this.#options;
    const { organization_id: organizationId, job_id: maskId } = job;
    await endMask(db, job, outcome, now());
    const mask = await findMask(db, organizationId, maskId);
    if (!mask || !isOfSession(mask) || Number(mask.places) === 0) return;
    const session = await findSession(db, wholeOrganization(organizationId), mask.session_id);
    if (session) await onMasked({ ...session, updated_at: now() });
  }

  /** @throws Unrepairable */
  #wantedOf(sessionId: string, sealed: string): Wanted {
    const { pepper } = this.#options;
    if (sealed === TODAYS_RULES) return { kind: 'rules', key: markKey(pepper), sessionId };
    const text = unsealed(pepper, sessionId, sealed);
    return { kind: 'text', text, mark: this.#markOf(sessionId, text) };
  }

  #markOf(sessionId: string, text: string): string {
    return createMarker(markKey(this.#options.pepper), sessionId)(RULE, text);
  }
}

/** @throws Unrepairable if the pepper of the service has changed */
function unsealed(pepper: string, id: string, sealed: string): string {
  try {
    return unseal(pepper, id, sealed);
  } catch (cause) {
    throw new Unrepairable('the text was encrypted under another pepper', { cause });
  }
}

const placeOf = ({ organization_id, session_id }: Pick<SessionRow, 'organization_id' | 'session_id'>): SessionKey => ({
  organizationId: organization_id,
  sessionId: session_id,
});

/** Repeats the question until the answer is true. Returns false after a while. */
async function* poll(ask: () => Promise<boolean>): Slices<boolean> {
  for (const end = performance.now() + MAX_WAIT_MS; !(await ask()); yield LOOK_EVERY_MS) {
    if (performance.now() > end) return false;
  }
  return true;
}
