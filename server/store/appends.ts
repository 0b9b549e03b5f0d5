import type { CompiledQuery } from 'kysely';
import { sql } from 'kysely';
import { Problem } from '../../contract/problem.ts';
import type { Plane } from '../../contract/secret.ts';
import type { Db } from './open.ts';
import { prepare } from './prepared.ts';

/** A batch on its way into the store. */
export interface Batch {
  organizationId: string;
  plane: Plane;
  sessionId: string;
  idempotencyKey: string | null;
  /** SHA-256 of the request body in hexadecimal; null without a key. */
  fingerprint: string | null;
  count: number;
  appendId: string;
  codec: number;
  body: Uint8Array;
  now: number;
}

export interface Outcome {
  firstSequence: number;
  lastSequence: number;
  /** The answer to an earlier append with the same key and body. */
  replayed: boolean;
}

/** A query for the driver to run; it is handed the rows. */
export type Step = CompiledQuery;
export type AppendSteps = Generator<Step, Outcome, unknown[]>;

interface KeyRow {
  first_sequence: number;
  last_sequence: number;
  fingerprint: string;
}

/**
 * The append as a sequence of queries in one transaction, told apart from how they are run: the embedded engine runs
 * many appends synchronously inside one commit, PostgreSQL each in a transaction of its own.
 * Order of checks: key, session exists, session open.
 * @throws Problem `idempotency_key_reused`, `not_found`, `session_closed`
 */
export function createAppendSteps(db: Db): (batch: Batch) => AppendSteps {
  const findKey = prepare((batch: Batch) =>
    db
      .selectFrom('appends')
      .innerJoin('sessions', 'sessions.session_id', 'appends.session_id')
      .select(['appends.first_sequence', 'appends.last_sequence', 'appends.fingerprint'])
      .where('appends.session_id', '=', batch.sessionId)
      .where('appends.idempotency_key', '=', batch.idempotencyKey)
      .where('sessions.organization_id', '=', batch.organizationId)
      .where('sessions.plane', '=', batch.plane),
  );
  const reserve = prepare((batch: Batch) =>
    db
      .updateTable('sessions')
      .set((row) => ({ event_count: row('event_count', '+', batch.count), updated_at: batch.now }))
      .where('session_id', '=', batch.sessionId)
      .where('organization_id', '=', batch.organizationId)
      .where('plane', '=', batch.plane)
      .where('status', '=', sql.lit('active'))
      .returning('event_count'),
  );
  const findSession = prepare((batch: Batch) =>
    db
      .selectFrom('sessions')
      .select('status')
      .where('session_id', '=', batch.sessionId)
      .where('organization_id', '=', batch.organizationId)
      .where('plane', '=', batch.plane),
  );
  const insert = prepare((row: Batch & { firstSequence: number; lastSequence: number }) =>
    db.insertInto('appends').values({
      session_id: row.sessionId,
      first_sequence: row.firstSequence,
      last_sequence: row.lastSequence,
      organization_id: row.organizationId,
      append_id: row.appendId,
      created_at: row.now,
      idempotency_key: row.idempotencyKey,
      fingerprint: row.fingerprint,
      codec: row.codec,
      body: row.body,
    }),
  );

  return function* append(batch) {
    if (batch.idempotencyKey !== null) {
      const [earlier] = (yield findKey(batch)) as KeyRow[];
      if (earlier) return replay(earlier, batch);
    }
    const [reserved] = (yield reserve(batch)) as { event_count: number }[];
    if (!reserved) {
      const [session] = yield findSession(batch);
      throw session ? closed() : new Problem('not_found', 'No such session in this organization and plane.');
    }
    const lastSequence = reserved.event_count;
    const firstSequence = lastSequence - batch.count + 1;
    yield insert({ ...batch, firstSequence, lastSequence });
    return { firstSequence, lastSequence, replayed: false };
  };
}

function replay(earlier: KeyRow, batch: Batch): Outcome {
  if (earlier.fingerprint !== batch.fingerprint) {
    throw new Problem(
      'idempotency_key_reused',
      'This idempotency key was used with another body. Send the same bytes again, or use a new key for new events.',
    );
  }
  return { firstSequence: earlier.first_sequence, lastSequence: earlier.last_sequence, replayed: true };
}

const closed = () => new Problem('session_closed', 'The session is closed. Open a new one for further events.');
