import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { patience, times } from '../../contract/test/runs.ts';
import type { Db } from '../store/schema.ts';
import { again, LOGS, type TestStore } from './engines.ts';
import { openSession } from './factories.ts';
import { settled, startTestService, type TestService } from './harness.ts';
import { playScenarios } from './scenarios.ts';
import { HOLDS } from './tables/holds.ts';
import { startWorld, type World } from './world.ts';

playScenarios('holds', HOLDS, LOGS);

const ROUNDS = times(15);
const PATH = '/v1/organizations/me/holds';

/** The sessions of the list that still exist. */
async function left(db: Db, ids: readonly string[]): Promise<string[]> {
  const rows = db.selectFrom('sessions').select('session_id').where('deleted_at', 'is', null);
  const there = await rows.where('session_id', 'in', ids).orderBy('session_id').execute();
  return there.map(({ session_id }) => session_id);
}

/** PostgreSQL runs with two replicas. */
describe.each(LOGS)('a legal hold on %s', (engine) => {
  let world: World;
  let store: TestStore | undefined;
  let replicas: TestService[];
  beforeEach(async () => {
    world = await startWorld(engine);
    replicas = [world.service];
    if (engine === 'sqlite') return;
    store = await again(world.service.store);
    replicas.push(await startTestService(engine, {}, store));
  });
  afterEach(async () => {
    if (store) await replicas[1]?.close();
    await store?.close();
    store = undefined;
    await world.service.close();
  });

  const place = async (target: object): Promise<string> => {
    const body = { target, reason: 'a lawsuit' };
    const reply = await world.service.call('POST', PATH, { as: world.ours.admin, body });
    expect(reply.status).toBe(201);
    return reply.body.hold.holdId;
  };
  const release = (holdId: string) => world.service.call('DELETE', `${PATH}/${holdId}`, { as: world.ours.admin });
  const remove = (on: TestService, sessionId: string) =>
    on.call('DELETE', `/v1/organizations/me/sessions/${sessionId}`, { as: world.ours.owner });
  const open = () => openSession(world.service, world.ours.live, world.ours);
  const append = (sessionId: string) =>
    world.service.call('POST', `/v1/sessions/${sessionId}/events`, {
      as: world.ours.live,
      body: { events: [{ eventType: 'notice' }] },
    });

  test(
    'that is placed during deletions finds each session whole or gone',
    async () => {
      const { ours, service } = world;
      let deleted = 0;
      let kept = 0;
      for (let round = 0; round < ROUNDS; round++) {
        const ids = await Promise.all(Array.from({ length: 8 }, open));
        await settled(service.store.bus);
        const body = { target: { kind: 'everything' }, reason: 'a lawsuit' };
        let thereAtOnce: string[] = [];
        const placing = async () => {
          const reply = await replicas[0]?.call('POST', PATH, { as: ours.admin, body });
          thereAtOnce = await left(service.store.db, ids);
          return reply?.body.hold.holdId as string;
        };
        const removals = ids.map((id, index) => () => remove(replicas[index % replicas.length] as TestService, id));
        const [replies, holdId] = await Promise.all([
          Promise.all(removals.slice(0, 4).map((run) => run())),
          placing(),
          Promise.all(removals.slice(4).map((run) => run())),
        ]).then(([some, id, others]) => [[...some, ...others], id] as const);
        await settled(service.store.bus);
        // Sessions that existed when the hold was answered still exist.
        expect(await left(service.store.db, ids)).toEqual(thereAtOnce);
        for (const [index, { status, body: said }] of replies.entries()) {
          const isThere = thereAtOnce.includes(ids[index] as string);
          expect([status, said.code]).toEqual(isThere ? [409, 'held'] : [200, undefined]);
          if (isThere) kept++;
          else deleted++;
        }
        for (const id of thereAtOnce) expect((await append(id)).status).toBeLessThan(300);
        await release(holdId);
      }
      expect(deleted + kept).toBe(8 * ROUNDS);
    },
    patience(60_000),
  );

  test('keeps a session from expiry and deletion, and from nothing else', async () => {
    const { service } = world;
    const [held, other] = [await open(), await open()];
    for (const id of [held, other]) await append(id);
    await settled(service.store.bus);
    const past = service.clock.now - 30 * 86_400_000;
    const { db } = service.store;
    const changed = { created_at: past, updated_at: past };
    await db.updateTable('sessions').set(changed).where('session_id', 'in', [held, other]).execute();
    const holdId = await place({ kind: 'session', id: held });
    const next = await startTestService(engine, { RETENTION_DAYS: 29 }, service.store);
    await expect.poll(() => left(db, [held, other])).toEqual([held]);
    await next.app.close();
    expect((await append(held)).status).toBeLessThan(300);
    expect(await remove(service, held)).toMatchObject({ status: 409 });
    await release(holdId);
    expect(await remove(service, held)).toMatchObject({ status: 200 });
    expect(await left(db, [held, other])).toEqual([]);
  });

  test('on a repository holds a session of that repository, even before its events are derived', async () => {
    const { service, ours } = world;
    const sessionId = await open();
    await place({ kind: 'everything' }).then(release);
    const past = {
      environmentId: ours.environmentId,
      agentInstallationId: ours.installationId,
      startedAt: '2026-01-01T00:00:00.000Z',
      repoRemote: 'git@h.test:held/two.git',
    };
    await service.call('POST', '/v1/past-sessions', { as: ours.live, body: past });
    await place({ kind: 'repository', id: 'h.test/held/two' });
    const told = { eventType: 'session.meta', payload: { repository: 'https://h.test/held/two' } };
    await service.call('POST', `/v1/sessions/${sessionId}/events`, { as: ours.live, body: { events: [told] } });
    await settled(service.store.bus);
    expect(await remove(service, sessionId)).toMatchObject({ status: 409, body: { code: 'held' } });
    const facts = `/v1/organizations/me/sessions/${sessionId}/facts`;
    await expect
      .poll(async () => (await service.call('GET', facts, { as: ours.member })).body.summary?.repository)
      .toBe('h.test/held/two');
    expect(await remove(service, sessionId)).toMatchObject({ status: 409, body: { code: 'held' } });
  });

  test('on a person holds their sessions and no others', async () => {
    const { service, ours } = world;
    const [theirs, nobodys] = [await open(), await open()];
    const { db } = service.store;
    await db.updateTable('sessions').set({ user_id: ours.memberId }).where('session_id', '=', theirs).execute();
    await place({ kind: 'person', id: ours.memberId });
    expect(await remove(service, theirs)).toMatchObject({ status: 409, body: { code: 'held' } });
    expect((await remove(service, nobodys)).status).toBe(200);
  });

  test('does not hold the sessions of another organization', async () => {
    const { service, theirs } = world;
    await place({ kind: 'everything' });
    const path = `/v1/organizations/me/sessions/${theirs.spareSessionId}`;
    expect((await service.call('DELETE', path, { as: theirs.owner })).status).toBe(200);
  });
});
