import type pg from 'pg';
import { oneBehindTheOther } from './postgres-journal.ts';
import type { SessionRow } from './schema.ts';
import { TOMBSTONE, tombstoneOf } from './tombstone.ts';

/** An append that was numbered by the bus. */
export interface NumberedAppend {
  organizationId: string;
  sessionId: string;
  firstSequence: number;
  lastSequence: number;
  appendId: string;
  /** Milliseconds since the epoch. */
  at: number;
  key: string | null;
  fingerprint: string | null;
  codec: number;
  body: Uint8Array;
}

/** A session that was closed on the bus, behind its last event. */
export interface NumberedClose {
  organizationId: string;
  sessionId: string;
  status: 'completed' | 'failed';
  eventCount: number;
  /** Milliseconds since the epoch. */
  endedAt: number;
  at: number;
}

/** A session that was deleted on the bus. */
export interface NumberedDeletion {
  organizationId: string;
  sessionId: string;
  isExpired: boolean;
  /** Milliseconds since the epoch. */
  at: number;
}

/** What is written in one transaction. */
export interface Numbered {
  appends: readonly NumberedAppend[];
  closes: readonly NumberedClose[];
  deletions: readonly NumberedDeletion[];
}

/** What became of each: `stored`, also by somebody else; `gone` with its session or organization; `ahead` of what it follows; `foreign`: it contradicts the store. */
export type Fate = 'stored' | 'gone' | 'ahead' | 'foreign';

export interface Persisted {
  appends: Fate[];
  closes: Fate[];
  /** The sessions that have changed, as they are now. */
  changed: ChangedSession[];
}

interface ChangedSession extends Pick<SessionRow, 'organization_id' | 'session_id' | 'event_count'> {
  status: SessionRow['status'] | 'deleted';
}

/** By name: of all columns the statement would fail on each connection that knows it, once a newer version adds one. */
const CHANGED = 's.organization_id, s.session_id, s.status, s.event_count';

/** Those that are there already, and those that the store contradicts, are left out. */
const INSERT = `
INSERT INTO appends (session_id, first_sequence, last_sequence, organization_id, append_id, created_at,
  idempotency_key, fingerprint, codec, body)
SELECT n.session_id, n.first_sequence, n.last_sequence, n.organization_id, n.append_id, n.created_at,
  n.idempotency_key, n.fingerprint, n.codec, substring($12::bytea FROM n.start FOR n.bytes)
FROM unnest($1::text[], $2::int[], $3::int[], $4::text[], $5::text[], $6::bigint[], $7::text[], $8::text[],
  $9::int[], $10::int[], $11::int[]) AS n (session_id, first_sequence, last_sequence, organization_id, append_id,
  created_at, idempotency_key, fingerprint, codec, start, bytes)
JOIN sessions s ON s.session_id = n.session_id AND s.organization_id = n.organization_id AND s.deleted_at IS NULL
WHERE n.first_sequence > s.event_count
ON CONFLICT (session_id, first_sequence) DO NOTHING
RETURNING session_id, first_sequence`;

/**
 * Finds the reason why an append was not inserted. Tombstones are removed with their organization, so a session is also gone
 * if its organization is deleted or does not exist.
 */
const FIND = `
SELECT n.append_id, s.session_id IS NOT NULL AS is_there, a.append_id AS stored,
  d.session_id IS NOT NULL OR o.organization_id IS NULL AS is_gone
FROM unnest($1::text[], $2::text[], $3::int[], $4::text[]) AS n (organization_id, session_id, first_sequence, append_id)
LEFT JOIN sessions s ON s.session_id = n.session_id AND s.organization_id = n.organization_id
LEFT JOIN deleted_sessions d ON d.session_id = n.session_id AND d.organization_id = n.organization_id
LEFT JOIN organizations o ON o.organization_id = n.organization_id AND o.status <> 'deleted'
LEFT JOIN appends a ON a.session_id = n.session_id AND a.first_sequence = n.first_sequence`;

