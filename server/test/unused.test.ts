import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSession as openOn } from '../store/opening.ts';
import { purgeUnused } from '../store/unused.ts';
import { ENGINES } from './engines.ts';
import { createTenant, type Machine, registerMachine, type Tenant } from './factories.ts';
import { startTestService, type TestService } from './harness.ts';

const DAY = 24 * 3_600_000;

describe.each(ENGINES)('machines unseen for 90 days on %s', (engine) => {
  let service: TestService;
  let ours: Tenant;
  beforeAll(async () => {
    service = await startTestService(engine);
    ours = await createTenant(service);
  });
  afterAll(() => service.close());

  const later = () => service.clock.now + 91 * DAY;
  const purge = () => purgeUnused(service.store.db, later());
  const isThere = async ({ environmentId, installationId }: Machine) => {
    const { db } = service.store;
    const found = await db
      .selectFrom('environments')
      .innerJoin('installations', 'installations.environment_id', 'environments.environment_id')
      .select('installation_id')
      .where('environments.environment_id', '=', environmentId)
      .where('installation_id', '=', installationId)
      .execute();
    return found.length === 1;
  };

  test('are removed with their agents', async () => {
    const machine = await registerMachine(service, ours.live);
    await purge();
    expect(await isThere(machine)).toBe(false);
  });

  test('keep an agent that an admin disabled, so that it stays disabled if they return', async () => {
    const machine = await registerMachine(service, ours.live, 'away');
    const agent = `/v1/organizations/me/agents/${machine.installationId}`;
    await service.call('PATCH', agent, { as: ours.admin, body: { status: 'disabled', config: { only: 'ours' } } });
    await purge();
    expect(await registerMachine(service, ours.live, 'away')).toEqual(machine);
    const { installations } = (await service.call('GET', '/v1/organizations/me/agents', { as: ours.member })).body;
    const found = installations.find(({ installationId }: Machine) => installationId === machine.installationId);
    expect(found).toMatchObject({ status: 'disabled', config: { only: 'ours' } });
  });

  // SQLite has one writer at a time, so nothing can happen during the removal.
  if (engine !== 'postgres') return;

  /** Runs the work in a transaction that ends once the removal waits for it. */
  async function whilePurged(work: (db: typeof service.store.db) => Promise<unknown>): Promise<void> {
    const { db } = service.store;
    const transaction = await db.startTransaction().execute();
    await work(transaction);
    const purged = purge();
    const waiting = () =>
      sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
        .execute(db)
        .then(({ rows }) => rows.length);
    await expect.poll(waiting, { interval: 20, timeout: 1_500 }).toBe(1);
    await transaction.commit().execute();
    await purged;
  }

  test('are kept if they report back during the removal', async () => {
    const machine = await registerMachine(service, ours.live);
    await whilePurged((db) =>
      db
        .updateTable('environments')
        .set({ last_seen_at: later() })
        .where('environment_id', '=', machine.environmentId)
        .execute(),
    );
    expect(await isThere(machine)).toBe(true);
  });

  test('are kept if a session of them is opened during the removal', async () => {
    const machine = await registerMachine(service, ours.live);
    const opening = {
      organizationId: ours.organizationId,
      plane: 'live',
      secretId: 'sec_any',
      environmentId: machine.environmentId,
      installationId: machine.installationId,
      agentId: undefined,
      title: undefined,
      repoRoot: undefined,
      gitBranch: undefined,
      startedAt: service.clock.now,
    } as const;
    await whilePurged((db) => openOn(db, opening, service.clock.now));
    expect(await isThere(machine)).toBe(true);
  });

  test('are kept if an admin disables their agent during the removal', async () => {
    const machine = await registerMachine(service, ours.live);
    await whilePurged((db) =>
      db
        .updateTable('installations')
        .set({ status: 'disabled' })
        .where('installation_id', '=', machine.installationId)
        .execute(),
    );
    expect(await isThere(machine)).toBe(true);
  });
});
