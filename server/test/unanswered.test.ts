import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isUnavailable } from '../store/dialect.ts';
import { ENGINES, type TestStore } from './engines.ts';
import { startTestService, type TestReply, type TestService } from './harness.ts';
import { expectProblem } from './shape.ts';
import type { Wire } from './wire.ts';
import { openWiredStore, type WiredStore } from './wired.ts';
import { createWorld, type World } from './world.ts';

describe.skipIf(!ENGINES.includes('postgres'))('a PostgreSQL that does not answer', () => {
  let wired: WiredStore;
  let own: TestStore;
  let wire: Wire;
  let service: TestService;
  let world: World;
  beforeAll(async () => {
    wired = await openWiredStore(5_000);
    ({ own, wire } = wired);
    service = await startTestService('postgres', {}, wired.far);
    world = await createWorld(service);
  });
  afterAll(async () => {
    await service.close().catch(() => undefined);
    await wired.dispose();
  });

  const append = (key?: string) =>
    service.call('POST', `/v1/sessions/${world.ours.sessionId}/events`, {
      as: world.ours.live,
      body: { events: [{ eventType: 'notice' }] },
      headers: key === undefined ? {} : { 'idempotency-key': key },
    });
  /** Begins a transaction. */
  const issue = () => service.call('POST', '/v1/organizations/me/secrets', { as: world.ours.owner });
  const expectLater = (reply: TestReply) => {
    expectProblem(reply, 503, 'service_unavailable');
    expect(reply.headers['retry-after']).toBe('1');
  };

  /** Runs the work while somebody else has the session and the organization. */
  async function whileLocked<Result>(work: () => Promise<Result>): Promise<Result> {
    return own.db.transaction().execute(async (transaction) => {
      const { sessionId, organizationId } = world.ours;
      // A busy machine may need longer than a transaction may stand idle.
      await sql`select set_config('idle_in_transaction_session_timeout', '0', true)`.execute(transaction);
      await sql`select from sessions where session_id = ${sessionId} for update`.execute(transaction);
      await sql`select from organizations where organization_id = ${organizationId} for update`.execute(transaction);
      return work();
    });
  }

  /** Once the request waits for a lock, does this to its backend; asks again where it had waited as long as it may before. */
  async function askAndDo(ask: () => Promise<TestReply>, does: 'pg_cancel_backend' | 'pg_terminate_backend') {
    for (;;) {
      let isAnswered = false;
      const asked = ask().finally(() => {
        isAnswered = true;
      });
      while (!isAnswered) {
        const { rows } = await sql<{ done: boolean }>`select ${sql.raw(does)}(pid) as done from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`.execute(own.db);
        if (rows.length > 0) return asked;
      }
      await asked;
    }
  }

  test('because somebody else has what it needs is tried again later, or in a moment under the same key', async () => {
    await whileLocked(async () => {
      expectLater(await append());
      expectLater(await issue());
      const reply = await append('locked');
      expectProblem(reply, 409, 'idempotency_in_progress');
      expect(reply.headers['retry-after']).toBe('1');
    });
    expect((await append('locked')).status).toBe(200);
    expect((await issue()).status).toBe(201);
  });

  test.each(['pg_cancel_backend', 'pg_terminate_backend'] as const)(
    'because of %s, within a transaction or without, is tried again later',
    async (does) => {
      for (const ask of [() => append(), issue]) {
        expectLater(await whileLocked(() => askAndDo(ask, does)));
        expect((await ask()).status).toBeLessThan(300);
      }
    },
  );

  test('because a transaction stood idle for too long is worth asking again', async () => {
    const left = own.db.transaction().execute(async (transaction) => {
      const { rows } = await sql<{ pid: number }>`
        select pg_backend_pid() as pid, set_config('idle_in_transaction_session_timeout', '1', true)`.execute(
        transaction,
      );
      const isThere = () =>
        sql`select from pg_stat_activity where pid = ${rows[0]?.pid}`
          .execute(own.db)
          .then((found) => found.rows.length);
      await expect.poll(isThere, { timeout: 60_000 }).toBe(0);
      await sql`select 1`.execute(transaction);
    });
    const error: unknown = await left.catch((reason) => reason);
    expect(isUnavailable(error), String(error)).toBe(true);
  });

  test('because all connections are busy is tried again later', async () => {
    const { pool } = wired.far;
    const busy = await Promise.all(Array.from({ length: 20 }, () => pool?.connect()));
    expectLater(await append());
    expectLater(await issue());
    for (const client of busy) client?.release();
    expect((await append()).status).toBe(200);
  });

  test('and says nothing, as one whose machine is gone, is given up and connected to anew', async () => {
    wire.trouble('silent');
    for (const reply of await Promise.all([append(), append('silent'), issue()])) expectLater(reply);
    wire.trouble('none');
    // The first request may be the one that finds its connection given up.
    await expect.poll(async () => (await append('silent')).status, { timeout: 60_000 }).toBe(200);
    await expect.poll(async () => (await issue()).status, { timeout: 60_000 }).toBe(201);
  });
});