/** What is written in a tenth of a second has either failed or lost its connection after this. */
const BOUNDED = { query_timeout: 8_000 } as const;

/** In one order everywhere, so that two workers do not wait for each other. The later one sees what the other inserted. */
const LOCK = 'SELECT FROM sessions WHERE session_id = ANY($1) ORDER BY session_id FOR NO KEY UPDATE';

/**
 * Readers see events up to \`event_count\`: it is raised to the end of the appends that follow each other without a gap,
 * so that none is seen before those in front of it, in whatever order they were inserted.
 */
const RAISE = `
WITH RECURSIVE run AS (
  SELECT session_id, event_count AS last, updated_at AS at FROM sessions WHERE session_id = ANY($1)
  UNION ALL
  SELECT a.session_id, a.last_sequence, a.created_at
  FROM run JOIN appends a ON a.session_id = run.session_id AND a.first_sequence = run.last + 1
), ends AS (
  SELECT session_id, max(last) AS last, max(at) AS at FROM run GROUP BY session_id
)
UPDATE sessions s SET event_count = ends.last, updated_at = ends.at
FROM ends WHERE s.session_id = ends.session_id AND s.event_count < ends.last
RETURNING ${CHANGED}`;

const CLOSE = `
UPDATE sessions s SET status = n.status, ended_at = n.ended_at, updated_at = n.at
FROM unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::bigint[], $6::bigint[])
  AS n (organization_id, session_id, status, event_count, ended_at, at)
WHERE s.session_id = n.session_id AND s.organization_id = n.organization_id AND s.deleted_at IS NULL
  AND s.event_count >= n.event_count
RETURNING ${CHANGED}`;

/** The replica that took the request does the same, unless it stopped or the store was away. */
const DELETE = `
WITH s AS (
  UPDATE sessions s SET deleted_at = n.at, status = CASE s.status WHEN 'active' THEN 'failed' ELSE s.status END
  FROM unnest($1::text[], $2::text[], $3::bigint[], $4::boolean[]) AS n (organization_id, session_id, at, is_expired)
  WHERE s.session_id = n.session_id AND s.organization_id = n.organization_id AND s.deleted_at IS NULL
  RETURNING s.session_id, s.organization_id, s.environment_id, s.plane, s.client_key, s.deleted_at, s.event_count,
    s.created_at, n.is_expired
), remembered AS (
  INSERT INTO deleted_sessions (${TOMBSTONE}) SELECT ${tombstoneOf('s.is_expired')} FROM s
)
SELECT organization_id, session_id, 'deleted' AS status, event_count FROM s`;

/**
 * Writes what the bus has numbered, all of it in one transaction; again changes nothing.
 * @throws what the engine throws, and then nothing was written
 */
export async function persist(pool: pg.Pool, numbered: Numbered): Promise<Persisted> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const done = await write(client, numbered);
    await client.query('COMMIT');
    client.release();
    return done;
  } catch (error) {
    // The connection with it: what became of the transaction is not known.
    client.release(true);
    throw error;
  }
}

async function write(client: pg.PoolClient, { appends, closes, deletions }: Numbered): Promise<Persisted> {
  const sessionIds = [...new Set([...appends, ...closes, ...deletions].map(({ sessionId }) => sessionId))].sort();
  // Before anything is inserted: a session that is deleted meanwhile is found deleted, or its sweep finds the appends.
  await client.query({ name: 'lock_sessions', text: LOCK, values: [sessionIds], ...BOUNDED });
  const fates = appends.length > 0 ? await insert(client, appends) : [];
  const raised = await client.query<ChangedSession>({
    name: 'raise_counts',
    text: RAISE,
    values: [sessionIds],
    ...BOUNDED,
  });
  const closed = closes.length > 0 ? await close(client, closes) : { fates: [], rows: [] };
  const deleted = deletions.length > 0 ? await markAll(client, deletions) : [];
  const changed = new Map([...raised.rows, ...closed.rows, ...deleted].map((row) => [row.session_id, row]));
  return { appends: fates, closes: closed.fates, changed: [...changed.values()] };
}

