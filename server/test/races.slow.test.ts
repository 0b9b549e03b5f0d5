import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { patience, times } from '../../contract/test/runs.ts';
import { again, LOGS, type TestStore } from './engines.ts';
import { type Machine, registerMachine } from './factories.ts';
import { startTestService, type TestReply, type TestService } from './harness.ts';
import { startWorld, type World } from './world.ts';

const ROUNDS = times(50);

/** On PostgreSQL the requests of a round are spread over two replicas. */
describe.each(LOGS)('simultaneous requests on %s', (engine) => {
  let world: World;
  let store: TestStore | undefined;
  let replicas: TestService[];
  beforeAll(async () => {
    world = await startWorld(engine);
    replicas = [world.service];
    if (engine === 'sqlite') return;
    store = await again(world.service.store);
    replicas.push(await startTestService(engine, {}, store));
  });
  afterAll(async () => {
    if (store) await replicas[1]?.close();
    await store?.close();
    await world.service.close();
  });

  const at = (index: number) => replicas[index % replicas.length] as TestService;

  const open = (service: TestService, { environmentId, installationId }: Machine) =>
    service.call('POST', '/v1/sessions', {
      as: world.ours.live,
      body: { environmentId, agentInstallationId: installationId },
    });

  /** Sends several openings with the change in their midst. @returns the ids of the opened sessions */
  async function openAround(machine: Machine, change: (service: TestService) => Promise<TestReply>): Promise<string[]> {
    const [, ...replies] = await Promise.all([
      open(at(0), machine),
      open(at(1), machine),
      open(at(0), machine),
      change(at(1)).then((reply) => {
        expect(reply.status).toBe(200);
        return reply;
      }),
      open(at(1), machine),
      open(at(0), machine),
    ]);
    const opened = replies.filter((_, index) => index !== 2);
    for (const reply of opened) expect([201, 400], reply.text).toContain(reply.status);
    return opened.filter(({ status }) => status === 201).map(({ body }) => body.sessionId);
  }

  test(
    'no session of a machine stays open if the machine is revoked during openings',
    async () => {
      const { ours, service } = world;
      let opened = 0;
      for (let round = 0; round < ROUNDS; round++) {
        const machine = await registerMachine(service, ours.live);
        const url = `/v1/organizations/me/environments/${machine.environmentId}`;
        const ids = await openAround(machine, (on) => on.call('DELETE', url, { as: ours.owner }));
        opened += ids.length;
        const list = `/v1/organizations/me/sessions?environmentId=${machine.environmentId}`;
        const { sessions } = (await service.call('GET', list, { as: ours.owner })).body;
        for (const { status } of sessions) expect(status).toBe('failed');
        for (const [index, id] of ids.entries()) {
          const body = { events: [{ eventType: 'notice' }] };
          const reply = await at(index).call('POST', `/v1/sessions/${id}/events`, { as: ours.live, body });
          expect(reply).toMatchObject({ status: 409, body: { code: 'session_closed' } });
        }
        expect(await open(at(round), machine)).toMatchObject({ status: 400, body: { code: 'environment_unusable' } });
      }
      expect(opened).toBeGreaterThan(0);
    },
    patience(60_000),
  );

  test(
    'no session is opened with an installation after its disabling was answered',
    async () => {
      const { ours, service } = world;
      const machine = await registerMachine(service, ours.live);
      const url = `/v1/organizations/me/agents/${machine.installationId}`;
      const set = (on: TestService, status: string) => on.call('PATCH', url, { as: ours.owner, body: { status } });
      for (let round = 0; round < ROUNDS; round++) {
        await openAround(machine, (on) => set(on, 'disabled'));
        for (const on of replicas) {
          expect(await open(on, machine)).toMatchObject({ status: 400, body: { code: 'installation_unusable' } });
        }
        await set(service, 'active');
      }
    },
    patience(60_000),
  );

  test('the live stream reports that the sessions of a revoked machine failed', async () => {
    const { ours, service } = world;
    const machine = await registerMachine(service, ours.live);
    const { sessionId } = (await open(service, machine)).body;
    const reply = await service.app.inject({
      method: 'GET',
      url: '/v1/organizations/me/live',
      headers: { authorization: `Bearer ${ours.owner}` },
      payloadAsStream: true,
    });
    let text = '';
    reply.stream().on('data', (chunk: Buffer) => {
      text += chunk;
    });
    await service.call('DELETE', `/v1/organizations/me/environments/${machine.environmentId}`, { as: ours.owner });
    await expect.poll(() => text).toContain(JSON.stringify({ sessionId, eventCount: 0, status: 'failed' }));
    reply.stream().destroy();
  });
});
