import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LOGS } from './engines.ts';
import { openSession, registerMachine } from './factories.ts';
import { settled, startTestService } from './harness.ts';
import { startWorld, type World } from './world.ts';

/** More than are closed before the answer. */
const MANY = 2_600;

describe.each(LOGS)('revoking a machine with many open sessions on %s', (engine) => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld(engine);
  });
  afterAll(() => world.service.close());

  type Machine = Awaited<ReturnType<typeof registerMachine>>;

  /** Copies of an open session; their ids sort before that of the one that was opened by the route. */
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

  test('answers once the newest are closed, and closes the rest beside the answer', async () => {
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

  test('is finished by the next process, where the one that was asked was stopped', async () => {
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
});