async function insert(client: pg.PoolClient, given: readonly NumberedAppend[]): Promise<Fate[]> {
  // In one order everywhere, so that two workers with the same appends wait for each other and not in a circle.
  const sorted = [...given].sort(
    (a, b) => (a.sessionId < b.sessionId ? -1 : a.sessionId > b.sessionId ? 1 : 0) || a.firstSequence - b.firstSequence,
  );
  const column = <Value>(of: (append: NumberedAppend) => Value) => sorted.map(of);
  const { bodies, starts, lengths } = oneBehindTheOther(column(({ body }) => body));
  const { rows } = await client.query<{ session_id: string; first_sequence: number }>({
    name: 'persist_appends',
    text: INSERT,
    ...BOUNDED,
    values: [
      column((one) => one.sessionId),
      column((one) => one.firstSequence),
      column((one) => one.lastSequence),
      column((one) => one.organizationId),
      column((one) => one.appendId),
      column((one) => one.at),
      column((one) => one.key),
      column((one) => one.fingerprint),
      column((one) => one.codec),
      starts,
      lengths,
      bodies,
    ],
  });
  const inserted = new Set(rows.map((row) => `${row.session_id} ${row.first_sequence}`));
  const isInserted = (one: NumberedAppend) => inserted.has(`${one.sessionId} ${one.firstSequence}`);
  const found = await find(
    client,
    given.filter((one) => !isInserted(one)),
  );
  return given.map((one) => {
    if (isInserted(one) || found.get(one.appendId)?.stored === one.appendId) return 'stored';
    return found.get(one.appendId)?.is_gone ? 'gone' : 'foreign';
  });
}

type AppendKey = Pick<NumberedAppend, 'organizationId' | 'sessionId' | 'firstSequence' | 'appendId'>;
type Found = { append_id: string; is_there: boolean; is_gone: boolean; stored: string | null };

async function find(client: pg.PoolClient, places: readonly AppendKey[]): Promise<Map<string, Found>> {
  if (places.length === 0) return new Map();
  const values = [
    places.map((one) => one.organizationId),
    places.map((one) => one.sessionId),
    places.map((one) => one.firstSequence),
    places.map((one) => one.appendId),
  ];
  const { rows } = await client.query<Found>({ name: 'find_appends', text: FIND, values, ...BOUNDED });
  return new Map(rows.map((row) => [row.append_id, row]));
}

async function markAll(client: pg.PoolClient, deletions: readonly NumberedDeletion[]): Promise<ChangedSession[]> {
  const values = [
    deletions.map((one) => one.organizationId),
    deletions.map((one) => one.sessionId),
    deletions.map((one) => one.at),
    deletions.map((one) => one.isExpired),
  ];
  const asked = { name: 'delete_sessions', text: DELETE, values, ...BOUNDED };
  return (await client.query<ChangedSession>(asked)).rows;
}

async function close(client: pg.PoolClient, closes: readonly NumberedClose[]) {
  const values = [
    closes.map((one) => one.organizationId),
    closes.map((one) => one.sessionId),
    closes.map((one) => one.status),
    closes.map((one) => one.eventCount),
    closes.map((one) => one.endedAt),
    closes.map((one) => one.at),
  ];
  const { rows } = await client.query<ChangedSession>({
    name: 'close_sessions',
    text: CLOSE,
    values,
    ...BOUNDED,
  });
  const closed = new Set(rows.map((row) => row.session_id));
  const left = closes.filter((one) => !closed.has(one.sessionId));
  const found = await find(
    client,
    left.map((one) => ({ ...one, firstSequence: 0, appendId: one.sessionId })),
  );
  const fates = closes.map((one): Fate => {
    if (closed.has(one.sessionId)) return 'stored';
    const { is_gone: isGone, is_there: isThere } = found.get(one.sessionId) ?? {};
    if (isGone) return 'gone';
    return isThere ? 'ahead' : 'foreign';
  });
  return { fates, rows };
}
