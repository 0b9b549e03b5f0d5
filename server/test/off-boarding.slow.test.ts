import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { deleteSessionsOfRemoved } from '../erase/session-groups.ts';
import { ENGINES, LOGS } from './engines.ts';
import { beginSignIn, openSession, registerMachine } from './factories.ts';
import { settled, startTestService } from './harness.ts';
import { signInMachine } from './signed-in.ts';
import { startWorld, type World } from './world.ts';

let world: World;

/** Signs in a machine of the member and opens a session on it, and another session of theirs under a machine without a person. */
async function signInMember() {
  const { service, ours } = world;
  const { deviceCode, userCode } = await beginSignIn(service, 'of-the-member');
  const body = { userCode, decision: 'approve' };
  await service.call('POST', '/v1/organizations/me/device-sign-in', { as: ours.member, body });
  const { value: secret } = (await service.call('POST', '/v1/device-sign-ins/secret', { body: { deviceCode } })).body;
  const machine = await registerMachine(service, secret, 'of-the-member');
  const elsewhere = await openSession(service, secret, ours);
  return { secret, machine, sessions: [await openSession(service, secret, machine), elsewhere] };
}

const remove = (query: string) =>
  world.service.call('DELETE', `/v1/organizations/me/members/${world.ours.memberId}${query}`, { as: world.ours.admin });
const rowsOf = async (table: 'sessions' | 'environments', userId: string) =>
  (await world.service.store.db.selectFrom(table).select('user_id').where('user_id', '=', userId).execute()).length;
const statusOf = async (sessionId: string) =>
  (await world.service.call('GET', `/v1/organizations/me/sessions/${sessionId}`, { as: world.ours.admin })).status;
const entries = async (action: string) =>
  (await world.service.call('GET', `/v1/organizations/me/audit?action=${action}`, { as: world.ours.owner })).body
    .entries;

describe.each(ENGINES)('removing a member on %s', (engine) => {
  beforeEach(async () => {
    world = await startWorld(engine);
  });
  afterEach(() => world.service.close());

  test.each(['', '?sessions=keep'])('with "%s" leaves machines and sessions under their id', async (query) => {
    const { sessions } = await signInMember();
    expect((await remove(query)).status).toBe(200);
    const { memberId } = world.ours;
    expect([await rowsOf('environments', memberId), await rowsOf('sessions', memberId)]).toEqual([1, sessions.length]);
    expect(await Promise.all(sessions.map(statusOf))).toEqual([200, 200]);
  });

  test('hands machines and sessions over to another member', async () => {
    const { machine, secret } = await signInMember();
    const { ours, service } = world;
    expect((await remove(`?sessions=handOver&to=${ours.ownerId}&secrets=keep`)).status).toBe(200);
    expect([await rowsOf('environments', ours.memberId), await rowsOf('sessions', ours.memberId)]).toEqual([0, 0]);
    expect([await rowsOf('environments', ours.ownerId), await rowsOf('sessions', ours.ownerId)]).toEqual([1, 2]);
    await openSession(service, secret, machine);
    expect(await rowsOf('sessions', ours.ownerId)).toBe(3);
    expect(await entries('member.sessions_handed_over')).toMatchObject([
      { target: { kind: 'person', id: ours.memberId }, details: { to: ours.ownerId, sessions: 2 } },
    ]);
  });

  test('does not hand over sessions that only they could read', async () => {
    const { sessions, secret, machine } = await signInMember();
    const { ours, service } = world;
    sessions.push(await openSession(service, secret, machine));
    for (const [index, visibility] of ['private', 'facts'].entries()) {
      const path = `/v1/organizations/me/sessions/${sessions[index]}/visibility`;
      await service.call('PUT', path, { as: ours.member, body: { visibility } });
    }
    expect((await remove(`?sessions=handOver&to=${ours.ownerId}`)).status).toBe(200);
    expect([await rowsOf('sessions', ours.memberId), await rowsOf('sessions', ours.ownerId)]).toEqual([2, 1]);
    expect(await Promise.all(sessions.map(statusOf))).toEqual([404, 200, 200]);
    expect(await entries('member.sessions_handed_over')).toMatchObject([{ details: { sessions: 1 } }]);
  });

  test.each(['', '&to=OWNER&sessions=handOver'])(
    'with "%s" revokes the secret of a machine that an admin signed in and gave them',
    async (query) => {
      const { ours, service } = world;
      const secret = await signInMachine(service, ours.admin, 'of-the-admin');
      const { environmentId } = await registerMachine(service, secret, 'of-the-admin');
      const path = `/v1/organizations/me/environments/${environmentId}/person`;
      await service.call('PUT', path, { as: ours.admin, body: { userId: ours.memberId } });
      await remove(`?secrets=revoke${query.replace('OWNER', ours.ownerId)}`);
      expect((await service.call('GET', '/v1/secret', { as: secret })).status).toBe(401);
    },
  );

  test('hands nothing over if it is refused', async () => {
    await signInMember();
    const { ours, service } = world;
    const path = `/v1/organizations/me/members/${ours.ownerId}`;
    const refused = await service.call('DELETE', `${path}?sessions=handOver&to=${ours.memberId}`, { as: ours.owner });
    expect(refused).toMatchObject({ status: 409, body: { code: 'last_owner' } });
    expect(await entries('member.sessions_handed_over')).toEqual([]);
  });

  test('is refused with 409 under a hold on the person, and keeps a held session until its release', async () => {
    const { sessions } = await signInMember();
    const { ours, service } = world;
    const hold = async (target: object) =>
      (
        await service.call('POST', '/v1/organizations/me/holds', {
          as: ours.owner,
          body: { target, reason: 'a lawsuit' },
        })
      ).body.hold.holdId;
    const ofPerson = await hold({ kind: 'person', id: ours.memberId });
    for (const query of ['?sessions=delete', `?sessions=handOver&to=${ours.ownerId}`]) {
      const refused = await remove(query);
      expect(refused).toMatchObject({ status: 409, body: { code: 'held' } });
      expect(refused.body.error).toContain(ofPerson);
    }
    await service.call('DELETE', `/v1/organizations/me/holds/${ofPerson}`, { as: ours.owner });
    const ofSession = await hold({ kind: 'session', id: sessions[0] });
    expect((await remove('?sessions=delete')).status).toBe(200);
    await expect.poll(() => Promise.all(sessions.map(statusOf)), { timeout: 30_000 }).toEqual([200, 404]);
    const waiting = () => service.store.db.selectFrom('person_deletions').selectAll().execute();
    expect(await waiting()).toHaveLength(1);
    await service.call('DELETE', `/v1/organizations/me/holds/${ofSession}`, { as: ours.owner });
    const next = await startTestService(engine, {}, service.store);
    await next.run('removed members');
    expect(await waiting()).toEqual([]);
    expect(await statusOf(sessions[0] ?? '')).toBe(404);
    await next.close();
  });

  test('drops their claim of a machine', async () => {
    const { ours, service } = world;
    const path = `/v1/organizations/me/environments/${ours.environmentId}`;
    await service.call('PUT', `${path}/person`, { as: ours.member, body: { userId: ours.memberId } });
    await remove('');
    expect((await service.call('GET', path, { as: ours.owner })).body.environment).not.toHaveProperty('claimedBy');
  });
});

