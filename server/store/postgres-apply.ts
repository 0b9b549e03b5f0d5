import type pg from 'pg';
import type { AuditParty } from '../../contract/audit.ts';
import type { Plane } from '../../contract/secret.ts';
import type { SessionKey } from '../log/decide.ts';
import { Held } from '../log/outcome.ts';
import { type HappenedIn, recordInAll } from './audit.ts';
import { sessionEnded } from './audit-chain.ts';
import { findHold, holdOf, insertTombstone, lockHolds, markDeleted } from './deletion-sql.ts';
import { dbOn } from './postgres.ts';
import type { SessionRow } from './schema.ts';

/*
 * Applies entries to the rows of sessions on PostgreSQL. Entries arrive in two ways:
 *
 * | function | why an entry is the next one | after a gap |
 * | --- | --- | --- |
 * | `applyBehind`, for the journal | the head is unchanged since the journal read it | impossible |
 * | `applyNumbered`, for a worker of the bus | the bus has numbered it | its events are stored, but hidden until it is closed |
 */

/** An append with its numbers. */
export interface NewAppend extends SessionKey {
  firstSequence: number;
  lastSequence: number;
  appendId: string;
  /** Milliseconds since the epoch, as are all times here. */
  at: number;
  key: string | null;
  fingerprint: string | null;
  otherSecretId: string | null;
  codec: number;
  body: Uint8Array;
}

export interface NewClose extends SessionKey {
  status: 'completed' | 'failed';
  /** The last event of the session. */
  eventCount: number;
  endedAt: number;
  at: number;
}

export interface NewDeletion extends SessionKey {
  /** Whether it expired instead of being deleted by a person. Later events of its agent are then still captured. */
  isExpired: boolean;
  /** How many events the session must have; absent: any number. */
  eventCount?: number;
  /** The actor in the audit log; absent: it expired, or the audit log ends, too. */
  by?: AuditParty | undefined;
  at: number;
}

/** Entries of one session that the journal adds together, and the state of the session before and after them. */
export interface Addition extends SessionKey {
  plane: Plane;
  /** How many events the session has before them. It is active. */
  behind: number;
  eventCount: number;
  status: SessionRow['status'];
  endedAt: number | null;
  at: number;
  appends: readonly NewAppend[];
}

/** Entries that the bus has numbered and one transaction writes. */
export interface Numbered {
  appends: readonly NewAppend[];
  closes: readonly NewClose[];
  deletions: readonly NewDeletion[];
}

/**
 * The result of each entry. `stored`: perhaps by another worker. `session_gone`: its session, the content of the session, or its
 * organization was removed. `gap_before`: earlier events are missing. `conflicts`: it contradicts the store.
 */
export type ApplyResult = 'stored' | 'session_gone' | 'gap_before' | 'conflicts';

export interface Applied {
  appends: ApplyResult[];
  closes: ApplyResult[];
  /** The changed sessions with their new state. */
  changed: ChangedSession[];
}

interface ChangedSession extends Pick<SessionRow, 'organization_id' | 'session_id' | 'event_count'> {
  status: SessionRow['status'] | 'deleted';
}

/** A statement that each connection prepares once, under its name. */
export interface Prepared {
  name: string;
  text: string;
}

/** How long a statement may take before its connection is closed. A write takes a tenth of a second. */
const SILENT_MS = 8_000;

/** Runs a prepared statement and returns its rows. */
export async function runPrepared<Row extends pg.QueryResultRow>(
  connection: Pick<pg.ClientBase, 'query'> | Pick<pg.Pool, 'query'>,
  prepared: Prepared,
  values: unknown[],
): Promise<Row[]> {
  const asked = { ...prepared, values, query_timeout: SILENT_MS };
  return (await connection.query<Row>(asked)).rows;
}

/** The columns are named. With `*` a prepared statement would fail on each connection once a newer version adds a column. */
const CHANGED = 's.organization_id, s.session_id, s.status, s.event_count';

