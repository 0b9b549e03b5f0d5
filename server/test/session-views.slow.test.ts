import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { purgeRemoved } from '../erase/purge.ts';
import { SessionViews } from '../ingest/session-views.ts';
import type { SessionRow } from '../store/schema.ts';
import { ENGINES } from './engines.ts';
import { startTestService } from './harness.ts';
import { playScenarios } from './scenarios.ts';
import { SESSION_VIEWS } from './tables/session-views.ts';
import { startWorld, type World } from './world.ts';

playScenarios('listing the views of a session', SESSION_VIEWS);

const OPENED = { kind: 'opened', count: 1 };

describe.each(ENGINES)('views of a session on %s', (engine) => {
  let world: World;
  beforeEach(async () => {
    world = await startWorld(engine);
  });
  afterEach(() => world.service.close());

  const call = (method: string, path: string, as: string, body?: object) =>
    world.service.call(method, `/v1/organizations/me/${path}`, { as, body });
  const open = () => call('GET', `sessions/${world.ours.sessionId}/index`, world.ours.member);
  const views = async () => (await call('GET', `sessions/${world.ours.sessionId}/views`, world.ours.owner)).body.views;
  const stored = () => world.service.store.db.selectFrom('session_views').selectAll().execute();

  /** A recorder of views of its own, apart from the service's. */
  async function ownViews(outcomes: string[] = []) {
    const { db } = world.service.store;
    const session = await db
      .selectFrom('sessions')
      .selectAll()
      .where('session_id', '=', world.ours.sessionId)
      .executeTakeFirstOrThrow();
    const looks = new SessionViews({ db, now: () => 1, onSettled: (outcome) => void outcomes.push(outcome) });
    const note = (row: SessionRow = session) =>
      looks.note({ userId: 'usr_1', address: '203.0.113.9', isBrowser: false }, row, 'opened');
    return { looks, note };
  }

  test('have one row for each person, kind and hour', async () => {
    const { service, ours } = world;
    for (const minutes of [0, 5, 55]) {
      service.clock.now += minutes * 60_000;
      await open();
      await call('GET', `sessions/${ours.sessionId}/views`, ours.owner);
    }
    expect(await views()).toMatchObject([{ count: 1 }, { ...OPENED, count: 2, userId: ours.memberId }]);
    const [later, earlier] = await views();
    expect(Date.parse(earlier.lastAt) - Date.parse(earlier.firstAt)).toBe(5 * 60_000);
    expect(Date.parse(later.firstAt) - Date.parse(earlier.lastAt)).toBe(55 * 60_000);
  });

  test('are recorded if a search shows parts of the session, and not if it only lists it', async () => {
    const { ours } = world;
    await call('GET', 'search?q=one', ours.member);
    await call('GET', 'search', ours.member);
    expect(await views()).toMatchObject([{ kind: 'found', count: 1, surface: 'api' }]);
  });

  test('are not recorded while the policy says so, and the answer shows that', async () => {
    const { ours } = world;
    await call('PUT', 'policy', ours.owner, { recordViews: false });
    await open();
    const { body } = await call('GET', `sessions/${ours.sessionId}/views`, ours.owner);
    expect(body).toEqual({ isRecorded: false, views: [] });
    await call('PUT', 'policy', ours.owner, {});
    await open();
    expect(await views()).toMatchObject([OPENED]);
  });

  test('are written when the service stops', async () => {
    const { service, ours } = world;
    const another = await startTestService(engine, {}, service.store);
    await another.call('GET', `/v1/organizations/me/sessions/${ours.sessionId}/index`, { as: ours.member });
    expect(await stored()).toEqual([]);
    await another.app.close();
    expect(await stored()).toMatchObject([{ session_id: ours.sessionId, user_id: ours.memberId, count: 1 }]);
  });

  test('are retried if they cannot be written', async () => {
    const outcomes: string[] = [];
    const { looks, note } = await ownViews(outcomes);
    const { db } = world.service.store;
    note();
    await sql`alter table session_views rename to session_views_away`.execute(db);
    await expect(looks.flush()).rejects.toThrow();
    await sql`alter table session_views_away rename to session_views`.execute(db);
    note();
    await looks.flush();
    expect(await stored()).toMatchObject([{ count: 2, network: '203.0.113.0/24' }]);
    expect(outcomes).toEqual(['retried', 'written']);
  });

  test('are removed with the session, even if they are written afterwards', async () => {
    const { service, ours } = world;
    const { looks, note } = await ownViews();
    await open();
    expect(await views()).toHaveLength(1);
    note();
    await call('DELETE', `sessions/${ours.sessionId}`, ours.owner);
    await looks.flush();
    await purgeRemoved(service.store.db, () => 2);
    await expect.poll(stored).toEqual([]);
  });
});
