import type { AuditParty } from '../../contract/audit.ts';
import type { Plane } from '../../contract/secret.ts';
import type { Unchanged } from '../erase/due-sessions.ts';
import { recordRefusal } from '../erase/holds.ts';
import { newUuid } from '../ids.ts';
import type { Command, Decision, Entry, Head, SessionKey } from '../log/decide.ts';
import { bytesOf, encodeFrame, type FramedEvent, type SentBody } from '../log/frame.ts';
import type { Journal } from '../log/journal.ts';
import { assertTaken, Held } from '../log/outcome.ts';
import { type Captured, type CaptureOpening, captureSessions, type Opening, openSession } from '../store/opening.ts';
import { forgetExpiry } from '../store/removals.ts';
import { listOpen, revokeEnvironment } from '../store/revocation.ts';
import type { Db, EnvironmentRow, MemberKey, SessionRow } from '../store/schema.ts';
import { sliceOf } from '../work.ts';
import type { StorageQuotas } from './quotas.ts';

/** A received batch of events. */
export interface NewBatch {
  organizationId: string;
  plane: Plane;
  sessionId: string;
  /** Identifies the sender; waiting senders take turns. */
  sender: string;
  idempotencyKey: string | null;
  /** SHA-256 of the request body in hexadecimal. */
  fingerprint: string;
  /** The secret of the sender, if another one opened the session. */
  otherSecretId?: string | null;
  /** How many events the session must have before the append; undefined: any number. */
  expectedEvents?: number | undefined;
  events: readonly FramedEvent[];
  /** The body as it was sent, if it may be stored unchanged. */
  sent?: SentBody | undefined;
}

/** A durable append whose events have their numbers. */
export interface Accepted {
  firstSequence: number;
  lastSequence: number;
  /** The numbers are those of an earlier append with the same key and body. */
  replayed: boolean;
  /** The append is not in the store yet, so readers do not see it yet. */
  async: boolean;
}

export interface Closing {
  organizationId: string;
  plane: Plane;
  sessionId: string;
  status: 'completed' | 'failed';
  /** Milliseconds since the epoch; undefined: the time that the client reported at the opening, otherwise now. */
  endedAt: number | undefined;
}

export interface Closed {
  /** Milliseconds since the epoch. */
  endedAt: number;
}

export interface ClosingSome {
  /** No further session is closed once it is aborted. */
  signal: AbortSignal;
  /** Called for each session that could not be closed. The other sessions are closed unless it throws. */
  onFailed: (error: unknown) => void;
}

/** The state of a session after a durable change. */
export interface SessionChanged {
  organizationId: string;
  sessionId: string;
  status: SessionRow['status'] | 'deleted';
  eventCount: number;
  /** The added events. The last one has the number `eventCount`. */
  events?: readonly FramedEvent[];
}

/** The only place for work after the commit. It must not throw, and must not delay the answer. */
export type Committed = (change: SessionChanged) => void;

/** Called for each append that goes to the journal. Returns a function for its outcome. */
export type AppendObserver = (size: { events: number; bytes: number }) => (outcome: AppendOutcome) => void;
export type AppendOutcome = 'stored' | 'replayed' | 'refused';

export interface SessionLogOptions {
  db: Db;
  journal: Journal;
  /** Present if the journal is an event bus. Then readers see a change once a worker has written it to the store. */
  bus?: { announce(row: SessionRow): Promise<void>; headOf(place: SessionKey): Promise<Head | undefined> } | undefined;
  committed: Committed;
  onAppend?: AppendObserver | undefined;
  /** Limits the bytes of appends; absent: nobody does. */
  quotas?: Pick<StorageQuotas, 'assertRoom' | 'add'>;
  now: () => number;
}

/** How many sessions of a machine are closed at the same time. */
const CLOSED_AT_ONCE = 50;
/** The sender of the changes that the service makes itself. */
const OWN_SENDER = 'service';

