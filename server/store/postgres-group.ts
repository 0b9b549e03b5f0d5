import pg from 'pg';
import type { Batch } from './appends.ts';
import { isUnavailable } from './dialect.ts';

/**
 * Appends to different sessions in one statement, and so in one round trip and one commit. Those of which nothing comes
 * back wrote nothing: what became of them is for the statement of a single one to say. So it is with those whose session
 * somebody else writes to at the moment, for which nobody else waits.
 */
const APPEND_GROUP = `
WITH batch AS MATERIALIZED (
  SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::text[], $6::bigint[], $7::text[], $8::text[],
    $9::int[], $10::bigint[], $11::int[], $12::int[])
    AS b (session_id, organization_id, plane, count, append_id, at, key, fingerprint, codec, expected, start, bytes)
), locked AS MATERIALIZED (
  SELECT s.session_id FROM sessions s JOIN batch b USING (session_id, organization_id, plane)
  FOR NO KEY UPDATE OF s SKIP LOCKED
), reserved AS (
  UPDATE sessions s SET event_count = s.event_count + b.count, updated_at = b.at
  FROM locked JOIN batch b USING (session_id)
  WHERE s.session_id = b.session_id AND s.organization_id = b.organization_id AND s.plane = b.plane
    AND s.status = 'active' AND s.event_count = coalesce(b.expected, s.event_count)
    AND NOT EXISTS (SELECT FROM appends a WHERE a.session_id = b.session_id AND a.idempotency_key = b.key)
  RETURNING s.session_id, s.event_count
), written AS (
  INSERT INTO appends (session_id, first_sequence, last_sequence, organization_id, append_id, created_at,
    idempotency_key, fingerprint, codec, body)
  SELECT session_id, event_count - count + 1, event_count, organization_id, append_id, at, key, fingerprint, codec,
    substring($13::bytea FROM start FOR bytes)
  FROM reserved JOIN batch USING (session_id)
)
SELECT session_id, event_count FROM reserved`;

/** A batch whose body is as it will be stored. */
export interface Packed {
  batch: Batch;
  codec: number;
  body: Uint8Array;
}

/**
 * Writes appends, each to another session. Returns the sessions' new counts; those that are missing wrote nothing. Undefined:
 * one of them could not be written, and so none was.
 * @throws what the engine throws where it is not known what was written, or nothing can be at the moment
 */
export async function appendGroup(pool: pg.Pool, group: readonly Packed[]): Promise<Map<string, number> | undefined> {
  const column = <Value>(of: (batch: Batch) => Value) => group.map(({ batch }) => of(batch));
  const { bodies, starts, lengths } = oneBehindTheOther(group.map(({ body }) => body));
  const values = [
    column(({ sessionId }) => sessionId),
    column(({ organizationId }) => organizationId),
    column(({ plane }) => plane),
    column(({ count }) => count),
    column(({ appendId }) => appendId),
    column(({ now }) => now),
    column(({ idempotencyKey }) => idempotencyKey),
    column(({ fingerprint }) => fingerprint),
    group.map(({ codec }) => codec),
    column(({ expectedEvents }) => expectedEvents ?? null),
    starts,
    lengths,
    bodies,
  ];
  try {
    const { rows } = await pool.query<{ session_id: string; event_count: number }>({
      name: 'append_group',
      text: APPEND_GROUP,
      values,
    });
    return new Map(rows.map((row) => [row.session_id, row.event_count]));
  } catch (error) {
    if (isOfOne(error)) return undefined;
    throw error;
  }
}

/** SQLSTATE of `lock_timeout` and of a deadlock. */
const LOCKED = new Set(['55P03', '40P01']);

/** The engine has answered, and the fault lies in one of the group, or in who else writes to its session. */
const isOfOne = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && (LOCKED.has(error.code ?? '') || !isUnavailable(error));

/**
 * Bodies as one value and the places in it, as `substring` counts: a list of them would have to be sent as text, twice as
 * long.
 */
export function oneBehindTheOther(bodies: readonly Uint8Array[]): {
  bodies: Buffer;
  starts: number[];
  lengths: number[];
} {
  const lengths = bodies.map(({ byteLength }) => byteLength);
  let end = 1;
  const starts = lengths.map((length) => {
    end += length;
    return end - length;
  });
  return { bodies: Buffer.concat(bodies), starts, lengths };
}
