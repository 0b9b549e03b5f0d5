import { describe, expect, test } from 'vitest';
import { ENGINES } from './engines.ts';
import { playScenarios } from './scenarios.ts';
import { INSTALLATIONS } from './tables/installations.ts';
import { startWorld } from './world.ts';

playScenarios('installations', INSTALLATIONS);

describe.each(ENGINES)('on %s, an installed agent', (engine) => {
  test('changes with a registration only if something differs, and with each change by a person', async () => {
    const { service, ours } = await startWorld(engine);
    const register = async (body: object) => {
      service.clock.now += 60_000;
      const url = `/v1/environments/${ours.environmentId}/agents`;
      const { installation } = (await service.call('POST', url, { as: ours.live, body })).body;
      return Date.parse(installation.updatedAt) === service.clock.now;
    };
    const update = async (body: object) => {
      service.clock.now += 60_000;
      const url = `/v1/organizations/me/agents/${ours.installationId}`;
      const { installation } = (await service.call('PATCH', url, { as: ours.owner, body })).body;
      return Date.parse(installation.updatedAt) === service.clock.now;
    };
    const config = { model: 'm' };
    expect(await register({ agentId: 'droid', version: '1' })).toBe(true);
    expect(await register({ agentId: 'droid', version: '1' })).toBe(false);
    expect(await register({ agentId: 'droid' })).toBe(false);
    expect(await register({ agentId: 'droid', version: '2' })).toBe(true);
    expect(await register({ agentId: 'droid', version: '2', config })).toBe(true);
    expect(await register({ agentId: 'droid', version: '2', config })).toBe(false);
    expect(await update({ status: 'disabled' })).toBe(true);
    expect(await update({ status: 'disabled' })).toBe(true);
    expect(await register({ agentId: 'droid', version: '2' })).toBe(false);
    await service.close();
  });
});
