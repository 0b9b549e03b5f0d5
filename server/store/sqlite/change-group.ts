import type { DatabaseSync } from 'node:sqlite';
import { pack } from '../../log/codec.ts';
import { type Decision, decide, type Entry, type Head, type KnownAppend } from '../../log/decide.ts';
import type { ChangeRequest } from '../../log/journal.ts';
import { addEntries, type ChainHead, type Happened, holdHead, type Statement, sessionEnded } from '../audit-chain.ts';
import { findDeletedPlane, findHold, insertTombstone, markDeleted } from '../deletion-sql.ts';
import type { AppendRow, SessionRow } from '../schema.ts';

const FIND_HEAD = `
  SELECT plane, status, event_count, client_ended_at, deleted_at FROM sessions
  WHERE session_id = ? AND organization_id = ?`;
const FIND_KEY = `
  SELECT append_id, fingerprint, first_sequence, last_sequence FROM appends
  WHERE session_id = ? AND idempotency_key = ? AND organization_id = ?`;
const COUNT = `
  UPDATE sessions SET event_count = ?, updated_at = ? WHERE session_id = ? AND organization_id = ?`;
const INSERT = `
  INSERT INTO appends (session_id, first_sequence, last_sequence, organization_id, append_id, created_at,
    idempotency_key, fingerprint, other_secret_id, codec, body)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const CLOSE = `
  UPDATE sessions SET status = ?, ended_at = ?, updated_at = ? WHERE session_id = ? AND organization_id = ?`;
const MARK_DELETED = `
  UPDATE sessions AS s SET ${markDeleted('?')} WHERE s.session_id = ? AND s.organization_id = ?`;
const REMEMBER_DELETED = insertTombstone('sessions s WHERE s.session_id = ? AND s.organization_id = ?', '?', '?', '?');

type HeadRow = Pick<SessionRow, 'plane' | 'status' | 'event_count' | 'client_ended_at' | 'deleted_at'>;
type KeyRow = Pick<AppendRow, 'append_id' | 'fingerprint' | 'first_sequence' | 'last_sequence'>;

/** The outcome of a change. `failed` concerns this change alone. It is plain data, because it is sent between threads. */
export type Settled = Decision | { failed: string };

/**
 * Makes changes in one transaction, and thus with one fsync. Each change is decided on the state that the previous one left. A
 * refused change writes nothing, so it does not affect the others. If a change fails in any other way, the group is rolled back
 * and each change is tried alone.
 * @throws errors of the engine if it cannot begin or commit; then nothing was stored
 */
export function createChangeGroup(database: DatabaseSync): (changes: readonly ChangeRequest[]) => Settled[] {
  const findHead = database.prepare(FIND_HEAD);
  const findDeleted = database.prepare(findDeletedPlane('?', '?'));
  const findKey = database.prepare(FIND_KEY);
  const holds = database.prepare(findHold('?', '?'));
  const count = database.prepare(COUNT);
  const insert = database.prepare(INSERT);
  const close = database.prepare(CLOSE);
  const markDeleted = database.prepare(MARK_DELETED);
  const rememberDeleted = database.prepare(REMEMBER_DELETED);

  function headOf({ sessionId, organizationId }: ChangeRequest['place']): Head | undefined {
    const row = findHead.get(sessionId, organizationId) as unknown as HeadRow | undefined;
    if (row) {
      const { plane, event_count: eventCount, client_ended_at: clientEndedAt } = row;
      return { plane, status: row.deleted_at === null ? row.status : 'deleted', eventCount, clientEndedAt };
    }
    const deleted = findDeleted.get(sessionId, organizationId) as unknown as Pick<Head, 'plane'> | undefined;
    return deleted && { plane: deleted.plane, status: 'deleted', eventCount: 0, clientEndedAt: null };
  }

  function holdOfPlace({ sessionId, organizationId }: ChangeRequest['place']): string | null {
    const found = holds.get(sessionId, organizationId) as { hold_id: string | null } | undefined;
    return found?.hold_id ?? null;
  }

  function change(one: ChangeRequest): Decision {
    const { place, command } = one;
    const keys = { get: (key: string) => knownOf(findKey.get(place.sessionId, key, place.organizationId)) };
    const decision = decide({ head: headOf(place), keys }, command);
    if (!('entry' in decision)) return decision;
    const holdId = decision.entry.kind === 'deleted' ? holdOfPlace(place) : null;
    if (holdId !== null) return { refused: 'held', holdId };
    apply(one, decision.entry);
    return decision;
  }

  /** Updates the rows of the session to the state after the entry. */
  function apply({ place, command, frame }: ChangeRequest, entry: Entry): void {
    const where = [place.sessionId, place.organizationId] as const;
    if (entry.kind === 'closed') close.run(entry.status, entry.endedAt, entry.at, ...where);
    else if (entry.kind === 'deleted') {
      markDeleted.run(command.at, ...where);
      rememberDeleted.run(Number(entry.isExpired), entry.by?.kind ?? null, entry.by?.id ?? null, ...where);
      const happened = sessionEnded(place.sessionId, entry.eventCount, entry);
      if (happened) record(place.organizationId, happened, command.at);
    } else if (command.kind === 'append' && frame) {
      const { sessionId, organizationId } = place;
      const { appendId, key, fingerprint, otherSecretId, at } = command;
      const { firstSequence, lastSequence } = entry;
      const { codec, body } = pack(frame);
      count.run(lastSequence, at, ...where);
      insert.run(
        ...[sessionId, firstSequence, lastSequence, organizationId, appendId, at, key, fingerprint, otherSecretId],
        ...[codec, body],
      );
    }
  }

  /** Adds an entry to the audit log, as `recordAction` does for other transactions. */
  function record(organizationId: string, happened: Happened, now: number): void {
    // Prepared only when needed, so that appends work even without the tables of the audit log.
    const run = ({ parts, values }: Statement) => database.prepare(parts.join('?')).all(...values);
    const [head] = run(holdHead(organizationId, now)) as unknown as [ChainHead];
    for (const added of addEntries(organizationId, head, [happened], now)) run(added);
  }

  function commit(changes: readonly ChangeRequest[]): Decision[] {
    database.exec('BEGIN IMMEDIATE');
    try {
      const decisions = changes.map(change);
      database.exec('COMMIT');
      return decisions;
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK');
      throw error;
    }
  }

  function alone(one: ChangeRequest): Settled {
    try {
      return commit([one])[0] as Decision;
    } catch (error) {
      if (!isOfChange(error)) throw error;
      return { failed: (error as Error).message };
    }
  }

  return (changes) => {
    try {
      return commit(changes);
    } catch (error) {
      if (!isOfChange(error)) throw error;
      return changes.map(alone);
    }
  };
}

function knownOf(found: unknown): KnownAppend | undefined {
  if (!found) return undefined;
  const row = found as KeyRow;
  const { append_id: appendId, fingerprint, first_sequence: firstSequence, last_sequence: lastSequence } = row;
  return { appendId, fingerprint, firstSequence, lastSequence };
}

/** SQLITE_ERROR, such as a missing table, SQLITE_TOOBIG, SQLITE_CONSTRAINT, SQLITE_MISMATCH and SQLITE_RANGE. */
const OF_WHAT_IS_WRITTEN = new Set([1, 18, 19, 20, 25]);

/** Whether the statement or the written data caused the error, and not the disk. A value that cannot be bound causes an error without a code. */
function isOfChange(error: unknown): boolean {
  const { errcode } = error as { errcode?: number };
  return errcode === undefined || OF_WHAT_IS_WRITTEN.has(errcode & 0xff);
}
