import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { AddOns } from '../../contract/add-ons.ts';
import { NOBODY } from '../../contract/names.ts';
import type { PolicyBody } from '../../contract/policy.ts';
import type { Usage } from '../../contract/review.ts';
import { ENGINES } from './engines.ts';
import { type Machine, registerMachine } from './factories.ts';
import { find, idsOf, sessionWith } from './searched.ts';
import { startWorld, type World } from './world.ts';

const FIRST_DAY = '2026-11-18';
const SECOND_DAY = '2026-11-19';

const eventsOf = (account: string, day: string) => {
  const at = { occurredAt: `${day}T12:00:00.000Z` };
  return [
    { eventType: 'session.meta', payload: { cwd: `/home/${account}/shop`, ...at } },
    { eventType: 'tool.call', payload: { callId: '1', name: 'mcp__playwright__open', input: {}, ...at } },
  ];
};

describe.each(ENGINES)('figures by person on %s', (engine) => {
  let world: World;
  let people: Record<'owner' | 'admin' | 'member', string>;
  let unowned: Machine;
  const sessions: string[] = [];
  beforeAll(async () => {
    world = await startWorld(engine);
    const { service, ours } = world;
    const admin = (await service.call('GET', '/v1/me', { as: ours.admin })).body;
    people = { owner: ours.ownerId, admin: admin.userId, member: ours.memberId };
    const machines: Record<string, Machine> = {};
    for (const [name, userId] of Object.entries(people)) {
      machines[name] = await registerMachine(service, ours.live, `${name}-laptop`);
      await give(machines[name], userId);
    }
    unowned = await registerMachine(service, ours.live, 'build-server');
    // The accounts deceive: one person has two, several people have one in common, and one is called like somebody else.
    const all: [Machine | undefined, string, string][] = [
      [machines.owner, 'ubuntu', FIRST_DAY],
      [machines.admin, 'ubuntu', FIRST_DAY],
      [machines.owner, 'ours-member', SECOND_DAY],
      [machines.member, 'ubuntu', SECOND_DAY],
      [unowned, 'root', FIRST_DAY],
      [unowned, 'ours-admin', SECOND_DAY],
    ];
    for (const [machine, account, day] of all) {
      sessions.push(await sessionWith(service, ours, machine as Machine, eventsOf(account, day)));
    }
  });
  afterAll(() => world.service.close());

  const call = (method: string, path: string, body?: object) =>
    world.service.call(method, `/v1/organizations/me/${path}`, { as: world.ours.owner, ...(body && { body }) });
  const give = async ({ environmentId }: Machine, userId: string | null) =>
    expect((await call('PUT', `environments/${environmentId}/person`, { userId })).status).toBe(200);

  async function figuresWith(policy: PolicyBody, from = FIRST_DAY, to = SECOND_DAY) {
    const replaced = await call('PUT', 'policy', policy);
    expect(replaced.status, replaced.text).toBe(200);
    const read = async (path: string) => (await call('GET', `${path}?from=${from}&to=${to}`)).body;
    const usage = await vi.waitFor(async () => {
      const whole: Usage = await read('usage');
      expect(whole.catchingUp).toBeUndefined();
      return whole;
    }, 30_000);
    const figures = usage.groups.flatMap(({ dimension, value, sessions }) =>
      dimension === 'person' ? [[value, sessions]] : [],
    );
    const [addOn] = ((await read('add-ons')) as AddOns).addOns;
    return {
      figures: Object.fromEntries(figures),
      count: addOn?.people,
      names: addOn?.topPeople.toSorted(),
      total: usage.total.sessions,
    };
  }

  test('are hidden until an owner allows them', async () => {
    expect(await figuresWith({})).toEqual({ figures: {}, count: 3, names: [], total: 6 });
  });

  test('are those of the members to whom the sessions belong, whatever their accounts on the machines are called', async () => {
    const { figures, names } = await figuresWith({ groupByPerson: true, smallestGroup: 3 });
    expect(figures).toEqual({ [people.owner]: 2, [people.admin]: 1, [people.member]: 1, [NOBODY]: 2 });
    expect(names).toEqual(Object.values(people).toSorted());
  });

  test('are merged if there are too few people, even in a part of a sufficient period', async () => {
    const three = { groupByPerson: true, smallestGroup: 3 };
    for (const day of [FIRST_DAY, SECOND_DAY]) {
      expect(await figuresWith(three, day, day)).toEqual({ figures: { '': 3 }, count: 2, names: [], total: 3 });
    }
    expect(await figuresWith({ groupByPerson: true })).toMatchObject({ figures: { '': 6 }, names: [] });
  });

  test('never count the sessions of nobody as a person', async () => {
    expect(await figuresWith({ groupByPerson: true, smallestGroup: 4 })).toMatchObject({
      figures: { '': 6 },
      names: [],
    });
  });

  test('count the same people for every reader, also those whose sessions are private', async () => {
    const visibility = (to: string) =>
      world.service.call('PUT', `/v1/organizations/me/sessions/${sessions[3]}/visibility`, {
        as: world.ours.member,
        body: { visibility: to },
      });
    expect((await visibility('private')).status).toBe(200);
    expect(await figuresWith({ groupByPerson: true, smallestGroup: 3 })).toMatchObject({
      figures: { [people.member]: 1 },
      count: 3,
    });
    await visibility('team');
  });

  test('find the sessions of a person in the search', async () => {
    const found = async (q: string) => idsOf(await find(world.service, world.ours.owner, { q }));
    const [first, , third, fourth, fifth, sixth] = sessions as [string, string, string, string, string, string];
    for (const name of [people.owner, 'ours-owner@example.com', 'OURS-owner', 'me'])
      expect(await found(`person:${name}`)).toEqual([third, first]);
    expect(await found('person:ours-member')).toEqual([fourth]);
    expect(await found(`person:${NOBODY} on:${SECOND_DAY}`)).toEqual([sixth]);
    expect(await found(`person:${NOBODY} on:${FIRST_DAY}`)).toEqual([fifth]);
    expect(await found(`person:ours-owner person:ours-member`)).toEqual([fourth, third, first]);
    for (const order of ['cost', 'started']) {
      const page = await find(world.service, world.ours.owner, { q: 'person:me', order, direction: 'asc' });
      expect(idsOf(page).toSorted()).toEqual([first, third].toSorted());
      expect(page.body.problems).toBeUndefined();
    }
  });

  test('say that nobody has a name, or that several members do', async () => {
    const { service, ours } = world;
    const problemsOf = async (q: string) => {
      const { body } = await find(service, ours.owner, { q });
      expect(body.sessions).toEqual([]);
      return body.problems;
    };
    expect(await problemsOf('person:ubuntu')).toEqual([
      'person:ubuntu finds nothing: no member is called ubuntu. The name of an account on a machine is not a member.',
    ]);
    await call('POST', 'members', { email: 'ours-member@other.example' });
    expect(await problemsOf('person:ours-member')).toEqual([
      'person:ours-member finds nothing: several members are called so. Write ours-member@example.com or ours-member@other.example.',
    ]);
    expect(idsOf(await find(service, ours.owner, { q: 'person:ours-member@example.com' }))).toHaveLength(1);
  });

  test('follow a machine that gets a person, and the sessions of a member who is removed', async () => {
    const three = { groupByPerson: true, smallestGroup: 3 };
    await give(unowned, people.admin);
    expect((await figuresWith(three)).figures).toEqual({ [people.owner]: 2, [people.admin]: 3, [people.member]: 1 });
    const removed = await call('DELETE', `members/${people.member}?sessions=handOver&to=${people.owner}`);
    expect(removed.status, removed.text).toBe(200);
    expect((await figuresWith({ groupByPerson: true, smallestGroup: 2 })).figures).toEqual({
      [people.owner]: 3,
      [people.admin]: 3,
    });
  });
});