const APPEND = `
  session_id, first_sequence, last_sequence, organization_id, append_id, created_at, idempotency_key, fingerprint, other_secret_id,
  codec`;

/** New appends as rows. The parameters from number `first` on are the result of `valuesOf`. */
const appendsFrom = (first: number) => `unnest($${first}::text[], $${first + 1}::int[], $${first + 2}::int[],
  $${first + 3}::text[], $${first + 4}::text[], $${first + 5}::bigint[], $${first + 6}::text[], $${first + 7}::text[],
  $${first + 8}::text[], $${first + 9}::int[], $${first + 10}::int[], $${first + 11}::int[]) AS n (${APPEND}, start, bytes)`;

/** Inserts the appends in `rows`. The parameters from number `first` on are the result of `valuesOf`. */
const insertOf = (rows: string, first: number) => `
  INSERT INTO appends (${APPEND}, body)
  SELECT ${APPEND.replaceAll(/[a-z]\w+/g, `${rows}.$&`)}, substring($${first + 12}::bytea FROM ${rows}.start FOR ${rows}.bytes)
  FROM`;

/** All bodies are joined in one value, with their positions in it. A list would be sent as text, which is twice as long. */
function valuesOf(appends: readonly NewAppend[]): unknown[] {
  const lengths = appends.map(({ body }) => body.byteLength);
  let end = 1;
  const starts = lengths.map((length) => {
    end += length;
    return end - length;
  });
  return [
    appends.map((one) => one.sessionId),
    appends.map((one) => one.firstSequence),
    appends.map((one) => one.lastSequence),
    appends.map((one) => one.organizationId),
    appends.map((one) => one.appendId),
    appends.map((one) => one.at),
    appends.map((one) => one.key),
    appends.map((one) => one.fingerprint),
    appends.map((one) => one.otherSecretId),
    appends.map((one) => one.codec),
    starts,
    lengths,
    Buffer.concat(appends.map(({ body }) => body)),
  ];
}

/**
 * Adds entries to sessions if their heads are unchanged, in one atomic statement. Comparing status and count is enough,
 * because a status never comes back and a count only grows.
 */
const behindOf = (name: string, locked: string): Prepared => ({
  name,
  text: `
WITH change AS MATERIALIZED (
  SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::int[], $6::text[], $7::bigint[], $8::bigint[])
    AS c (session_id, organization_id, plane, behind, event_count, status, ended_at, at)
), added AS MATERIALIZED (
  SELECT * FROM ${appendsFrom(9)}
)${locked}, moved AS (
  UPDATE sessions s SET event_count = c.event_count, status = c.status, ended_at = c.ended_at, updated_at = c.at
  FROM change c${locked === '' ? '' : ' JOIN locked USING (session_id)'}
  WHERE s.session_id = c.session_id AND s.organization_id = c.organization_id AND s.plane = c.plane
    AND s.status = 'active' AND s.deleted_at IS NULL AND s.event_count = c.behind
    AND NOT EXISTS (SELECT FROM added b WHERE b.session_id = c.session_id
      AND EXISTS (SELECT FROM appends a WHERE a.session_id = b.session_id AND a.idempotency_key = b.idempotency_key))
  RETURNING s.session_id
), written AS (${insertOf('added', 9)} added JOIN moved USING (session_id)
)
SELECT session_id FROM moved`,
});

/** Waits for the lock of the session. */
const BEHIND_ONE = behindOf('commit_one', '');
/** Skips sessions that another process is writing to, so that the others do not wait. */
const BEHIND_MANY = behindOf(
  'commit_group',
  `, locked AS MATERIALIZED (
  SELECT s.session_id FROM sessions s JOIN change USING (session_id, organization_id, plane)
  FOR NO KEY UPDATE OF s SKIP LOCKED
)`,
);

/**
 * Adds entries to sessions if their heads are unchanged. A single addition waits for the lock of its session. Several additions
 * skip locked sessions.
 * @returns the ids of the changed sessions
 */
