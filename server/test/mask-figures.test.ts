import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ENGINES } from './engines.ts';
import { openSession, whenDerived } from './factories.ts';
import { startWorld, type World } from './world.ts';

describe.each(ENGINES)('masking a text that figures contain, too, on %s', (engine) => {
  let world: World;
  beforeEach(async () => {
    world = await startWorld(engine);
  });
  afterEach(() => world.service.close());

  const mask = (sessionId: string, body: object) =>
    world.service.call('POST', `/v1/organizations/me/sessions/${sessionId}/mask`, { as: world.ours.member, body });

  test('changes no tokens and no cost, and the count names the figures that stay', async () => {
    const { ours, service } = world;
    const sessionId = await openSession(service, ours.live);
    const usage = { responseId: 'r', model: 'claude-opus-4-6', inputTokens: 20, outputTokens: 7654321 };
    const events = [
      { eventType: 'usage', payload: usage },
      { eventType: 'user.message', payload: { text: 'the code is 7654321', pin: 7654321 } },
    ];
    await service.call('POST', `/v1/sessions/${sessionId}/events`, { as: ours.live, body: { events } });
    const read = () =>
      service.store.db
        .selectFrom('session_facts')
        .select(['input_tokens', 'output_tokens', 'tokens', 'cost'])
        .where('session_id', '=', sessionId)
        .executeTakeFirst();
    await whenDerived(service, ours.member, sessionId, 2);
    const before = await read();
    for (const [text, left, places] of [
      ['7654321', ['outputTokens'], 2],
      ['claude-opus-4-6', ['model'], 0],
    ] as const) {
      expect((await mask(sessionId, { text, dryRun: true })).body).toMatchObject({ places, left });
      expect((await mask(sessionId, { text })).body).toMatchObject({ places, receipt: { outcome: 'done' } });
    }
    await whenDerived(service, ours.member, sessionId, 2);
    expect(Number(before?.output_tokens)).toBe(7654321);
    expect(Number(before?.cost)).toBeGreaterThan(0);
    expect(await read()).toEqual(before);
    const page = await service.call('GET', `/v1/sessions/${sessionId}/events`, { as: ours.member });
    expect(JSON.stringify(page.body)).not.toContain('the code is 7654321');
  });
});
