import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ENGINES } from './engines.ts';
import { playScenarios } from './scenarios.ts';
import { POLICIES } from './tables/policies.ts';
import { startWorld, type World } from './world.ts';

playScenarios('policies', POLICIES);

describe.each(ENGINES)('a policy on %s', (engine) => {
  let world: World;
  beforeEach(async () => {
    world = await startWorld(engine);
  });
  afterEach(() => world.service.close());

  const replace = (body: object) =>
    world.service.call('PUT', '/v1/organizations/me/policy', { as: world.ours.owner, body });
  const entries = async () =>
    (await world.service.call('GET', '/v1/organizations/me/audit?action=policy.changed', { as: world.ours.owner })).body
      .entries;

  test('leaves an entry with the names of the changed fields, and a repeated policy leaves none', async () => {
    const { ours } = world;
    await replace({ signIn: 'members' });
    expect(await entries()).toEqual([]);
    await replace({ signIn: 'admins' });
    await replace({ signIn: 'admins' });
    expect(await entries()).toMatchObject([
      {
        actor: { kind: 'person', id: ours.ownerId },
        target: { kind: 'organization', id: ours.organizationId },
        details: { fields: 'signIn' },
      },
    ]);
    await replace({});
    expect(await entries()).toHaveLength(2);
  });
});