export async function applyBehind(pool: pg.Pool, additions: readonly Addition[]): Promise<Set<string>> {
  const values = [
    additions.map((one) => one.sessionId),
    additions.map((one) => one.organizationId),
    additions.map((one) => one.plane),
    additions.map((one) => one.behind),
    additions.map((one) => one.eventCount),
    additions.map((one) => one.status),
    additions.map((one) => one.endedAt),
    additions.map((one) => one.at),
    ...valuesOf(additions.flatMap(({ appends }) => appends)),
  ];
  const rows = await runPrepared<{ session_id: string }>(
    pool,
    additions.length === 1 ? BEHIND_ONE : BEHIND_MANY,
    values,
  );
  return new Set(rows.map((row) => row.session_id));
}

/** Marks sessions. The process that marks a session first also inserts its tombstone: a replica or a worker. */
const DELETE: Prepared = {
  name: 'delete_sessions',
  text: `
WITH s AS (
  UPDATE sessions s SET ${markDeleted('n.at')}
  FROM unnest($1::text[], $2::text[], $3::bigint[], $4::boolean[], $5::int[], $6::text[], $7::text[])
    AS n (organization_id, session_id, at, is_expired, event_count, by_kind, by_id)
  WHERE s.session_id = n.session_id AND s.organization_id = n.organization_id AND s.deleted_at IS NULL
    AND s.event_count = coalesce(n.event_count, s.event_count) AND ${holdOf('s')} IS NULL
  RETURNING s.session_id, s.organization_id, s.environment_id, s.plane, s.client_key, s.deleted_at, s.event_count,
    s.created_at, n.is_expired, n.by_kind, n.by_id
), remembered AS (${insertTombstone('s', 's.is_expired', 's.by_kind', 's.by_id')}
)
SELECT organization_id, session_id, 'deleted' AS status, event_count FROM s`,
};

/**
 * Marks sessions as deleted. From now on nobody sees them, they accept no events, and their tombstones keep their client keys.
 * The audit entries are added in the same transaction, which must prevent new holds.
 * @throws errors of the engine; then nothing was written
 * @returns the sessions that existed, were not held, were not deleted before, and had the required number of events
 */
export async function applyDeletions(
  client: pg.PoolClient,
  deletions: readonly NewDeletion[],
): Promise<ChangedSession[]> {
  const values = [
    deletions.map((one) => one.organizationId),
    deletions.map((one) => one.sessionId),
    deletions.map((one) => one.at),
    deletions.map((one) => one.isExpired),
    deletions.map((one) => one.eventCount ?? null),
    deletions.map((one) => one.by?.kind ?? null),
    deletions.map((one) => one.by?.id ?? null),
  ];
  const rows = await runPrepared<ChangedSession>(client, DELETE, values);
  await record(client, rows, deletions);
  return rows;
}

/** Adds the audit entries for the deleted sessions. */
function record(client: pg.PoolClient, deleted: readonly ChangedSession[], deletions: readonly NewDeletion[]) {
  const bySession = new Map(deletions.map((one) => [one.sessionId, one]));
  const all = deleted.flatMap(
    ({ organization_id: organizationId, session_id: id, event_count: events }): HappenedIn[] => {
      const deletion = bySession.get(id);
      const happened = deletion && sessionEnded(id, events, deletion);
      return happened ? [{ organizationId, ...happened }] : [];
    },
  );
  const at = Math.max(...deletions.map((one) => one.at));
  return recordInAll(dbOn(client), all, at);
}

/**
 * Prevents holds in the organizations until the transaction ends. It must be a separate statement, and the first one. The next
 * statement then sees every hold that was placed before the lock was free, and the transaction locks no rows while it waits.
 */
const preventHolds = (client: pg.PoolClient, organizationIds: readonly string[]) =>
  runPrepared(client, { name: 'lock_holds', text: lockHolds('shared', '$1') }, [organizationIds]);

const FIND_HOLD: Prepared = { name: 'find_hold', text: findHold('$1', '$2') };

