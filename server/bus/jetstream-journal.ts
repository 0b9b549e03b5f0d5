import type pg from 'pg';
import { Problem } from '../../contract/problem.ts';
import { pack } from '../log/codec.ts';
import { advance, type Head, type KnownAppend, type SessionKey } from '../log/decide.ts';
import { type CachedHead, type ComparingJournal, Heads } from '../log/heads.ts';
import type { Journal, Proposal } from '../log/journal.ts';
import { isUnavailable, storeUnavailable } from '../store/dialect.ts';
import { findKeyedAppend, type KeyedAppend, type LogState, readLogState } from '../store/log-state.ts';
import { applyDeletions, whileUnheld } from '../store/postgres-apply.ts';
import type { Db, SessionRow } from '../store/schema.ts';
import { Queue, sliceOf, withDeadline } from '../work.ts';
import type { Bus } from './bus.ts';
import { type Entry, type Logged, writePlace } from './entry.ts';

/** The methods of the bus that the journal uses. */
export type JournalBus = Pick<
  Bus,
  'publish' | 'next' | 'nextDeadLetter' | 'history' | 'isConnected' | 'onForget' | 'removeSettled' | 'removeDeadLetters'
>;

export interface JetStreamJournalOptions {
  bus: JournalBus;
  db: Db;
  pool: pg.Pool;
  onError: (error: unknown) => void;
}

/** The limits of the cache. Beyond them the least recently used sessions are dropped, and read again when needed. */
const REMEMBERED = { maxSessions: 20_000, maxKeys: 200_000 } as const;
/** How long a change waits for a query of the store. */
const MAX_LOOKUP_MS = 4_000;
/** How long it waits if the bus has the whole session. */
const SHORT_LOOKUP_MS = 500;

/** How many deletions run at the same time. Each holds a connection to the store, and may need another one. */
const DELETED_AT_ONCE = 4;

/** The state of a session according to its subject, and to the store for older entries. */
interface Subject extends CachedHead {
  /** Whether `keys` has the keys of all appends of the session. */
  hasAllKeys: boolean;
  /** The sequence of the subject's last message; 0: the subject is empty. */
  sequence: number;
}

/** Keeps entries as messages on the session's subject. The bus orders them, and a worker writes them to the store. */
export class JetStreamJournal implements Journal {
  readonly #bus: JournalBus;
  readonly #pool: pg.Pool;
  readonly #onError: (error: unknown) => void;
  readonly #subjects: Subjects;
  readonly #heads: Heads<Subject>;
  readonly #deletions = new Queue({ atOnce: DELETED_AT_ONCE });

