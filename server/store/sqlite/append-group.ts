import type { DatabaseSync } from 'node:sqlite';
import type { Batch, Settled } from '../appends.ts';
import { pack } from '../codec.ts';
import { decide, type KnownAppend, type LogHead } from '../decision.ts';

/*
 * Order of checks: is the key known, does the session exist, is it open, has it the events that are expected. Organization and plane stand in every statement.
 */
const FIND_KEY = `
  SELECT a.first_sequence, a.last_sequence, a.fingerprint
  FROM appends a JOIN sessions s USING (session_id)
  WHERE a.session_id = ? AND a.idempotency_key = ? AND s.organization_id = ? AND s.plane = ?`;
const RESERVE = `
  UPDATE sessions SET event_count = event_count + ?, updated_at = ?
  WHERE session_id = ? AND organization_id = ? AND plane = ? AND status = 'active' AND event_count = coalesce(?, event_count)
  RETURNING event_count`;
const FIND_SESSION = `
  SELECT status, event_count FROM sessions WHERE session_id = ? AND organization_id = ? AND plane = ?`;
const INSERT = `
  INSERT INTO appends (session_id, first_sequence, last_sequence, organization_id, append_id, created_at,
    idempotency_key, fingerprint, codec, body)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

interface KeyRow {
  first_sequence: number;
  last_sequence: number;
  fingerprint: string;
}

const toKnown = (row: KeyRow): KnownAppend => ({
  firstSequence: row.first_sequence,
  lastSequence: row.last_sequence,
  fingerprint: row.fingerprint,
});

/**
 * Appends in one transaction, and so with one fsync. A refused one wrote nothing, so it cannot spoil the others; should
 * one fail in any other way, nothing of the group is kept and each is tried alone.
 * @throws what the engine throws when it cannot begin or commit; then nothing was stored
 */
export function createAppendGroup(database: DatabaseSync): (batches: readonly Batch[]) => Settled[] {
  const findKey = database.prepare(FIND_KEY);
  const reserve = database.prepare(RESERVE);
  const findSession = database.prepare(FIND_SESSION);
  const insert = database.prepare(INSERT);

  function append(batch: Batch): Settled {
    const { sessionId, organizationId, plane, idempotencyKey: key, fingerprint } = batch;
    const known = key === null ? undefined : findKey.get(sessionId, key, organizationId, plane);
    const settled = decide(
      { known: known && toKnown(known as unknown as KeyRow), head: known ? undefined : reserveNumbers(batch) },
      batch,
    );
    if (!('firstSequence' in settled) || settled.replayed) return settled;
    const place = [sessionId, settled.firstSequence, settled.lastSequence, organizationId] as const;
    const { codec, body } = pack(batch);
    insert.run(...place, batch.appendId, batch.now, key, fingerprint, codec, body);
    return settled;
  }

  /** The session as it was before its count was raised; it is not where the batch must be refused. */
  function reserveNumbers(batch: Batch): LogHead | undefined {
    const { sessionId, organizationId, plane, count, now, expectedEvents = null } = batch;
    const row = reserve.get(count, now, sessionId, organizationId, plane, expectedEvents);
    if (row) return { isOpen: true, eventCount: (row.event_count as number) - count };
    const found = findSession.get(sessionId, organizationId, plane);
    return found && { isOpen: found.status === 'active', eventCount: found.event_count as number };
  }

  function commit(batches: readonly Batch[]): Settled[] {
    database.exec('BEGIN IMMEDIATE');
    try {
      const settled = batches.map(append);
      database.exec('COMMIT');
      return settled;
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK');
      throw error;
    }
  }

  function alone(batch: Batch): Settled {
    try {
      return commit([batch])[0] as Settled;
    } catch (error) {
      if (!isOfBatch(error)) throw error;
      return { failed: (error as Error).message };
    }
  }

  return (batches) => {
    try {
      return commit(batches);
    } catch (error) {
      if (!isOfBatch(error)) throw error;
      return batches.map(alone);
    }
  };
}

/** SQLITE_TOOBIG, CONSTRAINT, MISMATCH, RANGE. */
const OF_WHAT_IS_WRITTEN = new Set([18, 19, 20, 25]);

/** The fault is in what was to be written, not in the disk beneath; a value that cannot even be bound has no code. */
function isOfBatch(error: unknown): boolean {
  const { errcode } = error as { errcode?: number };
  return errcode === undefined || OF_WHAT_IS_WRITTEN.has(errcode & 0xff);
}
