import type { AuditParty } from '../../contract/audit.ts';
import type { Plane } from '../../contract/secret.ts';
import { newUuid } from '../ids.ts';
import type { Command, Decision, Entry, Head, SessionKey } from '../log/decide.ts';
import { bytesOf, encodeFrame, type FramedEvent, type SentBody } from '../log/frame.ts';
import type { Journal } from '../log/journal.ts';
import { assertTaken, Held } from '../log/outcome.ts';
import { forgetExpiry } from '../store/deletions.ts';
import { recordRefusal } from '../store/holds.ts';
import { type Captured, type CaptureOpening, captureSessions, type Opening, openSession } from '../store/opening.ts';
import type { Unchanged } from '../store/retention.ts';
import { listOpen, revokeEnvironment } from '../store/revocation.ts';
import type { Db, EnvironmentRow, MemberKey, SessionRow } from '../store/schema.ts';
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
export interface Accepted {
  firstSequence: number;
  lastSequence: number;
  /** The answer to an earlier append with the same key and body. */
  replayed: boolean;
  /** It is on its way into the store, where readers do not see it yet. */
  async: boolean;
}

export interface Closing {
  organizationId: string;
  plane: Plane;
  sessionId: string;
  status: 'completed' | 'failed';
  /** Milliseconds since the epoch; absent: what the client said when it opened the session, else now. */
  endedAt: number | undefined;
}

export interface Closed {
  /** Milliseconds since the epoch. */
  endedAt: number;
}

export interface ClosingSome {
  /** No further session is closed once it is aborted. */
  signal: AbortSignal;
  /** Told of each session that could not be closed. The other sessions are closed unless it throws. */
  onFailed: (error: unknown) => void;
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

/** Called for each append that goes to the journal. Returns a function for its outcome. */
export type AppendObserver = (size: { events: number; bytes: number }) => (outcome: AppendOutcome) => void;
export type AppendOutcome = 'stored' | 'replayed' | 'refused';

export interface SessionLogOptions {
  db: Db;
  journal: Journal;
  /** The journal where it is a bus: readers see the change once a worker has written it to the store. */
  bus?: { announce(row: SessionRow): Promise<void>; headOf(place: SessionKey): Promise<Head | undefined> } | undefined;
  committed: Committed;
  onAppend?: AppendObserver | undefined;
  now: () => number;
}

/** Sessions of a machine that are closed at the same time. */
const CLOSED_AT_ONCE = 50;
/** Under this name wait the changes that the service makes by itself. */
const OWN_SENDER = 'service';

/**
 * The only way to change a session: to open it, number its events, close and delete it. `decide` decides each change, and a
 * journal stores it. `committed` is called once the change is durable and visible to readers.
 */
export class SessionLog {
  readonly #options: SessionLogOptions;

  constructor(options: SessionLogOptions) {
    this.#options = options;
  }

  /** @throws Problem `environment_unusable`, `installation_unusable`, `validation_failed` */
  async open(opening: Opening): Promise<SessionRow> {
    const row = await openSession(this.#options.db, opening, this.#options.now());
    await this.#opened(row);
    return row;
  }

  /** Opens many, or finds them by the keys of their client; a refusal is that one's alone. */
  async capture(openings: readonly CaptureOpening[]): Promise<Captured[]> {
    const captured = await captureSessions(this.#options.db, openings, this.#options.now());
    return Promise.all(
      captured.map(async (one) => {
        if (one.outcome === 'opened') await this.#opened(one.row);
        return one.outcome === 'found' ? { ...one, row: await this.#asNumbered(one.row) } : one;
      }),
    );
  }

  /** @throws Problem `idempotency_key_reused`, `idempotency_in_progress`, `not_found`, `session_deleted`, `session_closed`, `sequence_mismatch` */
  async append(batch: NewBatch): Promise<Accepted> {
    const { organizationId, sessionId, plane, idempotencyKey: key, expectedEvents, events, sent, sender } = batch;
    const place = { organizationId, sessionId };
    const frame = await sliceOf(bytesOf(events), () => encodeFrame(events, sent));
    const appendId = newUuid();
    const fingerprint = key === null ? null : batch.fingerprint;
    const at = this.#options.now();
    const count = events.length;
    const command = { kind: 'append', plane, appendId, key, fingerprint, count, expectedEvents, at } as const;
    const settled = this.#options.onAppend?.({ events: count, bytes: frame.body.byteLength });
    let outcome: AppendOutcome = 'refused';
    try {
      const decision = await this.#options.journal.change({ place, command, frame, sender });
      assertTaken(decision);
      const { firstSequence, lastSequence, replayed } = numbersOf(decision, appendId);
      outcome = replayed ? 'replayed' : 'stored';
      if (!replayed) this.#committed({ ...place, status: 'active', eventCount: lastSequence, events });
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
   * Deletes a session for good, also one that has expired; again is no error.
   * @param by whom the audit log names; absent: nobody, as its organization goes with its log
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
   * Deletes an expired session, unless it got events meanwhile.
   * @throws Problem `held`
   */
  async expire({ eventCount, ...place }: Unchanged): Promise<void> {
    await this.#change(place, { kind: 'expire', eventCount, at: this.#options.now() });
  }

  /** Closes a session that nobody has added to for long, as of its last change, unless it got events meanwhile. */
  async abandon({ eventCount, updatedAt: at, ...place }: Unchanged & { updatedAt: number }): Promise<void> {
    await this.#change(place, { kind: 'fail', eventCount, at });
  }

  /** Revokes a machine: no session is opened on it any more. Undefined when there is no such machine. */
  revoke(revoker: MemberKey, environmentId: string): Promise<EnvironmentRow | undefined> {
    return revokeEnvironment(this.#options.db, revoker, environmentId, this.#options.now());
  }

  /**
   * Closes up to 500 open sessions of a revoked machine as failed, newest first.
   * @param before the last session of the previous call; undefined: begins with the newest
   * @returns the last closed session if more are left
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
    // Every journal deletes in the store.
    if (entry.kind === 'deleted')
      this.#options.committed({ ...place, status: 'deleted', eventCount: entry.eventCount });
    return entry;
  }

  async #opened(row: SessionRow): Promise<void> {
    this.#options.committed({ ...placeOf(row), status: row.status, eventCount: row.event_count });
    await this.#options.bus?.announce(row);
  }

  /** With what is on its way into the store: its client asks in order to know what it need not send again. */
  async #asNumbered(row: SessionRow): Promise<SessionRow> {
    const head = await this.#options.bus?.headOf(placeOf(row));
    if (!head || head.status === 'deleted') return row;
    return { ...row, event_count: head.eventCount, status: head.status };
  }

  /** Over a bus, the worker that writes it tells of it. */
  #committed(change: Change): void {
    if (!this.#options.bus) this.#options.committed(change);
  }
}

/** The methods of the log, which quotas may guard. */
export type SessionChanges = Pick<SessionLog, keyof SessionLog>;

function numbersOf(decision: Exclude<Decision, { refused: unknown }>, appendId: string) {
  if ('replayed' in decision) {
    const { firstSequence, lastSequence } = decision.replayed;
    // The first answer to this very one may have been lost on its way from the bus.
    return { firstSequence, lastSequence, replayed: decision.replayed.appendId !== appendId };
  }
  if (!('entry' in decision) || decision.entry.kind !== 'append')
    throw new Error('an append was decided without numbers');
  const { firstSequence, lastSequence } = decision.entry;
  return { firstSequence, lastSequence, replayed: false };
}

const placeOf = (row: SessionRow): SessionKey => ({ organizationId: row.organization_id, sessionId: row.session_id });
