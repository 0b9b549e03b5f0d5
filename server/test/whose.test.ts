import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PolicyBody } from '../../contract/policy.ts';
import { LOGS } from './engines.ts';
import { issueSecret, type Machine, registerMachine } from './factories.ts';
import { openingOn, signInMachine } from './signed-in.ts';
import { startWorld, type World } from './world.ts';

describe.each(LOGS)('the person of a session on %s', (engine) => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld(engine);
  });
  afterAll(() => world.service.close());

  const signInAs = (as: string, hostname: string) => signInMachine(world.service, as, hostname);
  const idOf = async (as: string) => (await world.service.call('GET', '/v1/me', { as })).body.userId as string;
  const machineOf = ({ environmentId }: Machine) =>
    world.service.store.db
      .selectFrom('environments')
      .selectAll()
      .where('environment_id', '=', environmentId)
      .executeTakeFirstOrThrow();
  const sessionOf = (sessionId: string) =>
    world.service.store.db
      .selectFrom('sessions')
      .selectAll()
      .where('session_id', '=', sessionId)
      .executeTakeFirstOrThrow();

  let keys = 0;
  /** Each way of opening a session. */
  const WAYS = {
    'one alone': async (as: string, body: object) => (await post('/v1/sessions', as, body)).session,
    'a past one': async (as: string, body: object) =>
      (await post('/v1/past-sessions', as, { ...body, startedAt: '2026-01-01T00:00:00.000Z' })).session,
    'many at once': async (as: string, body: object) => {
      const session = { ...body, clientKey: `whose-it-is-${++keys}-session` };
      return (await post('/v1/captured-sessions', as, { sessions: [session] })).results[0].session;
    },
  };
  const post = async (path: string, as: string, body: object) =>
    (await world.service.call('POST', path, { as, body })).body;
  describe.each(Object.entries(WAYS))('opened as %s', (way, open) => {
    test('is the one who confirmed the sign-in of its machine', async () => {
      const { admin } = world.ours;
      const secret = await signInAs(admin, `mine ${way}`);
      const machine = await registerMachine(world.service, secret, `mine ${way}`);
      const { sessionId } = await open(secret, openingOn(machine));
      const person = await idOf(admin);
      expect((await machineOf(machine)).user_id).toBe(person);
      expect(await sessionOf(sessionId)).toMatchObject({ user_id: person, visibility: 'team' });
    });

    test('is nobody on a machine with a plain secret', async () => {
      const machine = await registerMachine(world.service, world.ours.live, `plain ${way}`);
      const { sessionId } = await open(world.ours.live, openingOn(machine));
      expect((await machineOf(machine)).user_id).toBeNull();
      expect((await sessionOf(sessionId)).user_id).toBeNull();
    });

    test.each(['team', 'facts', 'private'] as const)('keeps the visibility %s of its client', async (visibility) => {
      const machine = await registerMachine(world.service, world.ours.live, `as it says ${way}`);
      const session = await open(world.ours.live, openingOn(machine, visibility));
      expect((await sessionOf(session.sessionId)).visibility).toBe(visibility);
      expect(session.visibility).toBe(visibility === 'team' ? undefined : visibility);
    });

    test.each([
      [undefined, 'facts'],
      ['team', 'facts'],
      ['private', 'private'],
    ] as const)(
      'with the visibility %s of its client and a facts policy gets the visibility %s',
      async (asked, expected) => {
        const { ours, service } = world;
        const say = (body: PolicyBody) => service.call('PUT', '/v1/organizations/me/policy', { as: ours.owner, body });
        await say({ visibility: 'facts' });
        const machine = await registerMachine(service, ours.live, `by the policy ${way}`);
        const { sessionId } = await open(ours.live, openingOn(machine, asked));
        expect((await sessionOf(sessionId)).visibility).toBe(expected);
        await say({});
      },
    );
  });

  test('becomes the person of the machine and its sessions once an admin lets them sign the machine in', async () => {
    const { ours, service } = world;
    const machine = await registerMachine(service, ours.live, 'was plain');
    const { sessionId } = await WAYS['one alone'](ours.live, openingOn(machine));
    const secret = await signInAs(ours.admin, 'was plain');
    expect(await registerMachine(service, secret, 'was plain')).toEqual(machine);
    const person = await idOf(ours.admin);
    expect((await machineOf(machine)).user_id).toBe(person);
    expect((await sessionOf(sessionId)).user_id).toBe(person);
    const { entries } = (await service.call('GET', '/v1/organizations/me/audit?limit=5', { as: ours.admin })).body;
    const target = { kind: 'machine', id: machine.environmentId };
    expect(entries).toContainEqual(
      expect.objectContaining({ action: 'machine.person_changed', target, details: { from: 'nobody', to: person } }),
    );
  });

  test('stays with the machine, and sessions that somebody else sends under its name are theirs', async () => {
    const { ours, service } = world;
    const hers = await signInAs(ours.admin, 'macbook');
    const machine = await registerMachine(service, hers, 'macbook');
    const his = await signInAs(ours.owner, 'macbook');
    expect(await registerMachine(service, his, 'macbook')).toEqual(machine);
    expect((await machineOf(machine)).user_id).toBe(await idOf(ours.admin));
    const { sessionId } = await WAYS['one alone'](his, openingOn(machine));
    expect((await sessionOf(sessionId)).user_id).toBe(await idOf(ours.owner));
    const titled = { ...openingOn(machine), clientKey: 'title-of-another-person', title: 'Her plans' };
    await post('/v1/captured-sessions', hers, { sessions: [titled] });
    const [found] = (await post('/v1/captured-sessions', his, { sessions: [titled] })).results;
    expect(found).toEqual({ clientKey: titled.clientKey, outcome: 'foreign' });
  });

  test("private digests are only for the session's sender", async () => {
    const { ours, service } = world;
    const own = await issueSecret(service, ours.owner, 'live');
    const machine = await registerMachine(service, own, 'private digests');
    const other = await issueSecret(service, ours.owner, 'live');
    const { sessionId } = await WAYS['many at once'](own, openingOn(machine, 'private'));
    const ask = async (as: string) => {
      const body = { nonce: 'A'.repeat(43), sessions: [{ sessionId }] };
      return (await post('/v1/digests', as, body)).results[0].code;
    };
    expect([await ask(own), await ask(other)]).toEqual([undefined, 'not_found']);
  });

  test("a secret shared by several machines reveals none of another machine's hidden content", async () => {
    const { ours, service } = world;
    const shared = await issueSecret(service, ours.owner, 'live');
    await registerMachine(service, shared, 'the machine of the secret');
    const machine = await registerMachine(service, shared, 'another of its machines');
    const title = 'Her plans alone';
    const told = [];
    for (const visibility of ['team', 'facts', 'private'] as const) {
      const session = { ...openingOn(machine, visibility), title, clientKey: `shared-and-${visibility}-session` };
      const [opened] = (await post('/v1/captured-sessions', shared, { sessions: [session] })).results;
      expect(opened.session.title).toBe(title);
      const [found] = (await post('/v1/captured-sessions', shared, { sessions: [session] })).results;
      const asked = { nonce: 'A'.repeat(43), sessions: [{ sessionId: found.session.sessionId }] };
      const [digests] = (await post('/v1/digests', shared, asked)).results;
      told.push([visibility, found.outcome, found.session.title, found.session.visibility, digests.code]);
    }
    expect(told).toEqual([
      ['team', 'found', title, undefined, undefined],
      ['facts', 'found', undefined, undefined, 'not_found'],
      ['private', 'found', undefined, undefined, 'not_found'],
    ]);
  });
});
