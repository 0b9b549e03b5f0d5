import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { JetStreamJournal } from '../bus/jetstream-journal.ts';
import { withoutContentIn } from '../derive/review.ts';
import { applyRetention } from '../erase/apply-retention.ts';
import { SessionLog } from '../ingest/session-log.ts';
import { VERSION_HERE } from './derived.ts';
import { LOGS } from './engines.ts';
import { createTenant, type Machine, openSession, registerMachine, type Tenant } from './factories.ts';
import { settled, startTestService, type TestService } from './harness.ts';

const DAY_MS = 86_400_000;
const ignore = () => undefined;

describe.each(LOGS)('expired sessions on %s', (engine) => {
  let service: TestService;
  let ours: Tenant;
  let machine: Machine;
  let sessionLog: SessionLog;
  let ids: string[];
  beforeAll(async () => {
    service = await startTestService(engine);
    ours = await createTenant(service);
    machine = await registerMachine(service, ours.live);
    const { store } = service;
    const now = () => service.clock.now;
    const { db } = store;
    const bus = store.bus && new JetStreamJournal({ bus: store.bus, db, pool: store.pool as pg.Pool, onError: ignore });
    sessionLog = new SessionLog({ db, journal: bus ?? store.journal, bus, committed: ignore, now });
  });
  afterAll(() => service.close());
  beforeEach(async () => {
    ids = await Promise.all(Array.from({ length: 3 }, () => openSession(service, ours.live, machine)));
    for (const id of ids) await append(id);
    await settled(service.store.bus);
    const past = service.clock.now - 40 * DAY_MS;
    const changed = { created_at: past, updated_at: past };
    await service.store.db.updateTable('sessions').set(changed).where('session_id', 'in', ids).execute();
    ids.sort();
  });

  const append = (sessionId: string) =>
    service.call('POST', `/v1/sessions/${sessionId}/events`, {
      as: ours.live,
      body: { events: [{ eventType: 'notice' }] },
    });
  const clear = (more: Partial<Pick<SessionLog, 'expire'>> = {}) => {
    const { signal } = new AbortController();
    const given = { db: service.store.db, bounds: { defaultDays: 30 }, now: () => service.clock.now, signal };
    const told = { version: VERSION_HERE, withoutContent: withoutContentIn, onContentGone: ignore };
    const own: Pick<SessionLog, 'expire' | 'abandon'> = {
      expire: (session) => sessionLog.expire(session),
      abandon: (session) => sessionLog.abandon(session),
    };
    return applyRetention({ ...given, ...told, sessionLog: { ...own, ...more } });
  };
  const left = async () => {
    const mine = service.store.db.selectFrom('sessions').select('session_id').where('deleted_at', 'is', null);
    const rows = await mine.where('session_id', 'in', ids).orderBy('session_id').execute();
    return rows.map(({ session_id }) => session_id);
  };

  test('are kept if they continue while others are deleted, even before the store has the new events', async () => {
    const [, , resumed = ''] = ids;
    const expire: SessionLog['expire'] = async (session) => {
      if (session.sessionId === ids[0]) expect((await append(resumed)).status).toBeLessThan(300);
      await sessionLog.expire(session);
    };
    await clear({ expire });
    expect(await left()).toEqual([resumed]);
    expect((await append(resumed)).status).toBeLessThan(300);
  });

  test('are deleted although one of them fails, which is retried', async () => {
    const [first = ''] = ids;
    const expire: SessionLog['expire'] = async (session) => {
      if (session.sessionId === first) throw new Error('not this one');
      await sessionLog.expire(session);
    };
    await expect(clear({ expire })).rejects.toThrow('not this one');
    expect(await left()).toEqual([first]);
    await clear();
    expect(await left()).toEqual([]);
    for (const id of ids) expect((await append(id)).status).toBe(404);
  });
});
