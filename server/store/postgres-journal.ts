import pg from 'pg';
import { Problem } from '../../contract/problem.ts';
import { pack } from '../log/codec.ts';
import type { Head, KnownAppend, SessionKey } from '../log/decide.ts';
import { type CachedHead, type ComparingJournal, Heads } from '../log/heads.ts';
import type { Journal, Proposal } from '../log/journal.ts';
import { sliceOf } from '../work.ts';
import { findDeletedPlane } from './deletion-sql.ts';
import { isUnavailable, storeUnavailable, uniqueViolation } from './dialect.ts';
import type { KeyedAppend } from './log-state.ts';
import { isLockTimeout, type Patience } from './postgres.ts';
import {
  type Addition,
  applyBehind,
  applyDeletions,
  type NewDeletion,
  type Prepared,
  runPrepared,
  whileUnheld,
} from './postgres-apply.ts';
import type { SessionRow } from './schema.ts';

/** Reads the session, with a row for each of its appends that has one of the keys. */
const READ: Prepared = {
  name: 'read_head',
  text: `
SELECT s.plane, s.status, s.event_count, s.client_ended_at, s.deleted_at,
  a.idempotency_key, a.append_id, a.fingerprint, a.first_sequence, a.last_sequence
FROM sessions s LEFT JOIN appends a ON a.session_id = s.session_id AND a.idempotency_key = ANY($3::text[])
WHERE s.session_id = $1 AND s.organization_id = $2`,
};

const READ_DELETED: Prepared = {
  name: 'read_deleted',
  text: findDeletedPlane('$1', '$2'),
};

/** The statement that commits compares the keys itself. */
const REMEMBERED = { maxSessions: 20_000, maxKeys: 0 } as const;

/** The most that one statement writes. */
const MAX_GROUP = { sessions: 64, bytes: 1024 * 1024 };
/** A larger commit gets its own statement, so that small commits do not wait for it. */
const MAX_SHARED = 64 * 1024;

/** Entries of a session that wait for their statement. */
interface PendingCommit {
  place: SessionKey;
  head: Head;
  after: Head;
  proposals: readonly Proposal[];
  bytes: number;
  resolve: (isCommitted: boolean) => void;
  reject: (error: unknown) => void;
}

/** The journal on PostgreSQL, which other processes write at the same time. */
export function createPostgresJournal(pool: pg.Pool, { changeMs }: Patience = {}): Journal {
  const heads = new Heads(new PostgresJournal(pool), { ...REMEMBERED, changeMs });
  return {
    async change(change) {
      const { frame } = change;
      const packed = frame && (await sliceOf(frame.body.byteLength, () => pack(frame)));
      return heads.change({ ...change, frame: packed }).catch((error) => {
        throw isUnavailable(error) ? storeUnavailable(error) : error;
      });
    },
  };
}

