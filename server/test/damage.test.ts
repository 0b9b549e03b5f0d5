import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { MaskRun } from '../../contract/mask.ts';
import { createMetrics, type Metrics } from '../operations/metrics.ts';
import { damageIn } from '../store/dialect.ts';
import { openStore } from '../store/open.ts';
import type { Db } from '../store/schema.ts';
import { toProblem } from '../to-problem.ts';
import { ENGINES, openTestStore, type TestStore } from './engines.ts';
import { openSession, whenDerived } from './factories.ts';
import { serve, type TestService } from './harness.ts';
import { expectProblem } from './shape.ts';
import { createWorld, type World } from './world.ts';

const PAGE = 4096;
const APPENDS = 60;
const STARTS = [1, 2, 3];

/** Writes noise over a page in the middle that has appends of this session only. SQLite checks no page before it reads it. */
function damagePage(dataDir: string, sessionId: string): void {
  const file = join(dataDir, 'session-capture.sqlite');
  const database = new DatabaseSync(file);
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  database.close();
  const bytes = readFileSync(file);
  const LEAF_OF_TABLE = 0x0d;
  const own = new RegExp(sessionId, 'g');
  const leaves = Array.from({ length: bytes.length / PAGE }, (_, page) => page).filter((page) => {
    const text = bytes.toString('latin1', page * PAGE, (page + 1) * PAGE);
    const ids = text.match(/ses_[0-9a-zA-Z-]{20,}/g) ?? [];
    return (
      bytes[page * PAGE] === LEAF_OF_TABLE &&
      (text.match(own)?.length ?? 0) > 2 &&
      ids.every((id) => id.startsWith(sessionId))
    );
  });
  const page = leaves[Math.floor(leaves.length / 2)];
  if (page === undefined) throw new Error('no page has appends of this session only');
  const handle = openSync(file, 'r+');
  writeSync(handle, Buffer.alloc(PAGE, 0xa5), 0, PAGE, page * PAGE);
  closeSync(handle);
}

/** Makes PostgreSQL report the same as for a damaged page: no other way damages one page of a running server. */
async function damageBody(db: Db, sessionId: string): Promise<void> {
  await sql`
    create function damaged() returns bytea language plpgsql stable as $$
    begin raise exception 'invalid page in block 7 of relation' using errcode = 'XX001'; end $$`.execute(db);
  await sql`alter table appends rename to stored_appends`.execute(db);
  await sql`
    create view appends with (security_invoker = true) as
    select session_id, first_sequence, last_sequence, organization_id, append_id, created_at, idempotency_key, fingerprint, codec,
      case when session_id = ${sql.lit(sessionId)} and first_sequence = 30 then damaged() else body end as body
    from stored_appends`.execute(db);
  await sql`grant select on appends to public`.execute(db);
}