/**
 * The only way to open a session, number its events, close it and delete it. `decide` decides each change, and a journal
 * stores it. `committed` is called once the change is durable and visible to readers.
 */
export class SessionLog {
  readonly #options: SessionLogOptions;

  constructor(options: SessionLogOptions) {
    this.#options = options;
  }

  /** @throws Problem `environment_unusable`, `installation_unusable`, `validation_failed` */
  async open(opening: Opening): Promise<SessionRow> {
    const { db, now } = this.#options;
    const row = await db.transaction().execute((transaction) => openSession(transaction, opening, now()));
    await this.#opened(row);
    return row;
  }

  /** Opens many sessions, or finds them by their client keys. A refused session does not affect the others. */
  async capture(openings: readonly CaptureOpening[]): Promise<Captured[]> {
    const captured = await captureSessions(this.#options.db, openings, this.#options.now());
    return Promise.all(
      captured.map(async (one) => {
        if (one.outcome === 'opened') await this.#opened(one.row);
        return one.outcome === 'found' ? { ...one, row: await this.#asNumbered(one.row) } : one;
      }),
    );
  }

  /**
   * @throws Problem `quota_reached`, `idempotency_key_reused`, `idempotency_in_progress`, `not_found`, `session_deleted`,
   * `session_closed`, `sequence_mismatch`
   */
  async append(batch: NewBatch): Promise<Accepted> {
    await this.#options.quotas?.assertRoom(batch);
    const {
      organizationId,
      sessionId,
      plane,
      idempotencyKey: key,
      expectedEvents,
      events,
      sent,
      sender,
      otherSecretId = null,
    } = batch;
    const place = { organizationId, sessionId };
    const bytes = bytesOf(events);
    const frame = await sliceOf(bytes, () => encodeFrame(events, sent));
    const appendId = newUuid();
    const fingerprint = key === null ? null : batch.fingerprint;
    const at = this.#options.now();
    const count = events.length;
    const command = {
      kind: 'append',
      plane,
      appendId,
      key,
      fingerprint,
      otherSecretId,
      count,
      expectedEvents,
      at,
    } as const;
    const settled = this.#options.onAppend?.({ events: count, bytes: frame.body.byteLength });
    let outcome: AppendOutcome = 'refused';
    try {
      const decision = await this.#options.journal.change({ place, command, frame, sender });
      assertTaken(decision);
      const { firstSequence, lastSequence, replayed } = numbersOf(decision, appendId);
      outcome = replayed ? 'replayed' : 'stored';
      if (!replayed) {
        this.#options.quotas?.add({ ...place, bytes });
        this.#committed({ ...place, status: 'active', eventCount: lastSequence, events });
      }
      return { firstSequence, lastSequence, replayed, async: this.#options.bus !== undefined };
    } finally {
      settled?.(outcome);
    }
  }

  /** @throws Problem `not_found`, `session_deleted`, `session_already_closed` */
  async close({ organizationId, plane, sessionId, status, endedAt }: Closing): Promise<Closed> {
    const command = { kind: 'close', plane, status, endedAt, at: this.#options.now() } as const;
    const entry = await this.#change({ organizationId, sessionId }, command);
    if (entry?.kind !== 'closed') throw new Error('a session was closed without an entry');
    return { endedAt: entry.endedAt };
  }

  /**
   * Deletes a session for good, even if it has expired. Repeating the deletion is no error.
   * @param by the actor in the audit log; absent: the whole organization is deleted together with its audit log
   * @throws Problem `not_found`, `held`
   */
  async delete(place: SessionKey, by?: AuditParty): Promise<void> {
    const at = this.#options.now();
    await this.#change(place, { kind: 'delete', by, at }).catch(async (error: unknown) => {
      if (error instanceof Held && by) await recordRefusal(this.#options.db, place, by, error.holdId, at);
      throw error;
    });
    await forgetExpiry(this.#options.db, place, by, at);
  }

  /**
   * Deletes an expired session unless it received events meanwhile.
   * @throws Problem `held`
   */
  async expire({ eventCount, ...place }: Unchanged): Promise<void> {
    await this.#change(place, { kind: 'expire', eventCount, at: this.#options.now() });
  }

  /** Closes an abandoned session unless it received events meanwhile. The time of its last change becomes its end. */
  async abandon({ eventCount, updatedAt: at, ...place }: Unchanged & { updatedAt: number }): Promise<void> {
    await this.#change(place, { kind: 'fail', eventCount, at });
  }

  /** Revokes a machine, so that it can open no further session. Returns undefined if there is no such machine. */
  revoke(revoker: MemberKey, environmentId: string): Promise<EnvironmentRow | undefined> {
    return revokeEnvironment(this.#options.db, revoker, environmentId, this.#options.now());
  }

  /**
   * Closes up to 500 open sessions of a revoked machine as failed, newest first.
   * @param before the last session of the previous call; undefined: starts with the newest
   * @returns the last session of this call if more are left
   */
  async closeSomeOf(
    machine: EnvironmentRow,
    before: string | undefined,
    { signal, onFailed }: ClosingSome,
  ): Promise<string | undefined> {
    const { rows, next } = await listOpen(this.#options.db, machine, before);
    const command = { kind: 'fail', at: this.#options.now() } as const;
    for (let start = 0; start < rows.length && !signal.aborted; start += CLOSED_AT_ONCE) {
      const some = rows.slice(start, start + CLOSED_AT_ONCE);
      const closed = await Promise.allSettled(some.map((row) => this.#change(placeOf(row), command)));
      for (const one of closed) if (one.status === 'rejected') onFailed(one.reason);
    }
    return next;
  }

  /** @returns the entry that was added, if any */
  async #change(place: SessionKey, command: Exclude<Command, { kind: 'append' }>): Promise<Entry | undefined> {
    const decision = await this.#options.journal.change({ place, command, sender: OWN_SENDER });
    assertTaken(decision);
    if (!('entry' in decision)) return undefined;
    const { entry } = decision;
    if (entry.kind === 'closed') this.#committed({ ...place, status: entry.status, eventCount: entry.eventCount });
    // Every journal writes a deletion to the store directly, so readers see it at once.
    if (entry.kind === 'deleted')
      this.#options.committed({ ...place, status: 'deleted', eventCount: entry.eventCount });
    return entry;
  }

  async #opened(row: SessionRow): Promise<void> {
    this.#options.committed({ ...placeOf(row), status: row.status, eventCount: row.event_count });
    await this.#options.bus?.announce(row);
  }

  /** Counts the events that are not in the store yet, too: the client needs to know which events it need not send again. */
  async #asNumbered(row: SessionRow): Promise<SessionRow> {
    const head = await this.#options.bus?.headOf(placeOf(row));
    if (!head || head.status === 'deleted') return row;
    return { ...row, event_count: head.eventCount, status: head.status };
  }

  /** With an event bus, the worker reports the change once it has written it. */
  #committed(change: SessionChanged): void {
    if (!this.#options.bus) this.#options.committed(change);
  }
}

function numbersOf(decision: Exclude<Decision, { refused: unknown }>, appendId: string) {
  if ('replayed' in decision) {
    const { firstSequence, lastSequence } = decision.replayed;
    // The event bus may have accepted this very append before, and its answer was lost.
    return { firstSequence, lastSequence, replayed: decision.replayed.appendId !== appendId };
  }
  if (!('entry' in decision) || decision.entry.kind !== 'append')
    throw new Error('an append was decided without numbers');
  const { firstSequence, lastSequence } = decision.entry;
  return { firstSequence, lastSequence, replayed: false };
}

const placeOf = (row: SessionRow): SessionKey => ({ organizationId: row.organization_id, sessionId: row.session_id });
