import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import * as ownership from '../store/ownership.ts';
import { LOGS } from './engines.ts';
import { beginSignIn, issueSecret, type Machine, registerMachine } from './factories.ts';
import { startWorld, type World } from './world.ts';

const DAY = 24 * 3_600_000;

describe.each(LOGS)('a session of another machine on %s', (engine) => {
  let world: World;
  let laptop: string;
  let machine: Machine;
  beforeAll(async () => {
    world = await startWorld(engine);
    laptop = await issueSecret(world.service, world.ours.owner, 'live');
    machine = await registerMachine(world.service, laptop, 'laptop-of-kim');
  });
  afterAll(() => world.service.close());

  /** Captures the session with a title, which only the opening capture stores. */
  async function capture(as: string, clientKey: string) {
    const { environmentId, installationId: agentInstallationId } = machine;
    const session = { clientKey, environmentId, agentInstallationId, title: 'Plan to leave the company' };
    const { body } = await world.service.call('POST', '/v1/captured-sessions', { as, body: { sessions: [session] } });
    return body.results[0];
  }
  const remove = async (as: string, clientKey: string) =>
    (await world.service.call('DELETE', `/v1/captured-sessions/${clientKey}`, { as })).status;
  const append = (as: string, sessionId: string) =>
    world.service.call('POST', `/v1/sessions/${sessionId}/events`, { as, body: { events: [{ eventType: 'notice' }] } });

  async function signIn(hostname: string): Promise<string> {
    const { service, ours } = world;
    const { deviceCode, userCode } = await beginSignIn(service, hostname);
    const decision = { as: ours.admin, body: { userCode, decision: 'approve' } };
    await service.call('POST', '/v1/organizations/me/device-sign-in', decision);
    return (await service.call('POST', '/v1/device-sign-ins/secret', { body: { deviceCode } })).body.value;
  }

  test('is found by its key with its count and without its title', async () => {
    const { session } = await capture(laptop, 'found-by-another-machine');
    expect(session.title).toBe('Plan to leave the company');
    await append(laptop, session.sessionId);
    const found = await capture(world.ours.live, 'found-by-another-machine');
    expect(found).toMatchObject({ outcome: 'found', session: { sessionId: session.sessionId, eventCount: 1 } });
    expect(found.session).not.toHaveProperty('title');
    expect((await capture(laptop, 'found-by-another-machine')).session.title).toBe('Plan to leave the company');
  });

  test("cannot be deleted by a machine that registers under that machine's host name", async () => {
    await capture(laptop, 'claimed-by-a-host-name');
    const pretender = await issueSecret(world.service, world.ours.owner, 'live');
    expect(await registerMachine(world.service, pretender, 'laptop-of-kim')).toEqual(machine);
    expect(await remove(pretender, 'claimed-by-a-host-name')).toBe(403);
    expect(await remove(laptop, 'claimed-by-a-host-name')).toBe(200);
  });

  test('is not deleted if it is captured after the service looked up its key', async () => {
    const other = await issueSecret(world.service, world.ours.owner, 'live');
    await registerMachine(world.service, other, 'laptop-of-lou');
    let outcome: string | undefined;
    const { findCaptured } = ownership;
    vi.spyOn(ownership, 'findCaptured').mockImplementationOnce(async (...asked) => {
      const found = await findCaptured(...asked);
      ({ outcome } = await capture(laptop, 'captured-after-the-look'));
      return found;
    });
    expect(await remove(other, 'captured-after-the-look')).toBe(404);
    vi.restoreAllMocks();
    expect(outcome).toBe('opened');
    expect((await capture(laptop, 'captured-after-the-look')).outcome).toBe('found');
  });

  test('belongs to the machine again after an admin signed it in again', async () => {
    await capture(laptop, 'after-a-new-sign-in');
    const [again, other] = [await signIn('laptop-of-kim'), await signIn('laptop-of-lee')];
    expect((await capture(again, 'after-a-new-sign-in')).session.title).toBe('Plan to leave the company');
    expect(await remove(other, 'after-a-new-sign-in')).toBe(403);
    expect(await remove(again, 'after-a-new-sign-in')).toBe(200);
  });

  test('can be deleted by the secret that opened it within a day, and later only by its machine', async () => {
    const { service, ours } = world;
    const shared = await issueSecret(service, ours.owner, 'live');
    await registerMachine(service, shared, 'first-machine-of-a-shared-secret');
    for (const key of ['of-a-shared-secret-1', 'of-a-shared-secret-2']) await capture(shared, key);
    service.clock.now += DAY - 1;
    expect(await remove(shared, 'of-a-shared-secret-1')).toBe(200);
    service.clock.now += 1;
    expect(await remove(shared, 'of-a-shared-secret-2')).toBe(403);
    expect(await remove(laptop, 'of-a-shared-secret-2')).toBe(200);
  });

  test('has digests if it has a client key, and none otherwise', async () => {
    const { service, ours } = world;
    const opening = { environmentId: machine.environmentId, agentInstallationId: machine.installationId };
    const plain = (await service.call('POST', '/v1/sessions', { as: laptop, body: opening })).body.sessionId;
    const keyed = (await capture(laptop, 'digests-of-another-one')).session.sessionId;
    const ask = async (as: string) => {
      const sessions = [plain, keyed].map((sessionId) => ({ sessionId }));
      const { body } = await service.call('POST', '/v1/digests', { as, body: { nonce: 'a'.repeat(22), sessions } });
      return (body.results as { code?: string }[]).map(({ code }) => code);
    };
    expect(await ask(laptop)).toEqual([undefined, undefined]);
    expect(await ask(ours.live)).toEqual(['not_found', undefined]);
  });
});
