import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AddOns } from '../../contract/add-ons.ts';
import type { PolicyBody } from '../../contract/policy.ts';
import type { Usage } from '../../contract/review.ts';
import { ENGINES } from './engines.ts';
import { createTenant, registerMachine, type Tenant } from './factories.ts';
import { startTestService, type TestService } from './harness.ts';
import { sessionWith } from './searched.ts';

const FIRST_DAY = '2026-11-18';
const SECOND_DAY = '2026-11-19';

/** Two people on each day, three people in total. */
const SESSIONS: [person: string, day: string][] = [
  ['ada', FIRST_DAY],
  ['ben', FIRST_DAY],
  ['ada', SECOND_DAY],
  ['eve', SECOND_DAY],
];

const eventsOf = (person: string, day: string) => {
  const at = { occurredAt: `${day}T12:00:00.000Z` };
  return [
    { eventType: 'session.meta', payload: { cwd: `/home/${person}/shop`, ...at } },
    { eventType: 'tool.call', payload: { callId: '1', name: 'mcp__playwright__open', input: {}, ...at } },
  ];
};

describe.each(ENGINES)('figures by person on %s', (engine) => {
  let service: TestService;
  let tenant: Tenant;
  beforeAll(async () => {
    service = await startTestService(engine);
    tenant = await createTenant(service);
    const machine = await registerMachine(service, tenant.live);
    for (const [person, day] of SESSIONS) await sessionWith(service, tenant, machine, eventsOf(person, day));
  });
  afterAll(() => service.close());

  async function figuresWith(policy: PolicyBody, from = FIRST_DAY, to = SECOND_DAY) {
    const ours = '/v1/organizations/me';
    const replaced = await service.call('PUT', `${ours}/policy`, { as: tenant.owner, body: policy });
    expect(replaced.status, replaced.text).toBe(200);
    const read = async (path: string) =>
      (await service.call('GET', `${ours}/${path}?from=${from}&to=${to}`, { as: tenant.owner })).body;
    const usage: Usage = await read('usage');
    const people = usage.groups.flatMap(({ dimension, value, sessions }) =>
      dimension === 'person' ? [[value, sessions]] : [],
    );
    const [addOn] = ((await read('add-ons')) as AddOns).addOns;
    return { people, count: addOn?.people, names: addOn?.topPeople.toSorted(), total: usage.total.sessions };
  }

  test('are hidden until an owner allows them', async () => {
    expect(await figuresWith({})).toEqual({ people: [], count: 3, names: [], total: 4 });
  });

  test('are shown for each person if there are enough people', async () => {
    const { people, names } = await figuresWith({ groupByPerson: true, smallestGroup: 3 });
    expect(people).toEqual([
      ['ada', 2],
      ['ben', 1],
      ['eve', 1],
    ]);
    expect(names).toEqual(['ada', 'ben', 'eve']);
  });

  test('are merged if there are too few people, even in a part of a sufficient period', async () => {
    const three = { groupByPerson: true, smallestGroup: 3 };
    for (const day of [FIRST_DAY, SECOND_DAY])
      expect(await figuresWith(three, day, day)).toEqual({ people: [['', 2]], count: 2, names: [], total: 2 });
    expect(await figuresWith({ groupByPerson: true })).toMatchObject({ people: [['', 4]], names: [] });
  });

  test('are merged if the smallest group is larger than the number of people', async () => {
    expect(await figuresWith({ groupByPerson: true, smallestGroup: 1_000 })).toMatchObject({ people: [['', 4]] });
  });
});