describe.each(ENGINES)('a damaged session on %s', (engine) => {
  let place: TestStore;
  let first: TestService;
  let world: World;
  let damaged: string;
  let sound: string;
  beforeAll(async () => {
    place = await openTestStore(engine);
    first = await serve(place, { isShared: true });
    world = await createWorld(first);
    const { ours } = world;
    damaged = await openSession(first, ours.live, ours);
    sound = await openSession(first, ours.live, ours);
    const send = (sessionId: string, text: string) => {
      const body = { events: [{ eventType: 'user.message', payload: { text } }] };
      return first.call('POST', `/v1/sessions/${sessionId}/events`, { as: ours.live, body });
    };
    for (let at = 0; at < APPENDS; at++) await send(damaged, `blue walrus ${randomBytes(200).toString('hex')}`);
    await send(sound, 'blue walrus');
    await whenDerived(first, ours.owner, damaged, APPENDS);
    await whenDerived(first, ours.owner, sound, 1);
    if (engine === 'postgres') await damageBody(place.db, damaged);
    await first.close();
    await place.close();
    if (engine === 'sqlite') damagePage(place.dataDir, damaged);
  });
  afterAll(() => place.dispose());

  /** Starts the service as a supervisor does after it ended, and ends it after the work. */
  async function whileRunning(work: (service: TestService, metrics: Metrics) => Promise<void>) {
    const lost: Error[] = [];
    const { dataDir, databaseUrl } = place;
    const onLost = (error: Error) => void lost.push(error);
    const store = await openStore({ dataDir, databaseUrl, onError: () => undefined, onLost });
    const metrics = createMetrics();
    const service = await serve({ ...place, ...store }, { isShared: true, metrics, earlier: first });
    try {
      await work(service, metrics);
    } finally {
      await service.close();
      await store.close();
    }
    expect(lost).toEqual([]);
  }

  test.each(STARTS)('is answered with 500 events_damaged, and everything else goes on, at start %i', () =>
    whileRunning(async (service, metrics) => {
      const { ours, theirs } = world;
      const get = (path: string, as: string) => service.call('GET', `/v1/organizations/me/${path}`, { as });
      for (let read = 0; read < 3; read++) {
        expectProblem(await get(`sessions/${damaged}/events?limit=100000`, ours.owner), 500, 'events_damaged');
      }
      expect((await get(`sessions/${sound}/events`, ours.owner)).body.events).toHaveLength(1);
      for (const { owner } of [ours, theirs]) {
        for (const list of ['sessions', 'usage?from=2026-11-01&to=2026-11-30'])
          expect((await get(list, owner)).status).toBe(200);
      }
      const { status, body } = await get(`search?q=${encodeURIComponent('"blue walrus"')}`, ours.owner);
      const ids = body.sessions.map(({ session }: { session: { sessionId: string } }) => session.sessionId);
      expect([status, ids.includes(sound)]).toEqual([200, true]);
      expect((await metrics.read()).text).toMatch(/^capture_damaged_sessions 1$/m);
      expect(
        service.log.filter((line) => line.includes(`events of ${damaged}`) && line.includes('"level":50')),
      ).not.toEqual([]);
    }),
  );

  if (engine === 'postgres') {
    test('is another fault than a disk that fails a read, which is answered with 503', () =>
      whileRunning(async ({ store: { db } }, metrics) => {
        // PostgreSQL reports EIO with this code.
        const failing = sql`do $$ begin raise exception 'could not read block 7' using errcode = '58030'; end $$`;
        const error = await failing.execute(db).catch((cause) => cause);
        expect(damageIn(error)).toBeUndefined();
        expect(toProblem(error)).toMatchObject({ code: 'service_unavailable', retryAfter: 1 });
        expect((await metrics.read()).text).toMatch(/^capture_damaged_sessions 0$/m);
      }));
  }

  test('is counted and left out when a text is searched in all sessions to mask it', () =>
    whileRunning(async (service) => {
      const { ours } = world;
      const url = '/v1/organizations/me/masks';
      const { runId } = (await service.call('POST', url, { as: ours.owner, body: { text: 'walrus', dryRun: true } }))
        .body.run;
      const run = async () => {
        const { runs } = (await service.call('GET', url, { as: ours.owner })).body as { runs: MaskRun[] };
        return runs.find((one) => one.runId === runId);
      };
      await expect.poll(async () => (await run())?.outcome).toBe('done');
      expect(await run()).toMatchObject({ found: 1, damaged: 1 });
    }));

  test('that was deleted stays hidden, is removed no further, and is logged once in an hour', () =>
    whileRunning(async (service) => {
      const { ours } = world;
      const url = `/v1/organizations/me/sessions/${damaged}`;
      expect((await service.call('DELETE', url, { as: ours.owner })).status).toBe(200);
      expect((await service.call('DELETE', url, { as: ours.owner })).status).toBe(200);
      const said = () => service.log.filter((line) => line.includes('background work skips'));
      if (engine === 'sqlite') await expect.poll(() => said().length).toBe(1);
      expect((await service.call('GET', url, { as: ours.owner })).status).toBe(404);
      expect((await service.call('GET', '/v1/organizations/me/sessions', { as: ours.owner })).status).toBe(200);
    }));
});