class PostgresJournal implements ComparingJournal<CachedHead> {
  readonly together = 64;
  readonly #pool: pg.Pool;
  /** The commits of different sessions in the current round of the event loop. */
  #group: PendingCommit[] = [];
  #groupBytes = 0;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  async read({ organizationId, sessionId }: SessionKey, keys: readonly string[]): Promise<CachedHead> {
    const rows = await runPrepared<HeadRow>(this.#pool, READ, [sessionId, organizationId, keys]);
    const [row] = rows;
    if (!row) return { head: await this.#findDeleted(sessionId, organizationId), keys: new Map() };
    const { plane, event_count: eventCount, client_ended_at: clientEndedAt } = row;
    const status = row.deleted_at === null ? row.status : 'deleted';
    return { head: { plane, status, eventCount, clientEndedAt }, keys: new Map(rows.flatMap(toKnown)) };
  }

  update(place: SessionKey, keys: readonly string[]): Promise<CachedHead> {
    return this.read(place, keys);
  }

  async #findDeleted(sessionId: string, organizationId: string): Promise<Head | undefined> {
    const [row] = await runPrepared<Pick<SessionRow, 'plane'>>(this.#pool, READ_DELETED, [sessionId, organizationId]);
    return row && { plane: row.plane, status: 'deleted', eventCount: 0, clientEndedAt: null };
  }

  async commit(
    place: SessionKey,
    seen: CachedHead,
    proposals: readonly Proposal[],
    after: CachedHead,
  ): Promise<boolean> {
    const { head } = seen;
    const [first] = proposals;
    if (!head || !after.head || !first) throw new Error('an entry cannot be added to a missing session');
    const { entry, command } = first;
    const isCommitted =
      entry.kind === 'deleted'
        ? await this.#delete({ ...place, ...entry, at: command.at })
        : await this.#enqueue({ place, head, after: after.head, proposals, bytes: bytesOf(proposals) });
    if (isCommitted) seen.head = after.head;
    return isCommitted;
  }

  async #delete(deletion: NewDeletion): Promise<boolean> {
    const deleted = await whileUnheld(this.#pool, deletion, (client) => applyDeletions(client, [deletion]));
    return deleted.length > 0;
  }

  #enqueue(pending: Omit<PendingCommit, 'resolve' | 'reject'>): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const waiting = { ...pending, resolve, reject };
      if (pending.bytes > MAX_SHARED) return void this.#commitSingly(waiting);
      const isFull = this.#group.length >= MAX_GROUP.sessions || this.#groupBytes >= MAX_GROUP.bytes;
      if (isFull) this.#flushGroup();
      if (this.#group.length === 0) setImmediate(() => this.#flushGroup());
      this.#group.push(waiting);
      this.#groupBytes += pending.bytes;
    });
  }

  #flushGroup(): void {
    const group = this.#group;
    this.#group = [];
    this.#groupBytes = 0;
    const [first, ...others] = group;
    if (others.length > 0) void this.#groupOf(group);
    else if (first) void this.#commitSingly(first);
  }

  async #groupOf(group: readonly PendingCommit[]): Promise<void> {
    try {
      const written = await applyBehind(this.#pool, group.map(additionOf));
      for (const pending of group) {
        if (written.has(pending.place.sessionId)) pending.resolve(true);
        else void this.#commitSingly(pending);
      }
    } catch (error) {
      // If one of them may have caused the error, each is tried separately.
      for (const pending of group)
        if (isOfOne(error)) void this.#commitSingly(pending);
        else pending.reject(error);
    }
  }

  async #commitSingly(pending: PendingCommit): Promise<void> {
    try {
      const written = await applyBehind(this.#pool, [additionOf(pending)]);
      pending.resolve(written.has(pending.place.sessionId));
    } catch (error) {
      if (uniqueViolation(error) === 'appends_by_key') pending.resolve(false);
      else pending.reject(isLockTimeout(error) && pending.proposals.some(hasKey) ? inProgress(error) : error);
    }
  }
}

type HeadRow = Pick<SessionRow, 'plane' | 'status' | 'event_count' | 'client_ended_at' | 'deleted_at'> & KeyedAppend;

function toKnown(row: KeyedAppend): [string, KnownAppend][] {
  const { idempotency_key: key, append_id: appendId, fingerprint } = row;
  if (key === null) return [];
  return [[key, { appendId, fingerprint, firstSequence: row.first_sequence, lastSequence: row.last_sequence }]];
}

const bytesOf = (proposals: readonly Proposal[]) =>
  proposals.reduce((sum, { frame }) => sum + (frame?.body.byteLength ?? 0), 0);

function additionOf({ place, head, after, proposals }: PendingCommit): Addition {
  const last = proposals.at(-1);
  return {
    ...place,
    plane: head.plane,
    behind: head.eventCount,
    eventCount: after.eventCount,
    status: after.status as Addition['status'],
    endedAt: last?.entry.kind === 'closed' ? last.entry.endedAt : null,
    at: Number(last?.command.at),
    appends: proposals.flatMap(({ entry, command, frame }) =>
      entry.kind === 'append' && command.kind === 'append' && frame
        ? [{ ...place, ...entry, ...command, ...frame }]
        : [],
    ),
  };
}

/** The SQLSTATE codes of `lock_timeout` and of a deadlock. */
const LOCKED = new Set(['55P03', '40P01']);

/** Whether one commit of the group, or another writer of the same session, caused the error. */
const isOfOne = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && (LOCKED.has(error.code ?? '') || !isUnavailable(error));

const hasKey = ({ command }: Proposal) => command.kind === 'append' && command.key !== null;

const inProgress = (cause: unknown) =>
  new Problem(
    'idempotency_in_progress',
    'A request with this idempotency key is still running. Repeat it in a moment.',
    { retryAfter: 1, cause },
  );
