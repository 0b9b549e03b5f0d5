import { Problem } from '../../contract/problem.ts';
import type { Plane } from '../../contract/secret.ts';
import { newUuid } from '../ids.ts';
import type { Outcome } from '../store/appends.ts';
import { type Captured, type CaptureOpening, captureSessions } from '../store/captured.ts';
import { deleteSession, expireSession, type Named, wasDeleted } from '../store/deletions.ts';
import { isUnavailable, storeUnavailable } from '../store/dialect.ts';
import { bytesOf, encodeFrame, type FramedEvent, type SentBody } from '../store/frame.ts';
import type { Store } from '../store/open.ts';
import { type Opening, openSession } from '../store/opening.ts';
import type { Unchanged } from '../store/retention.ts';
import { closeAsFailed, listOpen, revokeEnvironment } from '../store/revocation.ts';
import type { EnvironmentRow, SessionRow } from '../store/schema.ts';
import { type Closing, closeSession } from '../store/sessions.ts';
import { sliceOf } from '../work.ts';

/** A batch of events as it comes in. */
export interface NewBatch {
  organizationId: string;
  plane: Plane;
  sessionId: string;
  /** Who sends it; senders take turns where they wait. */
  sender: string;
  idempotencyKey: string | null;
  /** SHA-256 of the request body in hexadecimal. */
  fingerprint: string;
  /** How many events the session is to have before it; undefined: any. */
  expectedEvents?: number | undefined;
  events: readonly FramedEvent[];
  /** The body as it was sent, where it may be stored so. */
  sent?: SentBody | undefined;
}

/** An append that was numbered, and will not be lost. */
export interface Accepted extends Outcome {
  /** It is on its way into the store, where readers do not see it yet. */
  async: boolean;
}

export interface Closed {
  /** Milliseconds since the epoch. */
  endedAt: number;
}

/** A session after a change that is durable. */
export interface Change {
  organizationId: string;
  sessionId: string;
  status: SessionRow['status'] | 'deleted';
  eventCount: number;
  /** The events that were added, the last one being number `eventCount`. */
  events?: readonly FramedEvent[];
}

/** What happens after the commit, and nowhere else. Must not throw, and costs the answer nothing. */
export type Committed = (change: Change) => void;

/**
 * The one way to change a session: here its events are numbered, here it is closed, and after that nothing is accepted.
 * Each change is told to `committed` once it is durable.
 */
export interface SessionLog {
  /** @throws Problem `environment_unusable`, `installation_unusable`, `validation_failed` */
  open(opening: Opening): Promise<SessionRow>;
  /** @throws Problem `idempotency_key_reused`, `idempotency_in_progress`, `not_found`, `session_deleted`, `session_closed`, `sequence_mismatch` */
  append(batch: NewBatch): Promise<Accepted>;
  /** @throws Problem `not_found`, `session_deleted`, `session_already_closed` */
  close(closing: Closing): Promise<Closed>;
  /** Opens many, or finds them by the keys of their client; a refusal is that one's alone. */
  capture(openings: readonly CaptureOpening[]): Promise<Captured[]>;
  /**
   * Deletes a session for good, by its id or by its client's key; again is no error.
   * @throws Problem `not_found`
   */
  delete(named: Named): Promise<string>;
  /** Deletes a session to which nothing has come any more; one to which something came after all stays. */
  expire(session: Unchanged): Promise<void>;
  /** Revokes a machine: no session is opened on it any more. Undefined when there is no such machine. */
  revoke(organizationId: string, environmentId: string): Promise<EnvironmentRow | undefined>;
  /**
   * Closes some of the open sessions of a revoked machine as failed, newest first.
   * @param before id of the session behind which they begin; undefined: at the newest
   * @returns where the rest begins; undefined: nothing is left
   */
  closeSomeOf(machine: EnvironmentRow, before: string | undefined): Promise<string | undefined>;
}

export interface SessionLogOptions {
  store: Store;
  committed: Committed;
  now: () => number;
}

export function createSessionLog({ store, committed, now }: SessionLogOptions): SessionLog {
  const { db } = store;

  const changed = (row: SessionRow) => committed(changeOf(row));

  /** A session that was deleted takes no events either, and must not be opened anew. */
  async function explain(error: unknown, { organizationId, plane, sessionId }: Place): Promise<unknown> {
    const isGone = error instanceof Problem && GONE.has(error.code);
    if (!isGone || !(await wasDeleted(db, organizationId, plane, sessionId))) return error;
    return sessionDeleted();
  }

  return {
    async open(opening) {
      const row = await openSession(db, opening, now());
      changed(row);
      return row;
    },

    async append({ events, sent, ...rest }) {
      const batch = { ...rest, fingerprint: rest.idempotencyKey === null ? null : rest.fingerprint };
      const frame = await sliceOf(bytesOf(events), () => encodeFrame(events, sent));
      const stored = { ...batch, count: events.length, appendId: newUuid(), now: now(), ...frame };
      const outcome = await store.append(stored).catch(async (error) => {
        throw isUnavailable(error) ? storeUnavailable(error) : await explain(error, batch);
      });
      if (!outcome.replayed) {
        const { organizationId, sessionId } = batch;
        committed({ organizationId, sessionId, status: 'active', eventCount: outcome.lastSequence, events });
      }
      return { ...outcome, async: false };
    },

    async close(closing) {
      const row = await closeSession(db, closing, now()).catch(async (error) => {
        throw await explain(error, closing);
      });
      changed(row);
      return { endedAt: row.ended_at ?? row.updated_at };
    },

    async capture(openings) {
      const captured = await captureSessions(db, openings, now());
      for (const one of captured) if (one.outcome === 'opened') changed(one.row);
      return captured;
    },

    async delete(named) {
      const { sessionId, row } = await deleteSession(db, named, now());
      if (row) committed({ ...changeOf(row), status: 'deleted' });
      return sessionId;
    },

    async expire(session) {
      const row = await expireSession(db, session, now());
      if (row) committed({ ...changeOf(row), status: 'deleted' });
    },

    revoke: (organizationId, environmentId) => revokeEnvironment(db, organizationId, environmentId, now()),

    async closeSomeOf(machine, before) {
      const { rows, next } = await listOpen(db, machine, before);
      if (rows.length === 0) return undefined;
      for (const row of await closeAsFailed(db, machine, rows, now())) changed(row);
      return next;
    },
  };
}

export const sessionDeleted = () => new Problem('session_deleted', 'The session was deleted. Do not capture it again.');

/** How the store refuses a session that is no longer there. */
const GONE: ReadonlySet<string> = new Set(['not_found', 'session_closed', 'session_already_closed']);

type Place = Pick<NewBatch, 'organizationId' | 'plane' | 'sessionId'>;

const changeOf = (row: SessionRow): Change => ({
  organizationId: row.organization_id,
  sessionId: row.session_id,
  status: row.status,
  eventCount: row.event_count,
});
