import { Problem } from '../../../contract/problem.ts';
import type { Slices } from '../../background.ts';
import type { Jobs } from '../../jobs.ts';
import { DamagedSession } from '../../log/damaged.ts';
import type { Job } from '../../store/jobs.ts';
import { findMember } from '../../store/members.ts';
import type { Db, MaskRow, MaskRunRow, SessionRow } from '../../store/schema.ts';
import { type Viewer, viewerOf } from '../../store/viewer.ts';
import { findHoldOf } from '../holds.ts';
import {
  advanceMaskRun,
  findMaskRun,
  findNextOfRun,
  finishMaskRun,
  insertMaskRun,
  jobOfRun,
  newMaskRunId,
  RUN_JOB,
  type RunStep,
} from './mask-runs.ts';
import { type Masking, unsealed } from './masking.ts';
import { findMask, jobOf, MaskHeld } from './masks.ts';
import { seal } from './seal.ts';

export interface MaskRunsOptions {
  db: Db;
  masking: Pick<Masking, 'whenArrived' | 'countInSlices' | 'ask'>;
  jobs: Pick<Jobs, 'register' | 'start'>;
  pepper: string;
  /** Called for each session that is left out because its events are damaged. */
  noteDamage: (error: unknown) => void;
  now: () => number;
}

/** How long a run waits for a mask that it requested. After that, the mask continues by itself. */
const PATIENCE_MS = 20_000;
const LOOK_EVERY_MS = 100;

/**
 * Masks texts in all sessions that an admin may read, one session after the other. A run is a job (`jobs.ts`), and its progress
 * is the last read session.
 *
 * | a run   | when                                     | becomes                                        |
 * | ------- | ---------------------------------------- | ---------------------------------------------- |
 * | –       | an admin marks a text                    | running; its text is kept encrypted            |
 * | running | a session was read                       | running; it continues after that session       |
 * | running | its requester is no owner or admin now   | stopped; its text is deleted                   |
 * | running | its requester cancels it                 | cancelled; its text is deleted                 |
 * | running | its job fails for good                   | failed; its text is deleted                    |
 * | running | no session is left                       | done; its text is deleted                      |
 */
export class MaskRuns {
  readonly #options: MaskRunsOptions;

  constructor(options: MaskRunsOptions) {
    this.#options = options;
    options.jobs.register(RUN_JOB, {
      work: (job) => this.#work(job),
      fail: (job) => finishMaskRun(options.db, job, 'failed', options.now()),
    });
  }

  /** @throws Problem `quota_reached` */
  async start(organizationId: string, userId: string, text: string, isDry: boolean): Promise<MaskRunRow> {
    const { db, pepper, now, jobs } = this.#options;
    const runId = newMaskRunId(now());
    const sealed = seal(pepper, runId, text);
    const row = await insertMaskRun(db, { runId, organizationId, userId, isDry, sealed }, now());
    void jobs.start(jobOfRun(row));
    return row;
  }

  async *#work(job: Job): Slices {
    const { db, now, pepper } = this.#options;
    const run = await findMaskRun(db, job.organization_id, job.job_id);
    if (!run || run.sealed === null) return;
    for (;;) {
      const viewer = await this.#viewerOf(run);
      const session = viewer && (await findNextOfRun(db, viewer, run, job.progress));
      if (!session) return finishMaskRun(db, job, viewer ? 'done' : 'stopped', now());
      const mask = yield* this.#maskUnlessDamaged(job, run, session, unsealed(pepper, run.run_id, run.sealed));
      job.progress = session.session_id;
      yield 0;
      if (mask) yield* this.#wait(mask);
    }
  }

  /** Leaves out a damaged session, so that it does not prevent the others from being masked. */
  async *#maskUnlessDamaged(job: Job, run: MaskRunRow, session: SessionRow, text: string) {
    try {
      return yield* this.#maskIn(job, run, session, text);
    } catch (error) {
      if (!(error instanceof DamagedSession)) throw error;
      const { db, now, noteDamage } = this.#options;
      noteDamage(error);
      const step: RunStep = { sessionId: session.session_id, leftOut: 'damaged', events: 0, places: 0, fields: 0 };
      await db.transaction().execute((transaction) => advanceMaskRun(transaction, job, step, now()));
      return undefined;
    }
  }

  /** @returns the mask, if the session contains the text */
  async *#maskIn(job: Job, run: MaskRunRow, session: SessionRow, text: string): Slices<MaskRow | undefined> {
    const { db, masking, now } = this.#options;
    const { organization_id: organizationId, session_id: sessionId } = session;
    const place = { organizationId, sessionId };
    const nothing: RunStep = { sessionId, events: 0, places: 0, fields: 0 };
    const noted = async (step: RunStep) => {
      await db.transaction().execute((transaction) => advanceMaskRun(transaction, job, step, now()));
      return undefined;
    };
    const held: RunStep = { ...nothing, leftOut: 'held' };
    if ((await findHoldOf(db, place)) !== undefined) return noted(held);
    const asker = { group: organizationId, person: run.requested_by, signal: undefined };
    const { events, places, fields, incomplete } = yield* masking.countInSlices(
      yield* masking.whenArrived(session),
      text,
      asker,
    );
    const step = { ...nothing, events, places, fields };
    // The mask of a session that cannot be searched completely fails, and its receipt says so.
    if (run.is_dry === 1 || (events + fields === 0 && !incomplete)) return noted(step);
    // Reading takes a while, and the owner of the session may have restricted it meanwhile.
    const viewer = await this.#viewerOf(run);
    if (!viewer || (await findNextOfRun(db, viewer, run, job.progress))?.session_id !== sessionId)
      return noted(nothing);
    try {
      // Uses the transaction that requests the mask, so that a session is counted once even if the process stops.
      return await masking.ask(place, run.requested_by, text, (transaction) =>
        advanceMaskRun(transaction, job, step, now()),
      );
    } catch (error) {
      if (error instanceof MaskHeld) return noted(held);
      if (!(error instanceof Problem && error.code === 'content_withheld')) throw error;
      return noted(nothing);
    }
  }

  /** Waits for a mask, so that a run does not request thousands at once. */
  async *#wait(mask: MaskRow): Slices {
    const { db, jobs } = this.#options;
    void jobs.start(jobOf(mask));
    for (const end = performance.now() + PATIENCE_MS; performance.now() < end; yield LOOK_EVERY_MS) {
      const row = await findMask(db, mask.organization_id, mask.mask_id);
      if (!row || row.finished_at !== null) return;
    }
  }

  /** The requester with their current rights; undefined if they are no longer an owner or admin. */
  async #viewerOf({ organization_id: organizationId, requested_by: userId }: MaskRunRow): Promise<Viewer | undefined> {
    const { db } = this.#options;
    const member = await findMember(db, organizationId, userId);
    if (member?.status !== 'active' || member.role === 'member') return undefined;
    return viewerOf(db, { organizationId, userId, role: member.role });
  }
}
