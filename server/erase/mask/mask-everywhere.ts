import { sql } from 'kysely';
import { Problem } from '../../../contract/problem.ts';
import type { Slices } from '../../background.ts';
import type { JobAsker } from '../../idle-worker.ts';
import type { Jobs } from '../../jobs.ts';
import { DamagedSession } from '../../log/damaged.ts';
import type { SessionKey } from '../../log/decide.ts';
import type { Job } from '../../store/jobs.ts';
import { findMember } from '../../store/members.ts';
import type { Db, MaskRow, SessionRow } from '../../store/schema.ts';
import { readable, type Viewer, viewerOf } from '../../store/viewer.ts';
import { findHoldOf } from '../holds.ts';
import { addSession, endMask, findMask, jobOf, MaskHeld, type SessionCounts, type SessionMask } from './masks.ts';
import { listSearched } from './searched-sessions.ts';

/** Masks single sessions: `Masking`. */
interface MaskingOfSession {
  whenArrived(session: SessionRow): Slices<SessionRow>;
  countInSlices(session: SessionRow, text: string, asker: JobAsker): Slices<Found>;
  ask(place: SessionKey, userId: string, text: string, along: (transaction: Db) => Promise<void>): Promise<SessionMask>;
}

interface Found {
  events: number;
  places: number;
  fields: number;
  incomplete?: true;
}

interface Options {
  db: Db;
  masking: MaskingOfSession;
  jobs: Pick<Jobs, 'start'>;
  noteDamage: (error: unknown) => void;
  now: () => number;
}

/** How long the walk waits for a mask that it requested. After that, the mask continues by itself. */
const PATIENCE_MS = 20_000;
const LOOK_EVERY_MS = 100;

/**
 * Masks or counts a text in all sessions that its requester may read, one session after the other.
 * @param unseal decrypts the text; not called for a requester who has lost the right
 */
export async function* maskEachSession(options: Options, job: Job, mask: MaskRow, unseal: () => string): Slices {
  const { db, now } = options;
  for (;;) {
    const viewer = await findViewer(db, mask);
    const session = viewer && (await findNext(db, viewer, mask, job.progress));
    if (!session) return endMask(db, job, viewer ? 'done' : 'stopped', now());
    const ofSession = yield* maskUnlessDamaged(options, job, mask, session, unseal());
    job.progress = session.session_id;
    yield 0;
    if (ofSession) yield* waitFor(options, ofSession);
  }
}

/** Leaves out a damaged session, so that it does not prevent the others from being masked. */
async function* maskUnlessDamaged(options: Options, job: Job, mask: MaskRow, session: SessionRow, text: string) {
  try {
    return yield* maskIn(options, job, mask, session, text);
  } catch (error) {
    if (!(error instanceof DamagedSession)) throw error;
    options.noteDamage(error);
    return note(options, job, { sessionId: session.session_id, missed: 'damaged', events: 0, places: 0, fields: 0 });
  }
}

/** @returns the mask of the session, if the session contains the text */
async function* maskIn(
  options: Options,
  job: Job,
  mask: MaskRow,
  session: SessionRow,
  text: string,
): Slices<SessionMask | undefined> {
  const { db, masking, now } = options;
  const { organization_id: organizationId, session_id: sessionId } = session;
  const place = { organizationId, sessionId };
  const nothing: SessionCounts = { sessionId, events: 0, places: 0, fields: 0 };
  const held: SessionCounts = { ...nothing, missed: 'held' };
  if ((await findHoldOf(db, place)) !== undefined) return note(options, job, held);
  const asker = { group: organizationId, person: mask.requested_by, signal: undefined };
  const { events, places, fields, incomplete } = yield* masking.countInSlices(
    yield* masking.whenArrived(session),
    text,
    asker,
  );
  const counts = { ...nothing, events, places, fields };
  // The mask of a session that cannot be searched completely fails, and its receipt says so.
  if (mask.is_dry === 1 || (events + fields === 0 && !incomplete)) return note(options, job, counts);
  // Reading takes a while, and the owner of the session may have restricted it meanwhile.
  const viewer = await findViewer(db, mask);
  if (!viewer || (await findNext(db, viewer, mask, job.progress))?.session_id !== sessionId) {
    return note(options, job, nothing);
  }
  try {
    // Uses the transaction that requests the mask, so that a session is counted once even if the process stops.
    return await masking.ask(place, mask.requested_by, text, (transaction) =>
      addSession(transaction, job, counts, now()),
    );
  } catch (error) {
    if (error instanceof MaskHeld) return note(options, job, held);
    if (!(error instanceof Problem && error.code === 'content_withheld')) throw error;
    return note(options, job, nothing);
  }
}

async function note({ db, now }: Options, job: Job, counts: SessionCounts): Promise<undefined> {
  await db.transaction().execute((transaction) => addSession(transaction, job, counts, now()));
}

/** Waits for the mask of a session, so that the walk does not request thousands at once. */
async function* waitFor({ db, jobs }: Options, mask: SessionMask): Slices {
  void jobs.start(jobOf(mask));
  for (const end = performance.now() + PATIENCE_MS; performance.now() < end; yield LOOK_EVERY_MS) {
    const row = await findMask(db, mask.organization_id, mask.mask_id);
    if (!row || row.finished_at !== null) return;
  }
}

/** The next session that the viewer may read, among those that were opened before the request. */
const findNext = async (db: Db, viewer: Viewer, { requested_at }: MaskRow, after: string) => {
  const theirs = sql`organization_id = ${viewer.organizationId} and created_at <= ${requested_at} and ${readable(viewer)}`;
  const [next] = await listSearched(db, after, 1, theirs);
  return next;
};

/** The requester with their current rights; undefined if they are no longer an owner or admin. */
async function findViewer(
  db: Db,
  { organization_id: organizationId, requested_by: userId }: MaskRow,
): Promise<Viewer | undefined> {
  const member = await findMember(db, organizationId, userId);
  if (member?.status !== 'active' || member.role === 'member') return undefined;
  return viewerOf(db, { organizationId, userId, role: member.role });
}
