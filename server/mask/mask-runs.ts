import { Problem } from '../../contract/problem.ts';
import type { Background } from '../background.ts';
import { findHoldOf } from '../store/holds.ts';
import {
  advanceMaskRun,
  claimMaskRun,
  findNextOfRun,
  finishMaskRun,
  insertMaskRun,
  listUnfinishedMaskRuns,
  newMaskRunId,
  type RunStep,
} from '../store/mask-runs.ts';
import { MaskHeld } from '../store/masks.ts';
import { findMember } from '../store/members.ts';
import { isPostgres } from '../store/postgres.ts';
import type { Db, SessionRow } from '../store/schema.ts';
import type { MaskRunRow } from '../store/schema-governance.ts';
import { type Viewer, viewerOf } from '../store/viewer.ts';
import type { Masking } from './masking.ts';
import { seal, unseal } from './seal.ts';

export interface MaskRunsOptions {
  db: Db;
  masking: Pick<Masking, 'count' | 'mask'>;
  background: Pick<Background, 'run' | 'signal'>;
  pepper: string;
  now: () => number;
}

/** After that another process goes on. */
const CLAIM_MS = 600_000;
const MOST_RESUMED = 100;

/**
 * Masks texts in all sessions that an admin may read, one session after the other. Each session is a job of its own, so that
 * organizations have their turns, and a run goes on behind the session that was read last.
 *
 * | a run   | when                                     | becomes                                        |
 * | ------- | ---------------------------------------- | ---------------------------------------------- |
 * | –       | an admin marks a text                    | running; its text is kept encrypted            |
 * | running | a session was read                       | running, behind that session                   |
 * | running | the process stops                        | running, once another process claims it        |
 * | running | who asked is no owner or admin any more  | stopped; its text is forgotten                 |
 * | running | no session is left                       | done; its text is forgotten                    |
 */
export class MaskRuns {
  readonly #options: MaskRunsOptions;
  readonly #going = new Set<string>();

  constructor(options: MaskRunsOptions) {
    this.#options = options;
  }

  /** @throws Problem `quota_reached` */
  async start(organizationId: string, userId: string, text: string, isDry: boolean): Promise<MaskRunRow> {
    const { db, pepper, now } = this.#options;
    const runId = newMaskRunId(now());
    const sealed = seal(pepper, runId, text);
    const row = await insertMaskRun(db, { runId, organizationId, userId, isDry, sealed }, now());
    void this.#go(row);
    return row;
  }

  /** Goes on with what another process has left. */
  async resume(): Promise<void> {
    for (const row of await listUnfinishedMaskRuns(this.#options.db, MOST_RESUMED)) void this.#go(row);
  }

  async #go(row: MaskRunRow): Promise<void> {
    const { background } = this.#options;
    if (this.#going.has(row.run_id)) return;
    this.#going.add(row.run_id);
    try {
      for (let hasMore = true; hasMore && !background.signal.aborted; ) {
        // What fails, or is given up, is tried again by `resume`.
        hasMore = false;
        await background.run(
          `mask run ${row.run_id}`,
          async (signal) => {
            hasMore = await this.#step(row, signal);
          },
          { group: row.organization_id },
        );
      }
    } finally {
      this.#going.delete(row.run_id);
    }
  }

  /** Masks the text in the next session. @returns whether there may be another one */
  async #step(row: MaskRunRow, signal: AbortSignal): Promise<boolean> {
    const { db, now, pepper } = this.#options;
    // No other process has an embedded store, and in this one a run has one job at a time.
    const run = await claimMaskRun(db, row, now(), isPostgres(db) ? now() + CLAIM_MS : 0);
    if (!run || run.sealed === null || signal.aborted) return false;
    const viewer = await this.#viewerOf(run);
    const session = viewer && (await findNextOfRun(db, viewer, run));
    if (!session) {
      await finishMaskRun(db, run, viewer ? 'done' : 'stopped', now());
      return false;
    }
    await this.#maskIn(run, session, unseal(pepper, run.run_id, run.sealed));
    return true;
  }

  async #maskIn(run: MaskRunRow, session: SessionRow, text: string): Promise<void> {
    const { db, masking } = this.#options;
    const { organization_id: organizationId, session_id: sessionId } = session;
    const place = { organizationId, sessionId };
    const nothing: RunStep = { sessionId, isHeld: false, events: 0, places: 0, fields: 0 };
    const held = { ...nothing, isHeld: true };
    if ((await findHoldOf(db, place)) !== undefined) return advanceMaskRun(db, run, held);
    const { events, places, fields } = await masking.count(session, text);
    const step = { ...nothing, events, places, fields };
    if (run.is_dry === 1 || events + fields === 0) return advanceMaskRun(db, run, step);
    // Reading takes a while, and its person may have restricted the session meanwhile.
    const viewer = await this.#viewerOf(run);
    if (!viewer || (await findNextOfRun(db, viewer, run))?.session_id !== sessionId) {
      return advanceMaskRun(db, run, nothing);
    }
    try {
      // In the transaction that asks for the mask, so that a session is counted once whenever the process stops.
      await masking.mask(place, run.requested_by, text, (transaction) => advanceMaskRun(transaction, run, step));
    } catch (error) {
      if (error instanceof MaskHeld) return advanceMaskRun(db, run, held);
      if (!(error instanceof Problem && error.code === 'words_withheld')) throw error;
      await advanceMaskRun(db, run, nothing);
    }
  }

  /** What who asked may read now; undefined for who is no owner or admin any more. */
  async #viewerOf({ organization_id: organizationId, requested_by: userId }: MaskRunRow): Promise<Viewer | undefined> {
    const { db } = this.#options;
    const member = await findMember(db, organizationId, userId);
    if (member?.status !== 'active' || member.role === 'member') return undefined;
    return viewerOf(db, { organizationId, userId, role: member.role });
  }
}
