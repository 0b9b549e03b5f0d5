import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { newUuid } from '../../server/ids.ts';
import { pack } from '../../server/log/codec.ts';
import { encodeFrame } from '../../server/log/frame.ts';
import { seed, seedSessions } from '../seed.ts';
import { createEvents } from '../text.ts';

/**
 * The baseline on PostgreSQL, without HTTP: one statement for each append fills the same columns and keys of the service's own
 * tables, over several connections that each wait for their answer. It reads, validates and compresses nothing.
 * Arguments: address of an empty database, events a batch, connections, seconds. Prints appends a second.
 */
const [databaseUrl = '', batchSize = '50', connections = '16', seconds = '5'] = process.argv.slice(2);

const APPEND = `
  WITH reserved AS (
    UPDATE sessions SET event_count = event_count + $2, updated_at = $3
    WHERE session_id = $1 AND organization_id = $4 AND plane = 'live' AND status = 'active'
    RETURNING event_count
  )
  INSERT INTO appends (session_id, first_sequence, last_sequence, organization_id, append_id, created_at, codec, body,
    idempotency_key, fingerprint)
  SELECT $1, event_count - $2 + 1, event_count, $4, $5, $3, $6, $7, $8, $9 FROM reserved`;
const FINGERPRINT = 'f'.repeat(64);

const dataDir = mkdtempSync(join(tmpdir(), 'capture-bench-'));
const { organizationId, sessions } = await seed({ dataDir, databaseUrl }, 'bench', 'owner', async (store, made) => ({
  sessions: await seedSessions(store, made, Number(connections)),
}));
rmSync(dataDir, { recursive: true, force: true });

const makeEvent = createEvents(1);
const frames = Array.from({ length: 200 }, () =>
  pack(
    encodeFrame(
      Array.from({ length: Number(batchSize) }, () => {
        const { eventType, payload } = makeEvent(1024);
        return { eventType, payload: Buffer.from(JSON.stringify(payload)) };
      }),
    ),
  ),
);

let done = 0;
const pool = new pg.Pool({ connectionString: databaseUrl, max: sessions.length });
const started = performance.now();
const until = started + Number(seconds) * 1000;
await Promise.all(
  sessions.map(async (session) => {
    const client = await pool.connect();
    while (performance.now() < until) {
      const { codec, body } = frames[done++ % frames.length] as (typeof frames)[number];
      const values = [
        session,
        Number(batchSize),
        Date.now(),
        organizationId,
        newUuid(),
        codec,
        body,
        randomUUID(),
        FINGERPRINT,
      ];
      const { rowCount } = await client.query({ name: 'append', text: APPEND, values });
      if (rowCount !== 1) throw new Error('an append wrote nothing');
    }
    client.release();
  }),
);
process.stdout.write(`${done / ((performance.now() - started) / 1000)}\n`);
await pool.end();
