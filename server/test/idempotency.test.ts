import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { seeded } from '../../contract/test/runs.ts';
import { LOGS } from './engines.ts';
import { openSession } from './factories.ts';
import type { TestReply } from './harness.ts';
import { createRandom, shuffle } from './seed.ts';
import { expectProblem } from './shape.ts';
import { startWorld, type World } from './world.ts';

const batch = (text: string, fields: object = {}) => ({
  events: [{ eventType: 'notice', payload: { text } }],
  ...fields,
});

describe.each(LOGS)('idempotency on %s', (engine) => {
  let world: World;
  let sessionId: string;
  beforeAll(async () => {
    world = await startWorld(engine);
  });
  afterAll(() => world.service.close());

  const accepted = engine === 'bus' ? 202 : 200;
  const append = (body: unknown, key?: string, as = world.ours.live, session = sessionId): Promise<TestReply> =>
    world.service.call('POST', `/v1/sessions/${session}/events`, {
      as,
      body,
      headers: key === undefined ? {} : { 'idempotency-key': key },
    });
  const fresh = async () => {
    sessionId = await openSession(world.service, world.ours.live);
  };
  const countEvents = async () => {
    const url = `/v1/organizations/me/sessions/${sessionId}`;
    return (await world.service.call('GET', url, { as: world.ours.member })).body.session.eventCount;
  };
  const replayed = (first: TestReply, again: TestReply) => {
    expect(again.status).toBe(first.status);
    expect(again.text).toBe(first.text);
    expect(first.headers).not.toHaveProperty('idempotency-replayed');
    expect(again.headers['idempotency-replayed']).toBe('true');
  };

  test('the same key and body get the first answer, byte for byte', async () => {
    await fresh();
    const first = await append(batch('a'), 'one');
    await append(batch('b'));
    replayed(first, await append(batch('a'), 'one'));
    replayed(first, await append(batch('a'), 'one'));
    expect(await countEvents()).toBe(2);
  });

  test('a key still gets its answer after the session was closed, and a new key is refused', async () => {
    await fresh();
    const first = await append(batch('a'), 'one');
    await world.service.call('POST', `/v1/sessions/${sessionId}/complete`, { as: world.ours.live });
    replayed(first, await append(batch('a'), 'one'));
    expectProblem(await append(batch('a'), 'two'), 409, 'session_closed');
    expectProblem(await append(batch('b'), 'one'), 400, 'idempotency_key_reused');
    expectProblem(await append(batch('a')), 409, 'session_closed');
  });

  test('another body under the same key is refused, and none of it is stored', async () => {
    await fresh();
    const first = await append(batch('a'), 'one');
    expectProblem(await append(batch('b'), 'one'), 400, 'idempotency_key_reused');
    expectProblem(await append(` ${JSON.stringify(batch('a'))}`, 'one'), 400, 'idempotency_key_reused');
    replayed(first, await append(batch('a'), 'one'));
    expect(await countEvents()).toBe(1);
  });

  test('a key in the body works as well', async () => {
    await fresh();
    const first = await append(batch('a', { idempotencyKey: 'in-body' }));
    replayed(first, await append(batch('a', { idempotencyKey: 'in-body' })));
    expectProblem(await append(batch('b', { idempotencyKey: 'in-body' })), 400, 'idempotency_key_reused');
    expectProblem(await append(batch('b'), 'in-body'), 400, 'idempotency_key_reused');
  });

  test('the header wins over the body', async () => {
    await fresh();
    const body = batch('a', { idempotencyKey: 'loses' });
    const first = await append(body, 'wins');
    replayed(first, await append(body, 'wins'));
    expect((await append(batch('b', { idempotencyKey: 'loses' }))).body.firstSequence).toBe(2);
  });

  test('quotes around the header are not part of the key', async () => {
    await fresh();
    const first = await append(batch('a'), '"quoted"');
    replayed(first, await append(batch('a'), 'quoted'));
  });

  test.each([1, 255])('a key of %i characters is accepted', async (length) => {
    await fresh();
    const first = await append(batch('a'), '~'.repeat(length));
    expect(first.status).toBe(accepted);
    replayed(first, await append(batch('a'), '~'.repeat(length)));
  });

  test.each(['k'.repeat(256), '', '""', 'a b', 'é', '\u007f'])('the key %j is refused', async (key) => {
    await fresh();
    expectProblem(await append(batch('a'), key), 400, 'validation_failed');
    expect(await countEvents()).toBe(0);
  });

  test('keys are case-sensitive', async () => {
    await fresh();
    await append(batch('a'), 'Key');
    expect((await append(batch('a'), 'key')).body.firstSequence).toBe(2);
  });

  test('the same key in another session is another key', async () => {
    await fresh();
    await append(batch('a'), 'shared');
    await fresh();
    const other = await append(batch('b'), 'shared');
    expect(other).toMatchObject({ status: accepted, body: { firstSequence: 1 } });
  });

  test('a key reveals nothing to another plane or organization', async () => {
    await fresh();
    await append(batch('a'), 'one');
    for (const as of [world.ours.test, world.theirs.live]) {
      expectProblem(await append(batch('a'), 'one', as), 404, 'not_found');
      expectProblem(await append(batch('b'), 'one', as), 404, 'not_found');
    }
  });

  test('another secret of the same plane may repeat a request', async () => {
    await fresh();
    const first = await append(batch('a'), 'one');
    const { service, ours } = world;
    const { value } = (await service.call('POST', '/v1/organizations/me/secrets', { as: ours.owner })).body;
    replayed(first, await append(batch('a'), 'one', value));
  });

  test('a repetition in another content encoding counts as the same body', async () => {
    await fresh();
    const { gzipSync } = await import('node:zlib');
    const first = await append(batch('a'), 'one');
    const headers = { 'idempotency-key': 'one', 'content-encoding': 'gzip' };
    const body = gzipSync(JSON.stringify(batch('a')));
    const url = `/v1/sessions/${sessionId}/events`;
    replayed(first, await world.service.call('POST', url, { as: world.ours.live, headers, body }));
  });

  test('a request is validated before its key is looked up, and the key before the session', async () => {
    await fresh();
    await append(batch('a'), 'one');
    expectProblem(await append({ events: [] }, 'one'), 400, 'validation_failed');
    expectProblem(await append({ events: [] }, 'one', world.ours.live, 'ses_none'), 400, 'validation_failed');
    expectProblem(await append(batch('a'), 'one', 'sk_live_no', 'ses_none'), 401, 'secret_invalid');
    expectProblem(await append(batch('a'), 'one', world.ours.live, 'ses_none'), 404, 'not_found');
  });

  test('a refused request leaves its key free', async () => {
    await fresh();
    expectProblem(await append({ events: [{}] }, 'one'), 400);
    expect(await append(batch('a'), 'one')).toMatchObject({ status: accepted, body: { firstSequence: 1 } });
  });

  test(`each of 20 requests sent six times at once and shuffled is stored once ${seeded}`, async () => {
    await fresh();
    const random = createRandom();
    const requests = Array.from({ length: 20 }, (_, index) => ({ key: `key-${index}`, body: batch(`text ${index}`) }));
    const sends = shuffle(
      requests.flatMap((request) => Array.from({ length: 6 }, () => request)),
      random,
    );
    const answers = new Map<string, Set<string>>();
    const send = async ({ key, body }: (typeof sends)[number]): Promise<void> => {
      const reply = await append(body, key);
      if (reply.status === 409) {
        expectProblem(reply, 409, 'idempotency_in_progress');
        expect(reply.headers['retry-after']).toBe('1');
        await new Promise((resolve) => setTimeout(resolve, random() * 10));
        return send({ key, body });
      }
      expect(reply.status, reply.text).toBe(accepted);
      answers.set(key, (answers.get(key) ?? new Set()).add(reply.text));
    };
    await Promise.all(sends.map(send));
    expect([...answers.values()].map((texts) => texts.size)).toEqual(Array.from({ length: 20 }, () => 1));
    const url = `/v1/organizations/me/sessions/${sessionId}/events`;
    const { events } = (await world.service.call('GET', url, { as: world.ours.member })).body;
    const texts = events.map((event: { payload: { text: string } }) => event.payload.text);
    expect([...texts].sort()).toEqual(requests.map(({ body }) => body.events[0]?.payload.text).sort());
    expect(await countEvents()).toBe(20);
  });
});
