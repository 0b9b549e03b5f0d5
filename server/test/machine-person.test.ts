import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ENGINES } from './engines.ts';
import { beginSignIn, type Machine, openSession, registerMachine } from './factories.ts';
import { startWorld, type World } from './world.ts';

describe.each(ENGINES)('the person of a machine on %s', (engine) => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld(engine);
  });
  afterAll(() => world.service.close());

  const set = (as: string, { environmentId }: Machine, userId: string | null) =>
    world.service.call('PUT', `/v1/organizations/me/environments/${environmentId}/person`, { as, body: { userId } });
  const personOf = async (sessionId: string) => {
    const sessions = world.service.store.db.selectFrom('sessions').select('user_id');
    return (await sessions.where('session_id', '=', sessionId).executeTakeFirstOrThrow()).user_id;
  };
  const entriesOf = async ({ environmentId }: Machine) => {
    const { body } = await world.service.call('GET', '/v1/organizations/me/audit?limit=100', { as: world.ours.owner });
    return body.entries.filter(({ target }: { target: { id: string } }) => target.id === environmentId);
  };

  test("gets the machine's sessions without a person, and sessions of the previous person stay theirs", async () => {
    const { service, ours } = world;
    const machine = await registerMachine(service, ours.live, 'handed-on');
    const first = await openSession(service, ours.live, machine);
    expect(await personOf(first)).toBeNull();
    await set(ours.member, machine, ours.memberId);
    expect(await personOf(first)).toBeNull();
    await set(ours.admin, machine, ours.memberId);
    expect(await personOf(first)).toBe(ours.memberId);
    const second = await openSession(service, ours.live, machine);
    await set(ours.admin, machine, ours.ownerId);
    const third = await openSession(service, ours.live, machine);
    await set(ours.admin, machine, null);
    const fourth = await openSession(service, ours.live, machine);
    expect(await Promise.all([first, second, third, fourth].map(personOf))).toEqual([
      ours.memberId,
      ours.memberId,
      ours.ownerId,
      null,
    ]);
    const [, claimed] = [...(await entriesOf(machine))].reverse();
    expect(claimed).toMatchObject({ action: 'machine.claimed', actor: { kind: 'person', id: ours.memberId } });
    const changes = (await entriesOf(machine)).filter(({ action }: { action: string }) => action.endsWith('_changed'));
    expect(changes.reverse().map(({ details }: { details: object }) => details)).toEqual([
      { from: 'nobody', to: ours.memberId },
      { from: ours.memberId, to: ours.ownerId },
      { from: ours.ownerId, to: 'nobody' },
    ]);
  });

  test('is recorded once, even if the same change is repeated', async () => {
    const { service, ours } = world;
    const machine = await registerMachine(service, ours.live, 'said-twice');
    for (const _ of [1, 2]) await set(ours.member, machine, ours.memberId);
    for (const _ of [1, 2]) await set(ours.admin, machine, ours.memberId);
    expect((await entriesOf(machine)).map(({ action }: { action: string }) => action)).toEqual([
      'machine.person_changed',
      'machine.claimed',
      'machine.registered',
    ]);
  });

  test('stays as an admin set it if the machine registers again with the secret of its first person', async () => {
    const { service, ours } = world;
    const { deviceCode, userCode } = await beginSignIn(service, 'given-away');
    const body = { userCode, decision: 'approve' };
    await service.call('POST', '/v1/organizations/me/device-sign-in', { as: ours.member, body });
    const { value } = (await service.call('POST', '/v1/device-sign-ins/secret', { body: { deviceCode } })).body;
    const machine = await registerMachine(service, value, 'given-away');
    expect(await personOf(await openSession(service, value, machine))).toBe(ours.memberId);
    for (const [wanted, person] of [
      [null, null],
      [ours.ownerId, ours.ownerId],
    ] as const) {
      await set(ours.admin, machine, wanted);
      expect(await registerMachine(service, value, 'given-away')).toEqual(machine);
      expect(await personOf(await openSession(service, value, machine))).toBe(person);
    }
  });

  test('cannot be claimed by a second member until an admin has decided about the first', async () => {
    const { service, ours } = world;
    const other = await service.identity.token({ subject: 'ours-invited', email: 'ours-invited@example.com' });
    const { userId } = (await service.call('GET', '/v1/me', { as: other })).body;
    const machine = await registerMachine(service, ours.live, 'disputed');
    expect((await set(ours.member, machine, ours.memberId)).status).toBe(200);
    expect(await set(other, machine, userId)).toMatchObject({ status: 403, body: { code: 'insufficient_role' } });
    expect((await set(other, machine, null)).status).toBe(403);
    await set(ours.admin, machine, null);
    expect((await set(other, machine, userId)).body.environment.claimedBy).toBe(userId);
  });
});