/**
 * Deletes a session while no hold can be placed on it.
 * @param work deletes the session with the client of the transaction
 * @throws Problem `held`
 */
export async function whileUnheld<Result>(
  pool: Pick<pg.Pool, 'connect'>,
  { organizationId, sessionId }: SessionKey,
  work: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  const outcome = await inTransaction(pool, async (client) => {
    await preventHolds(client, [organizationId]);
    const [row] = await runPrepared<{ hold_id: string | null }>(client, FIND_HOLD, [sessionId, organizationId]);
    const holdId = row?.hold_id ?? null;
    return holdId === null ? { result: await work(client) } : { holdId };
  });
  if ('holdId' in outcome) throw new Held(outcome.holdId);
  return outcome.result;
}

/** Locks in the same order everywhere, so that two workers cannot deadlock. The later one sees the rows of the other. */
const LOCK: Prepared = {
  name: 'lock_sessions',
  text: 'SELECT FROM sessions WHERE session_id = ANY($1) ORDER BY session_id FOR NO KEY UPDATE',
};

/** Skips existing appends, and appends that contradict the store. */
const INSERT: Prepared = {
  name: 'persist_appends',
  text: `${insertOf('n', 1)} ${appendsFrom(1)}
JOIN sessions s ON s.session_id = n.session_id AND s.organization_id = n.organization_id AND s.deleted_at IS NULL
  AND s.content_expired_at IS NULL
WHERE n.first_sequence > s.event_count
ON CONFLICT (session_id, first_sequence) DO NOTHING
RETURNING appends.session_id, appends.first_sequence`,
};

/**
 * Finds the reason why an append was not inserted. Tombstones are removed with their organization, so a session is also gone
 * if its organization is deleted or does not exist.
 */
const FIND: Prepared = {
  name: 'find_appends',
  text: `
SELECT n.append_id, s.session_id IS NOT NULL AS is_there, a.append_id AS stored,
  d.session_id IS NOT NULL OR o.organization_id IS NULL OR s.content_expired_at IS NOT NULL AS is_gone
FROM unnest($1::text[], $2::text[], $3::int[], $4::text[]) AS n (organization_id, session_id, first_sequence, append_id)
LEFT JOIN sessions s ON s.session_id = n.session_id AND s.organization_id = n.organization_id
LEFT JOIN removals d ON d.session_id = n.session_id AND d.organization_id = n.organization_id AND d.what = 'session'
LEFT JOIN organizations o ON o.organization_id = n.organization_id AND o.status <> 'deleted'
LEFT JOIN appends a ON a.session_id = n.session_id AND a.first_sequence = n.first_sequence`,
};

/**
 * Readers see events up to `event_count`. This raises it to the end of the appends without a gap, so that no event is visible
 * before the events in front of it, regardless of the order in which they were inserted.
 */
const RAISE: Prepared = {
  name: 'raise_counts',
  text: `
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
RETURNING ${CHANGED}`,
};

const CLOSE: Prepared = {
  name: 'close_sessions',
  text: `
UPDATE sessions s SET status = n.status, ended_at = n.ended_at, updated_at = n.at
FROM unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::bigint[], $6::bigint[])
  AS n (organization_id, session_id, status, event_count, ended_at, at)
WHERE s.session_id = n.session_id AND s.organization_id = n.organization_id AND s.deleted_at IS NULL
  AND s.event_count >= n.event_count
RETURNING ${CHANGED}`,
};

/**
 * Writes entries that the bus has numbered, in one transaction. Writing them again changes nothing.
 * @throws errors of the engine; then nothing was written
 */
export const applyNumbered = (pool: Pick<pg.Pool, 'connect'>, numbered: Numbered): Promise<Applied> =>
  inTransaction(pool, (client) => apply(client, numbered));

async function inTransaction<Result>(
  pool: Pick<pg.Pool, 'connect'>,
  work: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const result = await work(client);
    await client.query('COMMIT');
    client.release();
    return result;
  } catch (error) {
    // Closes the connection, because the state of the transaction is unknown.
    client.release(true);
    throw error;
  }
}