  constructor({ bus, db, pool, onError }: JetStreamJournalOptions) {
    this.#bus = bus;
    this.#pool = pool;
    this.#onError = onError;
    this.#subjects = new Subjects(bus, db);
    this.#heads = new Heads(this.#subjects, REMEMBERED);
    bus.onForget(() => this.#heads.forget());
  }

  async change(...[change]: Parameters<Journal['change']>): ReturnType<Journal['change']> {
    const { place, command, frame } = change;
    const packed = frame && (await sliceOf(frame.body.byteLength, () => pack(frame)));
    const { kind, at } = command;
    if (kind !== 'delete' && kind !== 'expire') return this.#heads.change({ ...change, frame: packed });
    const by = kind === 'delete' ? command.by : undefined;
    // The store knows the holds, and hides the session at once. If the store fails in between, a worker deletes the session
    // later, unless a hold was placed by then.
    const remove = async (client: pg.PoolClient) => {
      const decision = await this.#heads.change(change);
      const isDeleted = kind === 'delete' ? !('refused' in decision) : 'entry' in decision;
      if (isDeleted) await applyDeletions(client, [{ ...place, at, isExpired: kind === 'expire', by }]);
      return decision;
    };
    return this.#deletions.run(() => whileUnheld(this.#pool, place, remove)).catch(asUnavailable);
  }

  /** Starts the subject of a new session, so that every replica knows the session without the store. Never rejects. */
  async announce(row: SessionRow): Promise<void> {
    const { plane, client_ended_at: clientEndedAt } = row;
    const whose = { organizationId: row.organization_id, sessionId: row.session_id };
    const entry = { kind: 'opened', plane, clientEndedAt } as const;
    const place = writePlace(whose);
    if (place === undefined) return;
    try {
      const sequence = await this.#bus.publish({ place, entry, behind: 0 });
      if (sequence === undefined) return;
      const subject = unknown();
      take(subject, { sequence, entry });
      this.#heads.begin(whose, subject);
    } catch (error) {
      // During an outage of the bus this is expected: replicas then read the session from the store.
      if (this.#bus.isConnected()) this.#onError(error);
    }
  }

  /** The state of the session, including entries that are not in the store yet. */
  headOf(place: SessionKey): Promise<Head | undefined> {
    return this.#heads.look(place);
  }

  /** How many events of the session any replica has acknowledged, including those that are not in the store yet. */
  async countAccepted(place: SessionKey): Promise<number> {
    return (await this.#subjects.read(place)).head?.eventCount ?? 0;
  }

  /**
   * Removes the events of a session from the bus that are in the store, so that the bus keeps no text that the store masked.
   * @returns false, without removing any, if a worker has yet to settle one of their messages
   */
  async removeWritten(whose: SessionKey, eventCount: number): Promise<boolean> {
    const place = writePlace(whose);
    const logged = place === undefined ? [] : await this.#bus.history(place);
    const last = logged.findLastIndex(({ entry }) => entry.kind === 'append' && entry.lastSequence <= eventCount);
    // What is before the first event goes, too: a log that begins with the opening must not lack an event.
    return last < 0 || this.#bus.removeSettled(logged.slice(0, last + 1));
  }

  /**
   * Removes the events of a deleted session from the bus, and its dead letters. If a worker has yet to settle one of the messages, all
   * of them stay until they are too old.
   */
  async removeDeleted(whose: SessionKey): Promise<void> {
    const place = writePlace(whose);
    if (place === undefined) return;
    await this.#bus.removeDeadLetters(place);
    await this.removeWritten(whose, Number.POSITIVE_INFINITY);
  }
}

class Subjects implements ComparingJournal<Subject> {
  /** The bus compares the last sequence for one message at a time. */
  readonly together = 1;
  readonly #bus: JournalBus;
  readonly #db: Db;

  constructor(bus: JournalBus, db: Db) {
    this.#bus = bus;
    this.#db = db;
  }

  async read(whose: SessionKey): Promise<Subject> {
    const place = writePlace(whose);
    return place === undefined ? unknown() : this.#learn(place, whose);
  }

  async update(whose: SessionKey, _: readonly string[], subject: Subject, isConflict: boolean): Promise<Subject> {
    const place = writePlace(whose);
    const before = subject.sequence;
    const isWhole = place === undefined || (await this.#catchUp(place, subject));
    // A commit was refused, but there is no new message: the bus has lost the last known message.
    const hasLost = isConflict && subject.sequence === before;
    return hasLost || !isWhole ? this.read(whose) : subject;
  }

  /** @returns false if a message in between and its key are no longer on the bus, so that the session must be read again */
  async #catchUp(place: string, subject: Subject): Promise<boolean> {
    for (let next = await this.#bus.next(place, subject.sequence + 1); next; ) {
      if (isBehindGap(subject, next)) return false;
      take(subject, next);
      next = await this.#bus.next(place, subject.sequence + 1);
    }
    return true;
  }

  /**
   * Reads the bus, and the store for older entries. The bus is read first: adding an entry then detects every entry that arrived
   * meanwhile, and a dead letter that was settled meanwhile is in the store. The store is asked even if the bus has the session
   * from its opening on, because a bus that lost power may have lost its last messages, and the store may have their events.
   */
  async #learn(place: string, whose: SessionKey): Promise<Subject> {
    const logged = await this.#bus.history(place);
    const isWhole = logged[0]?.entry.kind === 'opened';
    const subject = isWhole ? await this.#check(whose) : await this.#recall(place, whose);
    for (const one of logged) take(subject, one);
    return subject;
  }

  /** The store's state of a session that the bus has from its opening on. During an outage of the store the bus is enough. */
  async #check(whose: SessionKey): Promise<Subject> {
    try {
      return ofState(await this.#readState(whose, SHORT_LOOKUP_MS), []);
    } catch (error) {
      if (error instanceof Problem && error.code === 'service_unavailable') return unknown();
      throw error;
    }
  }

  async #recall(place: string, whose: SessionKey): Promise<Subject> {
    const dead: Logged[] = [];
    for (let next = await this.#bus.nextDeadLetter(place, 1); next; ) {
      dead.push(next);
      next = await this.#bus.nextDeadLetter(place, next.sequence + 1);
    }
    return ofState(await this.#readState(whose, MAX_LOOKUP_MS), dead);
  }

  #readState({ organizationId, sessionId }: SessionKey, within: number): Promise<LogState | undefined> {
    return ofStore(readLogState(this.#db, organizationId, sessionId), within);
  }

  async findKeys({ organizationId, sessionId }: SessionKey, subject: Subject, keys: readonly string[]): Promise<void> {
    if (subject.hasAllKeys || !subject.head) return;
    for (const key of keys) {
      if (subject.keys.has(key)) continue;
      const row = await ofStore(findKeyedAppend(this.#db, organizationId, sessionId, key));
      if (row) takeKey(subject, row);
    }
  }

  async commit(whose: SessionKey, subject: Subject, [proposal]: readonly Proposal[]): Promise<boolean> {
    const place = writePlace(whose);
    if (place === undefined || !proposal || !subject.head)
      throw new Error('an entry cannot be added to a missing session');
    const { entry, body } = messageOf(proposal, subject.head);
    const sequence = await this.#bus.publish({ place, behind: subject.sequence, entry, body });
    if (sequence === undefined) return false;
    take(subject, { sequence, entry });
    return true;
  }
}

function messageOf({ entry, command, frame }: Proposal, { plane }: Head): { entry: Entry; body?: Uint8Array } {
  if (entry.kind === 'deleted') {
    const { kind, isExpired, by } = entry;
    return { entry: by ? { kind, isExpired, by } : { kind, isExpired } };
  }
  if (entry.kind === 'closed') return { entry };
  if (command.kind !== 'append' || !frame) throw new Error('an append has a frame');
  const { appendId, key, fingerprint, otherSecretId, at } = command;
  const { codec, body } = frame;
  return { entry: { ...entry, plane, key, fingerprint, otherSecretId, appendId, codec, at }, body };
}

const unknown = (): Subject => ({ head: undefined, keys: new Map(), hasAllKeys: true, sequence: 0 });

/** @param dead the dead letters of the session, whose events were acknowledged, too */
function ofState(state: LogState | undefined, dead: readonly Logged[]): Subject {
  const subject = unknown();
  if (!state) return subject;
  const { plane, status, event_count: eventCount, client_ended_at: clientEndedAt } = state.session;
  subject.head = { plane, status, eventCount, clientEndedAt };
  subject.hasAllKeys = state.keys !== undefined;
  for (const { entry } of dead) take(subject, { sequence: 0, entry });
  for (const row of state.keys ?? []) takeKey(subject, row);
  return subject;
}

/** Whether events are missing between the known head and this message. */
function isBehindGap({ head }: Subject, { entry }: Logged): boolean {
  const known = head?.eventCount ?? 0;
  if (entry.kind === 'append') return entry.firstSequence > known + 1;
  return entry.kind === 'closed' && entry.eventCount > known;
}

/** Applies a message of the subject to the state. A message that the store contains already changes nothing. */
function take(subject: Subject, { sequence, entry }: Logged): void {
  subject.sequence = sequence;
  if (entry.kind === 'opened') {
    const { plane, clientEndedAt } = entry;
    subject.head ??= { plane, status: 'active', eventCount: 0, clientEndedAt };
    return;
  }
  if (entry.kind === 'append' && entry.key !== null) subject.keys.set(entry.key, toKnown(entry));
  const isOver = subject.head?.status === 'deleted';
  if (subject.head && !isOver) subject.head = advance(subject.head, entry);
}

const toKnown = ({ appendId, fingerprint, firstSequence, lastSequence }: Extract<Entry, { kind: 'append' }>) => ({
  appendId,
  fingerprint,
  firstSequence,
  lastSequence,
});

function takeKey(subject: Subject, row: KeyedAppend): void {
  const { append_id: appendId, fingerprint, first_sequence: firstSequence, last_sequence: lastSequence } = row;
  const known: KnownAppend = { appendId, fingerprint, firstSequence, lastSequence };
  subject.keys.set(row.idempotency_key as string, known);
}

const tooLate = () => storeUnavailable('it did not answer in time');

const ofStore = <Answer>(question: Promise<Answer>, within = MAX_LOOKUP_MS): Promise<Answer> =>
  withDeadline(() => question, within, undefined, tooLate).catch(asUnavailable);

function asUnavailable(error: unknown): never {
  throw isUnavailable(error) ? storeUnavailable(error) : error;
}
