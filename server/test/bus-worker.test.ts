import { headers } from '@nats-io/transport-node';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { Bus } from '../bus/bus.ts';
import { writeEntry } from '../bus/entry.ts';
import { createWorker } from '../bus/worker.ts';
import { newUuid } from '../ids.ts';
import { createTenant, event, openSession, type Tenant } from './factories.ts';
import { startTestService, type TestService } from './harness.ts';

/** Less than the 10 s after which a message comes again that nobody has settled. */
const SOON = { timeout: 7_000 };

describe.runIf(inject('natsUrl'))('a worker for which something fails once', () => {
  let service: TestService;
  let tenant: Tenant;
  beforeAll(async () => {
    service = await startTestService('bus', { ROLE: 'api' });
    tenant = await createTenant(service);
  });
  afterAll(() => service.close());

  /** A session whose close waits for an event that will not come. */
  async function spoil(bus: Bus): Promise<void> {
    const sessionId = await openSession(service, tenant.live);
    const written = headers();
    const append = { kind: 'append', plane: 'live', firstSequence: 1, lastSequence: 1, key: null } as const;
    written.set(
      'Capture-Entry',
      writeEntry({ ...append, fingerprint: null, appendId: newUuid(), codec: 0, at: 1, parts: 2 }),
    );
    await bus.client.publish(`${bus.name}.log.${tenant.organizationId}.${sessionId}`, undefined, { headers: written });
    await service.call('POST', `/v1/sessions/${sessionId}/complete`, { as: tenant.live });
  }

  test('settles a close although the store is away when it looks at it again', async () => {
    const bus = service.store.bus as Bus;
    const pool = service.store.pool as pg.Pool;
    let isAway = false;
    const worker = createWorker({
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
    const { setAside } = await bus.backlog();
    await spoil(bus);
    await expect.poll(() => bus.backlog(), SOON).toEqual({ setAside: setAside + 2, waiting: 0 });
    await worker.close();
  });

  test('writes what comes afterwards as soon as before', async () => {
    const bus = service.store.bus as Bus;
    const errors: unknown[] = [];
    const worker = createWorker({
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
