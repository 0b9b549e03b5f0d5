import { zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeAppends } from '../../contract/appends-body.ts';
import { SENT } from '../log/codec.ts';
import { LOGS } from './engines.ts';
import { openSession } from './factories.ts';
import { capturing } from './requests.ts';
import { playScenarios } from './scenarios.ts';
import { CAPTURE_SCENARIOS } from './tables/capture.ts';
import { startWorld, type World } from './world.ts';

playScenarios('captured sessions', CAPTURE_SCENARIOS, LOGS);

describe.each(LOGS)('concurrent capturing on %s', (engine) => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld(engine);
  });
  afterAll(() => world.service.close());

  test('two machines that send the same keys get the same sessions, each opened once', async () => {
    const { service, ours } = world;
    const keys = Array.from({ length: 40 }, (_, index) => `same-session-key-${index}`);
    const ask = async (order: string[]) => {
      const body = { sessions: order.map((key) => capturing(world, key)) };
      const reply = await service.call('POST', '/v1/captured-sessions', { as: ours.live, body });
      expect(reply.status, reply.text).toBe(200);
      return reply.body.results as { clientKey: string; outcome: string; session: { sessionId: string } }[];
    };
    const answers = (await Promise.all([ask(keys), ask(keys.toReversed()), ask(keys)])).flat();
    expect(answers.filter(({ outcome }) => outcome === 'opened')).toHaveLength(40);
    const ids = Map.groupBy(answers, ({ clientKey }) => clientKey);
    for (const same of ids.values()) expect(new Set(same.map(({ session }) => session.sessionId)).size).toBe(1);
  });

  test('of several batches with the same expected count one is accepted, and the others get the new count', async () => {
    const { service, ours } = world;
    const sessionId = await openSession(service, ours.live, ours);
    for (let round = 0; round < 10; round++) {
      const send = async (sender: number) => {
        const batch = { sessionId, idempotencyKey: `${round}-${sender}`, expectedEvents: round };
        const appends = [{ ...batch, body: { events: [{ eventType: 'notice', payload: { sender } }] } }];
        return (await service.call('POST', '/v1/appends', { as: ours.live, body: { appends } })).body.results[0];
      };
      const results = await Promise.all([1, 2, 1, 3].map(send));
      const taken = results.filter(({ accepted }) => accepted === 1);
      expect(taken.map(({ firstSequence }) => firstSequence)).toContain(round + 1);
      expect(new Set(taken.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
      for (const { code, eventCount } of results.filter((result) => result.code)) {
        expect({ code, eventCount }).toEqual({ code: 'sequence_mismatch', eventCount: round + 1 });
      }
    }
  });

  test('an expected count beyond any session is a mismatch, and delays no other session', async () => {
    const { service, ours } = world;
    const append = async (expectedEvents?: number) => {
      const sessionId = await openSession(service, ours.live, ours);
      return { sessionId, idempotencyKey: 'first', expectedEvents, body: { events: [{ eventType: 'notice' }] } };
    };
    const appends = [await append(2 ** 31), await append(Number.MAX_SAFE_INTEGER), await append()];
    const { status, body } = await service.call('POST', '/v1/appends', { as: ours.live, body: { appends } });
    expect(status, body.error).toBe(200);
    const [far, farthest, other] = body.results;
    for (const result of [far, farthest]) expect(result).toMatchObject({ code: 'sequence_mismatch', eventCount: 0 });
    expect(other).toMatchObject({ accepted: 1, firstSequence: 1 });
  });

  test('many concurrent batches of many sessions leave no gap and no duplicate', async () => {
    const { service, ours } = world;
    const sessions = await Promise.all(Array.from({ length: 5 }, () => openSession(service, ours.live, ours)));
    const send = (round: number) =>
      service.call('POST', '/v1/appends', {
        as: ours.live,
        body: {
          appends: Array.from({ length: 40 }, (_, index) => ({
            sessionId: sessions[index % 5],
            idempotencyKey: `${round}-${index}`,
            body: { events: [{ eventType: 'notice' }, { eventType: 'notice' }] },
          })),
        },
      });
    const replies = await Promise.all([send(1), send(2), send(1), send(2)]);
    const placed = replies.flatMap(({ body }) => body.results).filter(({ replayed }) => replayed === false);
    for (const sessionId of sessions) {
      const firsts = placed
        .filter((result) => result.sessionId === sessionId)
        .map(({ firstSequence }) => firstSequence);
      expect(firsts.sort((a, b) => a - b)).toEqual(Array.from({ length: 16 }, (_, index) => 1 + 2 * index));
    }
  });

  test.each([
    ['at once', 20],
    ['on a thread of its own', 800],
  ])('batches read back unchanged and are stored in their own frames, when read %s', async (_, events) => {
    const { service, ours } = world;
    const sessionIds = [await openSession(service, ours.live, ours), await openSession(service, ours.live, ours)];
    const texts = sessionIds.map((_, session) =>
      Array.from(
        { length: events },
        (_, index) => `{"n":1.0,"session":${session},"text":"${'word '.repeat(300)}${index}"}`,
      ),
    );
    const batches = sessionIds.flatMap((sessionId, session) =>
      chunksOf(texts[session] ?? [], 50).map((payloads, number) => {
        const written = payloads.map((payload) => `{"eventType":"notice","payload":${payload}}`);
        return { sessionId, idempotencyKey: `frame-${number}`, body: `{"events":[${written.join(',')}]}` };
      }),
    );
    const appends = batches.map(({ body, ...batch }) => ({ ...batch, frame: zstdCompressSync(body) }));
    const reply = await service.call('POST', '/v1/appends', { as: ours.live, body: writeAppends(appends) });
    expect(reply.status, reply.text).toBe(200);
    expect(reply.body.results.map(({ accepted }: { accepted: number }) => accepted)).toEqual(
      batches.map(({ body }) => (body.match(/"eventType"/g) ?? []).length),
    );
    for (const [session, sessionId] of sessionIds.entries()) {
      const path = `/v1/organizations/me/sessions/${sessionId}/events?limit=1000`;
      const read = async () => (await service.call('GET', path, { as: ours.member })).text;
      const expected = texts[session] ?? [];
      await expect.poll(async () => (await read()).includes(expected.at(-1) ?? ''), { timeout: 60_000 }).toBe(true);
      const text = await read();
      for (const payload of expected) expect(text).toContain(`"payload":${payload}`);
    }
    // Nothing was recompressed.
    const rows = await service.store.db
      .selectFrom('appends')
      .select('codec')
      .where('session_id', 'in', sessionIds)
      .execute();
    expect(rows.map(({ codec }) => codec)).toEqual(batches.map(() => SENT));
  });
});

const chunksOf = <Item>(items: readonly Item[], size: number): Item[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) => items.slice(index * size, (index + 1) * size));
