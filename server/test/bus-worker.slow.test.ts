import { headers } from '@nats-io/transport-node';
import { sql } from 'kysely';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import type { Bus } from '../bus/bus.ts';
import { retryDeadLetters } from '../bus/dead-letters.ts';
import { writeEntry } from '../bus/entry.ts';
import { Worker } from '../bus/worker.ts';
import { removeOrganization } from '../erase/organization-end.ts';
import { purgeRemoved } from '../erase/purge.ts';
import { newUuid } from '../ids.ts';
import { createTenant, event, openSession, type Tenant } from './factories.ts';
import { startTestService, type TestService } from './harness.ts';

/** Time enough for the redelivery that happens 10 s after a message was not settled. */
const SOON = { timeout: 60_000 };

const CLOCK = { time: async () => Date.now() };

describe.runIf(inject('natsUrl'))('a worker after a single failure', () => {
  let service: TestService;
  let tenant: Tenant;
  beforeAll(async () => {
    service = await startTestService('bus', { ROLE: 'api' });
    tenant = await createTenant(service);
  });
  afterAll(() => service.close());

  /** Creates a session whose close waits for an event that will never arrive. */
  async function spoil(bus: Bus): Promise<void> {
    const sessionId = await openSession(service, tenant.live);
    const written = headers();
    const append = { kind: 'append', plane: 'live', firstSequence: 1, lastSequence: 1, key: null } as const;
    written.set(
      'Capture-Entry',
      writeEntry({ ...append, fingerprint: null, appendId: newUuid(), codec: 2 ** 40, at: 1 }),
    );
    await bus.client.publish(`${bus.name}.log.${tenant.organizationId}.${sessionId}`, undefined, { headers: written });
    await service.call('POST', `/v1/sessions/${sessionId}/complete`, { as: tenant.live });
  }

  test('settles a close although the store fails at the second look', async () => {
    const bus = service.store.bus as Bus;
    const pool = service.store.pool as pg.Pool;
    let isAway = false;
    const worker = new Worker({
      clock: CLOCK,
      bus: {
        ...bus,
        async oldestWaiting() {
          isAway = true;
          return bus.oldestWaiting();
        },
      },
      pool: {
        connect() {
          const failed = isAway && Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
          isAway = false;
          return failed ? Promise.reject(failed) : pool.connect();
        },
      } as pg.Pool,
      ...{ committed: () => undefined, onError: () => undefined },
    });
    const { deadLetters } = await bus.backlog();
    await spoil(bus);
    await expect.poll(() => bus.backlog(), SOON).toEqual({ deadLetters: deadLetters + 2, waiting: 0 });
    await worker.close();
  });

  test('writes later messages without delay', async () => {
    const bus = service.store.bus as Bus;
    const errors: unknown[] = [];
    const worker = new Worker({
      clock: CLOCK,
      bus: { ...bus, oldestWaiting: () => Promise.reject(new Error('the bus is away for a moment')) },
      ...{ pool: service.store.pool as pg.Pool, committed: () => undefined },
      onError: (error) => void errors.push(error),
    });
    await spoil(bus);
    await expect.poll(() => errors.map(String), SOON).toContain('Error: the bus is away for a moment');
    const sessionIds = await Promise.all(Array.from({ length: 20 }, () => openSession(service, tenant.live)));
    const body = { events: [event('one')] };
    await Promise.all(
      sessionIds.map((id) => service.call('POST', `/v1/sessions/${id}/events`, { as: tenant.live, body })),
    );
    const behind = service.store.db.selectFrom('sessions').select('session_id').where('event_count', '=', 0);
    await expect.poll(() => behind.where('session_id', 'in', sessionIds).execute(), SOON).toEqual([]);
    await worker.close();
  });
});

