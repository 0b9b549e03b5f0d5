import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { MaskRun } from '../../contract/mask.ts';
import { insertMaskOfAll } from '../erase/mask/masks.ts';
import { seal } from '../erase/mask/seal.ts';
import { oneRow } from '../store/rows.ts';
import { ENGINES, openTestStore } from './engines.ts';
import { appendTexts, openSession, whenDerived } from './factories.ts';
import { startTestService } from './harness.ts';
import { filesWith, rowsWith } from './marker-scan.ts';
import { startWorld, type World } from './world.ts';

const MARKER = 'zqxeverywheremarker';
const MASKS = '/v1/organizations/me/masks';

describe.each(ENGINES)('masking a text in all sessions on %s', (engine) => {
  let world: World;
  beforeEach(async () => {
    world = await startWorld(engine);
  });
  afterEach(() => world.service.close());

  async function plant(text: string, title: string | null = null): Promise<string> {
    const { ours, service } = world;
    const sessionId = await openSession(service, ours.live, ours);
    await appendTexts(service, ours, sessionId, ['before', text, 'after']);
    await whenDerived(service, ours.member, sessionId, 3);
    await sql`update sessions set title = ${title} where session_id = ${sessionId}`.execute(service.store.db);
    return sessionId;
  }

  const restrict = (sessionId: string, visibility: string) =>
    sql`update sessions set visibility = ${visibility}, user_id = 'usr_else' where session_id = ${sessionId}`.execute(
      world.service.store.db,
    );

  const runs = async (as = world.ours.admin): Promise<MaskRun[]> =>
    (await world.service.call('GET', MASKS, { as })).body.runs;

  async function run(body: object): Promise<MaskRun> {
    const { status, body: answer } = await world.service.call('POST', MASKS, { as: world.ours.admin, body });
    expect(status).toBe(202);
    return ended(answer.run.runId);
  }

  const ended = (runId: string): Promise<MaskRun> =>
    vi.waitFor(async () => {
      const found = (await runs()).find((one) => one.runId === runId);
      expect(found?.outcome).toBeDefined();
      return found as MaskRun;
    }, 30_000);

  const countIn = async (): Promise<number> => {
    const query = sql<{ count: number }>`
      select count(*) as count from sessions
      where organization_id = ${world.ours.organizationId} and deleted_at is null`;
    return Number((await oneRow(world.service.store.db, query)).count);
  };

  test('counts first, then leaves nothing of the text in the store, with a receipt for each session', async () => {
    const { ours, service } = world;
    const first = await plant(`the password is ${MARKER}`);
    const second = await plant(`${MARKER} and ${MARKER}`, `about ${MARKER}`);
    const other = await plant('nothing');
    const counts = { found: 2, held: 0, events: 2, places: 3, fields: 1, outcome: 'done' };
    expect(await run({ text: MARKER, dryRun: true })).toMatchObject({ ...counts, dryRun: true });
    expect(await rowsWith(service.store.db, MARKER)).not.toEqual([]);
    expect(await run({ text: MARKER })).toMatchObject({ ...counts, dryRun: false, by: expect.stringMatching(/^usr_/) });

    for (const sessionId of [first, second]) await whenDerived(service, ours.member, sessionId, 3);
    await vi.waitFor(async () => expect(await rowsWith(service.store.db, MARKER)).toEqual([]), 30_000);
    const receipts = async (sessionId: string) =>
      (await service.call('GET', `/v1/organizations/me/sessions/${sessionId}/masks`, { as: ours.member })).body.masks;
    expect(await receipts(first)).toMatchObject([{ events: 1, places: 1, outcome: 'done' }]);
    expect(await receipts(second)).toMatchObject([{ events: 1, places: 2, fields: 1, outcome: 'done' }]);
    expect(await receipts(other)).toEqual([]);
    expect(service.log.join('\n')).not.toContain(MARKER);
    const { entries } = (await service.call('GET', '/v1/organizations/me/audit', { as: ours.admin })).body;
    const told = entries.filter(({ action }: { action: string }) => action.startsWith('organization.mask'));
    expect(told.map(({ action, details }: { action: string; details: object }) => [action, details])).toEqual([
      ['organization.masked', { run: expect.any(String), dryRun: false, outcome: 'done' }],
      ['organization.mask_requested', { run: expect.any(String), dryRun: false }],
      ['organization.masked', { run: expect.any(String), dryRun: true, outcome: 'done' }],
      ['organization.mask_requested', { run: expect.any(String), dryRun: true }],
    ]);
    if (engine !== 'sqlite') return;
    await vi.waitFor(() => expect(filesWith(service.store.dataDir, MARKER)).toEqual([]), 15_000);
  });

  test('skips sessions that the admin may not read, and does not count them', async () => {
    const hidden = await plant(MARKER);
    const facts = await plant(MARKER);
    await restrict(hidden, 'private');
    await restrict(facts, 'facts');
    expect(await run({ text: MARKER })).toMatchObject({
      sessions: (await countIn()) - 2,
      found: 0,
      held: 0,
      events: 0,
    });
    const rows = (await rowsWith(world.service.store.db, MARKER)).filter((row) => row.startsWith('appends'));
    expect(rows).toHaveLength(2);
    const policy = { as: world.ours.owner, body: { adminsSeeAll: true } };
    await world.service.call('PUT', '/v1/organizations/me/policy', policy);
    expect(await run({ text: MARKER })).toMatchObject({ sessions: await countIn(), found: 2, events: 2 });
    expect(await runs(world.ours.owner)).toEqual([]);
  });

  test('leaves held sessions as they are, and reports their number', async () => {
    const { ours, service } = world;
    const held = await plant(MARKER);
    const body = { target: { kind: 'session', id: held }, reason: 'a lawsuit' };
    await service.call('POST', '/v1/organizations/me/holds', { as: ours.admin, body });
    expect(await run({ text: MARKER, dryRun: true })).toMatchObject({ found: 0, held: 1, events: 0 });
    expect(await run({ text: MARKER })).toMatchObject({ found: 0, held: 1, events: 0 });
    expect(await rowsWith(service.store.db, MARKER)).not.toEqual([]);
  });

  test('is continued by the next process behind the last session that was read', async () => {
    const { ours, service } = world;
    const { db } = service.store;
    const first = await plant(MARKER);
    await plant(MARKER);
    const pepper = (await oneRow(db, sql<{ value: string }>`select value from settings where name = 'pepper'`)).value;
    const sealed = seal(pepper, 'mrn_1', MARKER);
    const asked = { maskId: 'mrn_1', organizationId: ours.organizationId, userId: ours.ownerId, isDry: false, sealed };
    await insertMaskOfAll(db, asked, service.clock.now + 1_000);
    await sql`update jobs set progress = ${first}`.execute(db);
    expect(JSON.stringify(await db.selectFrom('masks').selectAll().execute())).not.toContain(MARKER);
    const next = await startTestService(engine, {}, service.store);
    try {
      await vi.waitFor(async () => {
        const [row] = await db.selectFrom('masks').selectAll().where('mask_id', '=', 'mrn_1').execute();
        expect(row).toMatchObject({ outcome: 'done', sealed: null, found: 1 });
      }, 30_000);
    } finally {
      await next.close();
    }
  });

  test('stops if the person who started it is no longer an admin', async () => {
    const { ours, service } = world;
    const { db } = service.store;
    const asked = { organizationId: ours.organizationId, userId: ours.memberId, isDry: false, sealed: 'no text' };
    await insertMaskOfAll(db, { ...asked, maskId: 'mrn_1' }, service.clock.now);
    const next = await startTestService(engine, {}, service.store);
    try {
      await vi.waitFor(async () => {
        const [row] = await db.selectFrom('masks').selectAll().where('mask_id', '=', 'mrn_1').execute();
        expect(row).toMatchObject({ outcome: 'stopped', sealed: null, sessions: 0 });
      }, 30_000);
    } finally {
      await next.close();
    }
  });

  test('can be cancelled only by the person who started it, keeps finished masks, and forgets the text', async () => {
    const { ours, service } = world;
    const { db } = service.store;
    for (let session = 0; session < 3; session++) await plant(MARKER);
    // The run waits for its turn.
    const asked = { maskId: 'mrn_1', organizationId: ours.organizationId, isDry: false };
    const mine = sql<{ userId: string }>`select requested_by as "userId" from masks where mask_id = ${ours.runId}`;
    const { userId } = await oneRow(db, mine);
    await insertMaskOfAll(db, { ...asked, userId, sealed: 'sealed' }, service.clock.now);
    const cancel = (as: string, runId = 'mrn_1') => service.call('DELETE', `${MASKS}/${runId}`, { as });
    expect((await cancel(ours.member)).status).toBe(403);
    expect((await cancel(ours.owner)).status).toBe(404);
    const { status, body } = await cancel(ours.admin);
    expect([status, body.run.outcome]).toEqual([200, 'cancelled']);
    expect(await db.selectFrom('jobs').selectAll().execute()).toEqual([]);
    const [row] = await db.selectFrom('masks').selectAll().where('mask_id', '=', 'mrn_1').execute();
    expect(row).toMatchObject({ sealed: null, outcome: 'cancelled' });
    expect((await cancel(ours.admin)).body.run).toEqual(body.run);
    expect((await cancel(ours.admin, ours.runId)).body.run.outcome).toBe('done');
    const { entries } = (await service.call('GET', '/v1/organizations/me/audit?limit=1', { as: ours.admin })).body;
    expect(entries).toMatchObject([{ action: 'organization.masked', details: { run: 'mrn_1', outcome: 'cancelled' } }]);
  });

  test('has three runs at most, even if more are requested at the same moment', async () => {
    // Without a service, which would begin the runs and end them.
    const store = await openTestStore(engine);
    const organizationId = 'org_1';
    await sql`
      insert into organizations (organization_id, name, slug, owner_user_id, status, tenant_assigned, created_at,
        updated_at)
      values (${organizationId}, 'one', 'one', 'usr_1', 'active', 0, 0, 0)`.execute(store.db);
    const asked = { organizationId, userId: 'usr_1', isDry: true, sealed: 'no text' };
    const requests = Array.from({ length: 8 }, (_, n) =>
      insertMaskOfAll(store.db, { ...asked, maskId: `mrn_${n}` }, 1),
    );
    const settled = await Promise.allSettled(requests);
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    await store.dispose();
  });

  test('is for owners and admins, and few runs may be open at once', async () => {
    const { ours, service } = world;
    const ask = (as: string) => service.call('POST', MASKS, { as, body: { text: 'nowhere at all' } });
    expect((await ask(ours.member)).status).toBe(403);
    expect((await ask(ours.live)).status).toBe(401);
    const later = { organizationId: ours.organizationId, userId: ours.memberId, isDry: true, sealed: 'no text' };
    for (const maskId of ['mrn_1', 'mrn_2', 'mrn_3']) {
      await insertMaskOfAll(service.store.db, { ...later, maskId }, service.clock.now);
    }
    // A service that has just started may already have begun these runs.
    await sql`delete from jobs`.execute(service.store.db);
    await sql`update masks set finished_at = null, outcome = null where session_id is null`.execute(service.store.db);
    expect((await ask(ours.admin)).body.code).toBe('quota_reached');
  });
});