describe.each(LOGS)('removing a member with their sessions on %s', (engine) => {
  beforeEach(async () => {
    world = await startWorld(engine);
    world.service.stopRounds();
  });
  afterEach(async () => {
    await world.service.close();
  });

  test('revokes their machines at once, deletes their sessions soon, and no others', async () => {
    const { machine, sessions } = await signInMember();
    const { ours, service } = world;
    expect((await remove('?sessions=delete')).status).toBe(200);
    const shown = await service.call('GET', `/v1/organizations/me/environments/${machine.environmentId}`, {
      as: ours.owner,
    });
    expect(shown.body.environment.status).toBe('revoked');
    // Joins the round that the removal started.
    await service.run('removed members');
    expect(await Promise.all(sessions.map(statusOf))).toEqual([404, 404]);
    expect(await statusOf(ours.sessionId)).toBe(200);
    const deleted = await entries('session.deleted');
    expect(deleted.map(({ target }: { target: { id: string } }) => target.id).sort()).toEqual([...sessions].sort());
    const waiting = () => service.store.db.selectFrom('person_deletions').selectAll().execute();
    expect(await waiting()).toEqual([]);
  });

  test('is finished by the next process if the first stopped', async () => {
    const { sessions } = await signInMember();
    const { ours, service } = world;
    await settled(service.store.bus);
    await service.store.db
      .insertInto('person_deletions')
      .values({
        organization_id: ours.organizationId,
        user_id: ours.memberId,
        actor_id: ours.ownerId,
        requested_at: service.clock.now,
      })
      .execute();
    expect(await Promise.all(sessions.map(statusOf))).toEqual([200, 200]);
    const next = await startTestService(engine, {}, service.store);
    // Joins the round with which a process starts.
    await next.run('removed members');
    expect(await Promise.all(sessions.map(statusOf))).toEqual([404, 404]);
    await next.close();
  });
});

describe.each(ENGINES)('deleting the sessions of removed members on %s', (engine) => {
  test('continues if one session cannot be deleted, and retries that one', async () => {
    world = await startWorld(engine);
    const { sessions } = await signInMember();
    const { ours, service } = world;
    const { db } = service.store;
    const request = { organization_id: ours.organizationId, user_id: ours.memberId, actor_id: ours.ownerId };
    await db
      .insertInto('person_deletions')
      .values({ ...request, requested_at: service.clock.now })
      .execute();
    const tried: string[] = [];
    let isBroken = true;
    const run = () =>
      deleteSessionsOfRemoved({
        db,
        signal: new AbortController().signal,
        sessionLog: {
          async delete({ sessionId }) {
            tried.push(sessionId);
            if (isBroken && sessionId === sessions[0]) throw new Error('cannot be deleted');
            await db.updateTable('sessions').set({ deleted_at: 1 }).where('session_id', '=', sessionId).execute();
          },
        },
      });
    await expect(run()).rejects.toThrow('cannot be deleted');
    expect(tried.sort()).toEqual([...sessions].sort());
    isBroken = false;
    await run();
    expect(tried).toHaveLength(3);
    expect(await db.selectFrom('person_deletions').selectAll().execute()).toEqual([]);
    await service.close();
  });
});
