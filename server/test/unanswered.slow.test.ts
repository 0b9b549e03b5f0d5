import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Wire } from '../../test/wire.ts';
import { isUnavailable } from '../store/dialect.ts';
import { ENGINES, type TestStore } from './engines.ts';
import { startTestService, type TestReply, type TestService } from './harness.ts';
import { expectProblem } from './shape.ts';
import { openWiredStore, type WiredStore } from './wired.ts';
import { createWorld, type World } from './world.ts';

describe.skipIf(!ENGINES.includes('postgres'))('a PostgreSQL that does not answer', () => {
  let wired: WiredStore;
  let own: TestStore;
  let wire: Wire;
  let service: TestService;
  let world: World;
  beforeAll(async () => {
    wired = await openWiredStore({ silentMs: 2_000, connectionMs: 1_000, lockMs: 250, changeMs: 3_000 });
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
  /** A request that runs in a transaction. */
  const issue = () => service.call('POST', '/v1/organizations/me/secrets', { as: world.ours.owner });
  const expectLater = (reply: TestReply) => {
    expectProblem(reply, 503, 'service_unavailable');
    expect(reply.headers['retry-after']).toBe('1');
  };

  /** Runs the work while another transaction has locked the session and the organization. */
  async function whileLocked<Result>(work: () => Promise<Result>): Promise<Result> {
    return own.db.transaction().execute(async (transaction) => {
      const { sessionId, organizationId } = world.ours;
      // A busy machine may need longer than the limit of an idle transaction.
      await sql`select set_config('idle_in_transaction_session_timeout', '0', true)`.execute(transaction);
      await sql`select from sessions where session_id = ${sessionId} for update`.execute(transaction);
      await sql`select from organizations where organization_id = ${organizationId} for update`.execute(transaction);
      return work();
    });
  }

  /**
   * Cancels or ends the request's backend once it waits for a lock. Sends the request again if it reached its waiting limit
   * first.
   */
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

  test('because of a lock gets 503, and under a repeated key 409 with a time to retry', async () => {
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
    'because of %s inside or outside of a transaction gets 503 with a time to retry',
    async (does) => {
      for (const ask of [() => append(), issue]) {
        expectLater(await whileLocked(() => askAndDo(ask, does)));
        expect((await ask()).status).toBeLessThan(300);
      }
    },
  );

  test('because a transaction was idle for too long counts as unavailable', async () => {
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

  test('because all connections are busy gets 503 with a time to retry', async () => {
    const { pool } = wired.far;
    const busy = await Promise.all(Array.from({ length: 20 }, () => pool?.connect()));
    for (const reply of await Promise.all([append(), issue()])) expectLater(reply);
    for (const client of busy) client?.release();
    expect((await append()).status).toBe(200);
  });

  test('and is silent, as if its machine were gone, is given up and connected to again', async () => {
    wire.trouble('silent');
    for (const reply of await Promise.all([append(), append('silent'), issue()])) expectLater(reply);
    wire.trouble('none');
    // The first request may still find its dead connection.
    await expect.poll(async () => (await append('silent')).status, { timeout: 60_000 }).toBe(200);
    await expect.poll(async () => (await issue()).status, { timeout: 60_000 }).toBe(201);
  });
});
