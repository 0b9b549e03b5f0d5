import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CATALOG } from '../../contract/catalog.ts';
import type { SecretCaller } from '../http/secret-lookup.ts';
import { agentHandlers } from '../routes/agents.ts';
import { ENGINES } from './engines.ts';
import { startWorld, type World } from './world.ts';

describe.each(ENGINES)('an agent that the catalog calls deprecated, on %s', (engine) => {
  let world: World;
  let register: (environmentId: string, version: string) => Promise<unknown>;
  let handlers: ReturnType<typeof agentHandlers>;
  beforeAll(async () => {
    world = await startWorld(engine);
    const { service, ours } = world;
    const catalog = CATALOG.map((agent) =>
      agent.agentId === 'codex' ? { ...agent, status: 'deprecated' as const } : agent,
    );
    handlers = agentHandlers({ store: service.store, now: () => service.clock.now }, catalog);
    const caller = { organizationId: ours.organizationId } as SecretCaller;
    const signal = new AbortController().signal;
    register = (environmentId, version) =>
      handlers.registerAgent({
        caller,
        params: { environmentId },
        body: { agentId: 'codex', version },
        query: {},
        headers: {},
        signal,
      } as unknown as Parameters<typeof handlers.registerAgent>[0]);
  });
  afterAll(() => world.service.close());

  test('is still updated on machines that have it', async () => {
    const reply = await register(world.ours.environmentId, '9');
    expect(reply).toMatchObject({ status: 201, body: { installation: { agentId: 'codex', version: '9' } } });
  });

  test('cannot be installed anew, with or without a machine', async () => {
    const { service, ours } = world;
    const body = { hostname: 'bare', platform: 'linux', serviceCliVersion: '1' };
    const { environmentId } = (await service.call('POST', '/v1/environments', { as: ours.live, body })).body;
    const refusal = {
      code: 'validation_failed',
      message: expect.stringMatching(/^\/agentId names codex, which is deprecated/),
    };
    await expect(register(environmentId, '1')).rejects.toMatchObject(refusal);
    const create = handlers.createInstallation({
      caller: { organizationId: ours.organizationId },
      body: { agentId: 'codex' },
    } as unknown as Parameters<typeof handlers.createInstallation>[0]);
    await expect(create).rejects.toMatchObject(refusal);
  });

  test('is listed as deprecated', async () => {
    const { body } = await handlers.listAgents();
    expect(body.agents.find(({ agentId }) => agentId === 'codex')).toMatchObject({ status: 'deprecated' });
    expect(body.agents).toHaveLength(CATALOG.length);
  });
});
