import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { JetStreamJournal } from '../bus/jetstream-journal.ts';
import { createRevocation } from '../ingest/revocation.ts';
import { SessionLog } from '../ingest/session-log.ts';
import type { Journal } from '../log/journal.ts';
import { LOGS } from './engines.ts';
import { openSession, registerMachine } from './factories.ts';
import { settled, startTestService } from './harness.ts';
import { startWorld, type World } from './world.ts';

/** More sessions than are closed before the answer. */
const MANY = 2_600;

describe.each(LOGS)('revoking a machine with many open sessions on %s', (engine) => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld(engine);
    // A round closes such sessions every minute, which must not happen during a test.
    world.service.stopRounds();
  });
  afterAll(async () => {
    await world.service.close();
  });

  type Machine = Awaited<ReturnType<typeof registerMachine>>;

  /** Copies an open session. The copies' ids sort before the id of the original, which the route opened. */
  async function openMany(machine: Machine, count: number): Promise<string> {
    const { service, ours } = world;
    const sessionId = await openSession(service, ours.live, machine);
    const { db } = service.store;
    const row = await db
      .selectFrom('sessions')
      .selectAll()
      .where('session_id', '=', sessionId)
      .executeTakeFirstOrThrow();
    const name = machine.environmentId.slice(-8);
    const copies = Array.from({ length: count - 1 }, (_, at) => ({ ...row, session_id: `ses_0-${name}-${at}` }));
    for (let start = 0; start < copies.length; start += 200) {
      await db
        .insertInto('sessions')
        .values(copies.slice(start, start + 200))
        .execute();
    }
    return sessionId;
  }
  const countOpen = async ({ environmentId }: Machine) => {
    await settled(world.service.store.bus);
    const open = await world.service.store.db
      .selectFrom('sessions')
      .select('session_id')
      .where('environment_id', '=', environmentId)
      .where('status', '=', 'active')
      .execute();
    return open.length;
  };
  const revoke = ({ environmentId }: Machine) =>
    world.service.call('DELETE', `/v1/organizations/me/environments/${environmentId}`, { as: world.ours.admin });

  test('answers after the newest sessions are closed, and closes the rest in the background', async () => {
    const { service, ours } = world;
    const machine = await registerMachine(service, ours.live);
    const sessionId = await openMany(machine, MANY);
    const { db } = service.store;
    const { status, body } = await revoke(machine);
    expect([status, body.environment.status]).toEqual([200, 'revoked']);
    expect(await countOpen(machine)).toBeLessThanOrEqual(MANY - 2_000);
    const append = { as: ours.live, body: { events: [{ eventType: 'notice' }] } };
    const refused = await service.call('POST', `/v1/sessions/${sessionId}/events`, append);
    expect(refused).toMatchObject({ status: 409, body: { code: 'session_closed' } });
    await expect.poll(() => countOpen(machine), { timeout: 60_000 }).toBe(0);
    const ended = await db
      .selectFrom('sessions')
      .select(['status', 'ended_at'])
      .distinct()
      .where('environment_id', '=', machine.environmentId)
      .execute();
    expect(ended).toEqual([{ status: 'failed', ended_at: service.clock.now }]);
  });

  test('is finished by the next process if the first stopped', async () => {
    const { service, ours } = world;
    const machine = await registerMachine(service, ours.live);
    await openMany(machine, 3);
    await service.store.db
      .updateTable('environments')
      .set({ status: 'revoked' })
      .where('environment_id', '=', machine.environmentId)
      .execute();
    expect(await countOpen(machine)).toBe(3);
    const next = await startTestService(engine, {}, service.store);
    await expect.poll(() => countOpen(machine)).toBe(0);
    await next.close();
  });

  /**
   * Prepares two revoked machines with three open sessions each, and the job that closes them on a journal that `change` may
   * break.
   */
  async function startResuming(change: (journal: Journal) => Journal['change']) {
    const { service, ours } = world;
    const { store } = service;
    // `resume` would begin with the machines of a test that failed.
    await service.run('revocations');
    const journal = store.bus
      ? new JetStreamJournal({
          bus: store.bus,
          db: store.db,
          pool: store.pool as pg.Pool,
          onError: () => expect.unreachable(),
        })
      : store.journal;
    const machines = [await registerMachine(service, ours.live), await registerMachine(service, ours.live)];
    for (const machine of machines) await openMany(machine, 3);
    const ids = machines.map(({ environmentId }) => environmentId);
    await store.db.updateTable('environments').set({ status: 'revoked' }).where('environment_id', 'in', ids).execute();
    const revocation = createRevocation({
      db: store.db,
      sessionLog: new SessionLog({
        db: store.db,
        journal: { change: change(journal) },
        committed: () => undefined,
        now: () => service.clock.now,
      }),
      background: { run: () => expect.unreachable(), signal: new AbortController().signal },
    });
    const openOnBoth = () => Promise.all(machines.map(countOpen));
    return { revocation, openOnBoth };
  }

  test('stops with the current machine if its job is given up', async () => {
    const job = new AbortController();
    const { revocation, openOnBoth } = await startResuming((journal) => (change) => {
      job.abort();
      return journal.change(change);
    });
    await revocation.resume(job.signal);
    expect(await openOnBoth()).toEqual([0, 3]);
    await revocation.resume(new AbortController().signal);
    expect(await openOnBoth()).toEqual([0, 0]);
  });

  test('reports a session that cannot be closed, and closes all others', async () => {
    let broken: string | undefined;
    const { revocation, openOnBoth } = await startResuming((journal) => async (change) => {
      broken ??= change.place.sessionId;
      if (change.place.sessionId === broken) throw new Error('this session cannot be closed');
      return journal.change(change);
    });
    const { signal } = new AbortController();
    await expect(revocation.resume(signal)).rejects.toThrow('this session cannot be closed');
    expect(await openOnBoth()).toEqual([1, 0]);
    broken = 'none';
    await revocation.resume(signal);
    expect(await openOnBoth()).toEqual([0, 0]);
  });
});