async function apply(client: pg.PoolClient, { appends, closes, deletions }: Numbered): Promise<Applied> {
  const sessionIds = [...new Set([...appends, ...closes, ...deletions].map(({ sessionId }) => sessionId))].sort();
  if (deletions.length > 0) {
    await preventHolds(
      client,
      deletions.map(({ organizationId }) => organizationId),
    );
  }
  // Locks before it inserts. Thus it finds a deleted session as deleted, or the removal of the session finds the appends.
  await runPrepared(client, LOCK, [sessionIds]);
  const results = appends.length > 0 ? await insert(client, appends) : [];
  const raised = await runPrepared<ChangedSession>(client, RAISE, [sessionIds]);
  const closed = closes.length > 0 ? await close(client, closes) : { results: [], rows: [] };
  const deleted = deletions.length > 0 ? await applyDeletions(client, deletions) : [];
  const changed = new Map([...raised, ...closed.rows, ...deleted].map((row) => [row.session_id, row]));
  return { appends: results, closes: closed.results, changed: [...changed.values()] };
}

async function insert(client: pg.PoolClient, given: readonly NewAppend[]): Promise<ApplyResult[]> {
  // Uses the same order everywhere, so that two workers with the same appends cannot deadlock.
  const sorted = [...given].sort(
    (a, b) => (a.sessionId < b.sessionId ? -1 : a.sessionId > b.sessionId ? 1 : 0) || a.firstSequence - b.firstSequence,
  );
  type Inserted = { session_id: string; first_sequence: number };
  const rows = await runPrepared<Inserted>(client, INSERT, valuesOf(sorted));
  const inserted = new Set(rows.map((row) => `${row.session_id} ${row.first_sequence}`));
  const isInserted = (one: NewAppend) => inserted.has(`${one.sessionId} ${one.firstSequence}`);
  const found = await find(
    client,
    given.filter((one) => !isInserted(one)),
  );
  return given.map((one) => {
    if (isInserted(one) || found.get(one.appendId)?.stored === one.appendId) return 'stored';
    return found.get(one.appendId)?.is_gone ? 'session_gone' : 'conflicts';
  });
}

type AppendKey = Pick<NewAppend, 'organizationId' | 'sessionId' | 'firstSequence' | 'appendId'>;
type AppendState = { append_id: string; is_there: boolean; is_gone: boolean; stored: string | null };

async function find(client: pg.PoolClient, places: readonly AppendKey[]): Promise<Map<string, AppendState>> {
  if (places.length === 0) return new Map();
  const values = [
    places.map((one) => one.organizationId),
    places.map((one) => one.sessionId),
    places.map((one) => one.firstSequence),
    places.map((one) => one.appendId),
  ];
  const rows = await runPrepared<AppendState>(client, FIND, values);
  return new Map(rows.map((row) => [row.append_id, row]));
}

async function close(client: pg.PoolClient, closes: readonly NewClose[]) {
  const values = [
    closes.map((one) => one.organizationId),
    closes.map((one) => one.sessionId),
    closes.map((one) => one.status),
    closes.map((one) => one.eventCount),
    closes.map((one) => one.endedAt),
    closes.map((one) => one.at),
  ];
  const rows = await runPrepared<ChangedSession>(client, CLOSE, values);
  const closed = new Set(rows.map((row) => row.session_id));
  const left = closes.filter((one) => !closed.has(one.sessionId));
  const found = await find(
    client,
    left.map((one) => ({ ...one, firstSequence: 0, appendId: one.sessionId })),
  );
  const results = closes.map((one): ApplyResult => {
    if (closed.has(one.sessionId)) return 'stored';
    const { is_gone: isGone, is_there: isThere } = found.get(one.sessionId) ?? {};
    if (isGone) return 'session_gone';
    return isThere ? 'gap_before' : 'conflicts';
  });
  return { results, rows };
}
