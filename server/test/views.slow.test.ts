import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { VIEW_QUOTAS } from '../store/views.ts';
import { ENGINES } from './engines.ts';
import { playScenarios } from './scenarios.ts';
import { VIEWS } from './tables/views.ts';
import { startWorld, type World } from './world.ts';

playScenarios('views', VIEWS);

describe.each(ENGINES)('views on %s', (engine) => {
  let world: World;
  beforeEach(async () => {
    world = await startWorld(engine);
  });
  afterEach(() => world.service.close());

  const PATH = '/v1/organizations/me/views';
  const save = (as: string, isShared: boolean) =>
    world.service.call('POST', PATH, { as, body: { name: 'red', search: {}, isShared } });
  const listed = async (as: string): Promise<string[]> =>
    (await world.service.call('GET', PATH, { as })).body.views.map(({ viewId }: { viewId: string }) => viewId);

  /** Copies the member's unshared view until the person has this many more. */
  async function fill(count: number, userId: string, isShared: boolean) {
    const { service, ours } = world;
    for (let index = 0; index < count; index++) {
      await sql`
        insert into views
        select ${`viw_${isShared}_${index}`}, organization_id, ${userId}, name, search, ${Number(isShared)}, 1, 1
        from views where view_id = ${ours.viewId}`.execute(service.store.db);
    }
  }

  test('a person at their limit saves no further view, and others still do', async () => {
    const { ours } = world;
    await fill(VIEW_QUOTAS.own - 3, ours.memberId, false);
    expect((await save(ours.member, false)).status).toBe(201);
    const refused = await save(ours.member, false);
    expect(refused).toMatchObject({ status: 400, body: { code: 'quota_reached' } });
    expect(refused.body.error).toMatch(/100 views/);
    expect((await save(ours.admin, false)).status).toBe(201);
    expect(await listed(ours.member)).toHaveLength(VIEW_QUOTAS.own);
  });

  test('an organization at its limit of shared views shares no further view, neither a new nor a saved one', async () => {
    const { service, ours } = world;
    await fill(VIEW_QUOTAS.shared - 1, 'usr_others', true);
    expect(await save(ours.admin, true)).toMatchObject({ status: 400, body: { code: 'quota_reached' } });
    const change = { as: ours.member, body: { isShared: true } };
    expect((await service.call('PATCH', `${PATH}/${ours.viewId}`, change)).status).toBe(400);
    const rename = { as: ours.member, body: { name: 'other' } };
    expect((await service.call('PATCH', `${PATH}/${ours.sharedViewId}`, rename)).status).toBe(200);
    expect((await save(ours.admin, false)).status).toBe(201);
  });

  test('of two views saved at once with room for one, one is refused', async () => {
    const { ours } = world;
    await fill(VIEW_QUOTAS.own - 3, ours.memberId, false);
    const replies = await Promise.all([save(ours.member, false), save(ours.member, false)]);
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 400]);
  });

  test.each(['removed', 'left'])('of a member who was %s stay only if they are shared', async (how) => {
    const { service, ours } = world;
    const members = '/v1/organizations/me/members';
    const gone = await (how === 'removed'
      ? service.call('DELETE', `${members}/${ours.memberId}`, { as: ours.owner })
      : service.call('DELETE', '/v1/me/membership', { as: ours.member }));
    expect(gone.status).toBe(200);
    expect(await listed(ours.owner)).toEqual([ours.sharedViewId]);
    const { rows } = await sql<{ id: string }>`
      select view_id as id from views where organization_id = ${ours.organizationId}`.execute(service.store.db);
    expect(rows).toEqual([{ id: ours.sharedViewId }]);
    expect((await service.call('DELETE', `${PATH}/${ours.sharedViewId}`, { as: ours.admin })).status).toBe(200);
  });
});