describe.runIf(inject('natsUrl'))('a worker that cannot write', () => {
  let service: TestService;
  let tenant: Tenant;
  let bus: Bus;
  beforeEach(async () => {
    service = await startTestService('bus', { ROLE: 'api' });
    tenant = await createTenant(service);
    bus = service.store.bus as Bus;
  });
  afterEach(() => service.close());

  const start = (onError: (error: unknown) => void, onStopped?: (reason: string) => void) =>
    new Worker({
      bus,
      clock: CLOCK,
      pool: service.store.pool as pg.Pool,
      committed: () => undefined,
      onError,
      onStopped,
    });
  const appendTo = (sessionId: string) =>
    service.call('POST', `/v1/sessions/${sessionId}/events`, { as: tenant.live, body: { events: [event('one')] } });
  const countOf = async (sessionId: string) => {
    const query = service.store.db.selectFrom('sessions').select('event_count').where('session_id', '=', sessionId);
    return (await query.executeTakeFirst())?.event_count;
  };

  test.each([
    ['a column is missing', 'RENAME COLUMN codec TO code_c', 'RENAME COLUMN code_c TO codec'],
    ['a table is missing', 'RENAME TO append_s', ''],
  ])('waits while %s, and makes no dead letters', async (_, spoil, mend) => {
    const sessionIds = await Promise.all(Array.from({ length: 5 }, () => openSession(service, tenant.live)));
    for (const sessionId of sessionIds) expect((await appendTo(sessionId)).status).toBe(202);
    const { db } = service.store;
    await sql.raw(`ALTER TABLE appends ${spoil}`).execute(db);
    const errors: unknown[] = [];
    const worker = start((error) => void errors.push(error));
    await expect.poll(() => errors.length, SOON).toBeGreaterThan(1);
    await sql.raw(mend === '' ? 'ALTER TABLE append_s RENAME TO appends' : `ALTER TABLE appends ${mend}`).execute(db);
    await expect.poll(() => Promise.all(sessionIds.map(countOf)), SOON).toEqual([1, 1, 1, 1, 1]);
    await expect.poll(() => bus.backlog(), SOON).toEqual({ deadLetters: 0, waiting: 0 });
    await worker.close();
  });

  test('deletes a session for a replica that stopped between the bus and the store', async () => {
    const sessionId = await openSession(service, tenant.live);
    expect((await appendTo(sessionId)).status).toBe(202);
    const place = `${tenant.organizationId}.${sessionId}`;
    const last = (await bus.history(place)).at(-1)?.sequence ?? 0;
    expect(await bus.publish({ place, entry: { kind: 'deleted' }, behind: last })).toBeGreaterThan(last);
    const worker = start(() => undefined);
    const deleted = service.store.db.selectFrom('removals').select('session_id');
    await expect.poll(() => deleted.execute(), SOON).toEqual([{ session_id: sessionId }]);
    expect(await appendTo(sessionId)).toMatchObject({ status: 404, body: { code: 'session_deleted' } });
    await worker.close();
  });

  test('skips messages of an organization that was deleted while no worker ran', async () => {
    const sessionIds = await Promise.all(Array.from({ length: 4 }, () => openSession(service, tenant.live)));
    for (const sessionId of sessionIds) expect((await appendTo(sessionId)).status).toBe(202);
    const [closed] = sessionIds;
    expect((await service.call('POST', `/v1/sessions/${closed}/complete`, { as: tenant.live })).status).toBe(200);
    const { db } = service.store;
    const mine = db.selectFrom('organizations').where('organization_id', '=', tenant.organizationId);
    const { name } = await mine.select('name').executeTakeFirstOrThrow();
    const request = { as: tenant.owner, body: { name } };
    expect((await service.call('POST', '/v1/organizations/me/deletion', request)).status).toBe(200);
    const remove = async () => {
      // The service does the same, but waits at least 15 s if a session was marked during a purge.
      await purgeRemoved(db, () => 1);
      await removeOrganization(db, tenant.organizationId);
      return mine.select('status').execute();
    };
    await expect.poll(remove, SOON).toEqual([]);
    const errors: unknown[] = [];
    const worker = start((error) => void errors.push(error));
    const isDone = async () => errors.length > 0 || (await bus.backlog()).waiting === 0;
    await expect.poll(isDone, SOON).toBe(true);
    expect(errors).toEqual([]);
    expect(await bus.backlog()).toEqual({ deadLetters: 0, waiting: 0 });
    await worker.close();
  });

  test('stops after three dead letters in a row, reports the reason, and leaves the rest to a later start', async () => {
    const sessionIds = await Promise.all(Array.from({ length: 5 }, () => openSession(service, tenant.live)));
    for (const sessionId of sessionIds) expect((await appendTo(sessionId)).status).toBe(202);
    const { db } = service.store;
    await sql`ALTER TABLE appends ADD CONSTRAINT too_strict CHECK (first_sequence < 1)`.execute(db);
    const reasons: string[] = [];
    const worker = start(
      () => undefined,
      (reason) => void reasons.push(reason),
    );
    await expect.poll(() => reasons, SOON).toEqual([expect.stringMatching(/3 messages in a row.*too_strict/)]);
    expect(await bus.backlog()).toEqual({ deadLetters: 3, waiting: 2 });
    await worker.close();
    await sql`ALTER TABLE appends DROP CONSTRAINT too_strict`.execute(db);
    const later = start(() => undefined);
    await expect.poll(() => bus.backlog(), { timeout: 60_000 }).toEqual({ deadLetters: 3, waiting: 0 });
    await retryDeadLetters(bus, service.store.pool as pg.Pool, () => undefined);
    expect(await Promise.all(sessionIds.map(countOf))).toEqual([1, 1, 1, 1, 1]);
    await later.close();
  });
});
