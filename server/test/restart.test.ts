import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ENGINES, openTestStore, reopen, type TestStore } from './engines.ts';
import { startTestService, type TestService } from './harness.ts';
import { createWorld, type World } from './world.ts';

const PAGES = [
  '/v1/organizations/me',
  '/v1/organizations/me/members',
  '/v1/organizations/me/secrets',
  '/v1/organizations/me/environments',
  '/v1/organizations/me/agents',
  '/v1/organizations/me/sessions?secretEnvironment=all',
];

describe.each(ENGINES)('a restart on %s', (engine) => {
  let store: TestStore;
  let service: TestService;
  let world: World;
  beforeAll(async () => {
    store = await openTestStore(engine);
    service = await startTestService(engine, {}, store);
    world = await createWorld(service);
  });
  afterAll(async () => {
    await service.close();
    await store.dispose();
  });

  async function restart() {
    await service.close();
    store = await reopen(store);
    service = await startTestService(engine, {}, store);
  }

  test('keeps everything that was answered', async () => {
    const { ours } = world;
    const urls = [...PAGES, `/v1/organizations/me/sessions/${ours.sessionId}/events`];
    const summaries = `/v1/organizations/me/session-summaries?sessionIds=${ours.sessionId}`;
    const read = () =>
      Promise.all([...urls, summaries].map(async (url) => (await service.call('GET', url, { as: ours.owner })).text));
    const append = { as: ours.live, body: { events: [{ eventType: 'user.message', payload: { text: 'x' } }] } };
    const url = `/v1/sessions/${ours.sessionId}/events`;
    const headers = { 'idempotency-key': 'before' };
    const first = await service.call('POST', url, { ...append, headers });
    // Figures may lag behind for a moment.
    const reached = async () => {
      const { body } = await service.call('GET', summaries, { as: ours.owner });
      return body.summaries[0].summarizedThrough;
    };
    await expect.poll(reached).toBe(first.body.lastSequence);
    const before = await read();
    await restart();
    // Every use of a secret is recorded, so the secrets are read before their next use.
    expect(await read()).toEqual(before);
    const again = await service.call('POST', url, { ...append, headers });
    expect(again.text).toBe(first.text);
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect((await service.call('POST', url, append)).body.firstSequence).toBe(first.body.lastSequence + 1);
    const refused = await service.call('GET', '/v1/secret', { as: world.revokedSecret });
    expect(refused).toMatchObject({ status: 401, body: { code: 'secret_revoked' } });
  });

  test('a service with another pepper rejects every secret', async () => {
    const other = await startTestService(engine, { SECRET_PEPPER: 'another' }, store);
    const reply = await other.call('GET', '/v1/secret', { as: world.ours.live });
    expect(reply).toMatchObject({ status: 401, body: { code: 'secret_invalid' } });
    await other.close();
  });
});
