import type pg from 'pg';
import { Problem } from '../../contract/problem.ts';
import { sliceOf } from '../work.ts';
import { type Batch, type Outcome, outcomeOf, type Settled, type StoreAppend } from './appends.ts';
import { pack } from './codec.ts';
import { decide } from './decision.ts';
import { uniqueViolation } from './dialect.ts';
import { appendGroup, type Packed } from './postgres-group.ts';
import type { SessionRow } from './schema.ts';

/**
 * An append in one statement, and so in one round trip and atomic by itself. The row lock of `reserved` orders the
 * appends of a session; `appends_by_key` decides between two with the same key. `state` is the session as it was before.
 */
const APPEND = `
WITH known AS (
  SELECT a.first_sequence, a.last_sequence, a.fingerprint
  FROM appends a JOIN sessions s USING (session_id)
  WHERE a.session_id = $1 AND a.idempotency_key = $7 AND s.organization_id = $2 AND s.plane = $3
), reserved AS (
  UPDATE sessions SET event_count = event_count + $4, updated_at = $6
  WHERE session_id = $1 AND organization_id = $2 AND plane = $3 AND status = 'active'
    AND event_count = coalesce($11::bigint, event_count) AND NOT EXISTS (SELECT FROM known)
  RETURNING event_count
), written AS (
  INSERT INTO appends (session_id, first_sequence, last_sequence, organization_id, append_id, created_at,
    idempotency_key, fingerprint, codec, body)
  SELECT $1, event_count - $4 + 1, event_count, $2, $5, $6, $7, $8, $9, $10 FROM reserved
), state AS (
  SELECT FROM sessions WHERE session_id = $1 AND organization_id = $2 AND plane = $3
)
SELECT reserved.event_count, known.first_sequence, known.last_sequence, known.fingerprint,
  EXISTS (SELECT FROM state) AS found
FROM (SELECT) AS one LEFT JOIN reserved ON true LEFT JOIN known ON true`;

/** Where nothing was written: a writer that was faster may have committed after the statement above began. */
const FIND_AGAIN = `
SELECT s.status, s.event_count, a.first_sequence, a.last_sequence, a.fingerprint
FROM sessions s LEFT JOIN appends a ON a.session_id = s.session_id AND a.idempotency_key = $2
WHERE s.session_id = $1 AND s.organization_id = $3 AND s.plane = $4`;

interface KeyRow {
  first_sequence: number | null;
  last_sequence: number;
  fingerprint: string;
}

interface Row extends KeyRow {
  event_count: number | null;
  found: boolean;
}

interface AgainRow extends KeyRow {
  status: SessionRow['status'];
  event_count: number;
}

/** SQLSTATE of `lock_timeout`. */
const LOCK_NOT_AVAILABLE = '55P03';

export function createPostgresAppend(pool: pg.Pool): StoreAppend {
  async function findAgain(batch: Batch): Promise<Settled> {
    const values = [batch.sessionId, batch.idempotencyKey, batch.organizationId, batch.plane];
    const { rows } = await pool.query<AgainRow>({ name: 'find_append_again', text: FIND_AGAIN, values });
    const [row] = rows;
    const head = row && { isOpen: row.status === 'active', eventCount: row.event_count };
    const settled = decide({ known: row && toKnown(row), head }, batch);
    // As it is now it would be taken.
    if ('replayed' in settled && !settled.replayed) throw inProgress();
    return settled;
  }

  async function store({ batch, codec, body }: Packed): Promise<Settled> {
    const { sessionId, organizationId, plane, count, appendId, now, idempotencyKey, fingerprint } = batch;
    const { expectedEvents = null } = batch;
    const place = [sessionId, organizationId, plane, count, appendId, now] as const;
    const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    const values = [...place, idempotencyKey, fingerprint, codec, bytes, expectedEvents];
    const { rows } = await pool.query<Row>({ name: 'append', text: APPEND, values });
    const [row] = rows;
    if (!row) throw new Error('an append was answered by no row');
    const known = toKnown(row);
    if (row.event_count === null && row.found && !known) return findAgain(batch);
    const head = row.event_count === null ? undefined : { isOpen: true, eventCount: row.event_count - count };
    return decide({ known, head }, batch);
  }

  async function alone(packed: Packed): Promise<Outcome> {
    const { batch } = packed;
    try {
      return outcomeOf(await store(packed));
    } catch (error) {
      if (uniqueViolation(error) === 'appends_by_key') return outcomeOf(await findAgain(batch));
      const isLocked = (error as { code?: unknown }).code === LOCK_NOT_AVAILABLE;
      if (isLocked && batch.idempotencyKey !== null) throw inProgress(error);
      throw error;
    }
  }

  async function together(group: readonly Waiting[]): Promise<void> {
    const counts = await appendGroup(pool, group).catch((error: unknown) => ({ error }));
    for (const waiting of group) {
      const { batch, resolve, reject } = waiting;
      if (counts && 'error' in counts) {
        reject(counts.error);
        continue;
      }
      const lastSequence = counts?.get(batch.sessionId);
      if (lastSequence === undefined) alone(waiting).then(resolve, reject);
      else resolve({ firstSequence: lastSequence - batch.count + 1, lastSequence, replayed: false });
    }
  }

  function begin(group: Waiting[]): void {
    const [first, ...others] = group;
    if (others.length > 0) void together(group);
    else if (first) alone(first).then(first.resolve, first.reject);
  }

  const gather = createGathering(begin);

  return async (batch) => {
    const { codec, body } = await sliceOf(batch.body.byteLength, () => pack(batch));
    return new Promise((resolve, reject) => gather({ batch, codec, body, resolve, reject }));
  };
}

interface Waiting extends Packed {
  resolve: (outcome: Outcome) => void;
  reject: (error: unknown) => void;
}

/** What one statement takes at most. */
const LARGEST_GROUP = { count: 64, bytes: 1024 * 1024 };
/** A larger body goes by itself: small ones would wait for it. */
const LARGEST_SHARED = 64 * 1024;

/** Hands on what comes within a turn of the event loop in groups of different sessions. Nothing waits for longer. */
function createGathering(begin: (group: Waiting[]) => void): (waiting: Waiting) => void {
  let group = new Map<string, Waiting>();
  let bytes = 0;

  function handOn(): void {
    const gathered = [...group.values()];
    group = new Map();
    bytes = 0;
    begin(gathered);
  }

  return (waiting) => {
    const { sessionId } = waiting.batch;
    if (waiting.body.byteLength > LARGEST_SHARED) return begin([waiting]);
    if (group.has(sessionId) || group.size >= LARGEST_GROUP.count || bytes >= LARGEST_GROUP.bytes) handOn();
    if (group.size === 0) setImmediate(handOn);
    group.set(sessionId, waiting);
    bytes += waiting.body.byteLength;
  };
}

const toKnown = ({ first_sequence: firstSequence, last_sequence: lastSequence, fingerprint }: KeyRow) =>
  firstSequence === null ? undefined : { firstSequence, lastSequence, fingerprint };

const inProgress = (cause?: unknown) =>
  new Problem(
    'idempotency_in_progress',
    'A request with this idempotency key is still running. Repeat it in a moment.',
    { retryAfter: 1, cause },
  );
