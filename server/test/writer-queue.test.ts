import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SessionLog } from '../ingest/session-log.ts';
import { ENGINES } from './engines.ts';
import { event, openSession } from './factories.ts';
import type { TestReply } from './harness.ts';
import { expectProblem } from './shape.ts';
import { startWorld, type World } from './world.ts';

describe.each(ENGINES)('waiting appends on %s', (engine) => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld(engine);
  });
  afterAll(() => world.service.close());

  const append = (sessionId: string, texts: string[], key?: string): Promise<TestReply> =>
    world.service.call('POST', `/v1/sessions/${sessionId}/events`, {
      as: world.ours.live,
      headers: key === undefined ? {} : { 'idempotency-key': key },
      body: { events: texts.map(event) },
    });

  const open = () => openSession(world.service, world.ours.live, world.ours);

  async function stored(sessionId: string) {
    const { service, ours } = world;
    const url = `/v1/organizations/me/sessions/${sessionId}`;
    const { session } = (await service.call('GET', url, { as: ours.owner })).body;
    const { events } = (await service.call('GET', `${url}/events?limit=1000`, { as: ours.owner })).body;
    type Stored = { sequence: number; payload: { text: string } };
    return {
      eventCount: session.eventCount,
      events: (events as Stored[]).map(({ sequence, payload }) => `${sequence} ${payload.text}`),
    };
  }

  /** Inserts a row at the place of the session's next append, as a corrupt store may have it. */
  async function occupyNext(sessionId: string) {
    const { eventCount } = await stored(sessionId);
    await sql`INSERT INTO appends (session_id, first_sequence, last_sequence, organization_id, append_id, created_at,
        codec, body)
      VALUES (${sessionId}, ${eventCount + 1}, ${eventCount + 1}, ${world.ours.organizationId}, 'wrong', 0, 0,
        ${Buffer.from('[["notice",2]]\n{}')})`.execute(world.service.store.db);
  }

  test('fail alone if one of them cannot be written, and leave nothing of it', async () => {
    const sessions = await Promise.all(Array.from({ length: 5 }, open));
    const broken = sessions[2] as string;
    for (const sessionId of sessions) expect((await append(sessionId, ['before'])).status).toBe(200);
    await occupyNext(broken);
    const replies = await Promise.all(
      sessions.flatMap((sessionId) => [append(sessionId, ['first', 'second']), append(sessionId, ['third'])]),
    );
    for (const [index, reply] of replies.entries()) {
      if (sessions[Math.floor(index / 2)] === broken) expectProblem(reply, 500, 'internal');
      else expect(reply, reply.text).toMatchObject({ status: 200 });
    }
    for (const sessionId of sessions.filter((id) => id !== broken)) {
      const { eventCount, events } = await stored(sessionId);
      expect(eventCount).toBe(4);
      expect([...events].sort()).toEqual(events);
      expect(events.map((text) => text.slice(2)).sort()).toEqual(['before', 'first', 'second', 'third']);
    }
    expect(await stored(broken)).toEqual({ eventCount: 1, events: ['1 before'] });
    expect(world.service.log.join()).toMatch(/appends[._]/);
  });

  test('are accepted again without a gap once the obstacle is gone', async () => {
    const sessionId = await open();
    await append(sessionId, ['one']);
    await occupyNext(sessionId);
    // The answer is an error and not 409: after a 409 a client would retry all day without anybody noticing.
    for (const key of ['key', 'key', undefined]) expectProblem(await append(sessionId, ['two'], key), 500, 'internal');
    await sql`DELETE FROM appends WHERE append_id = 'wrong' AND session_id = ${sessionId}`.execute(
      world.service.store.db,
    );
    expect((await append(sessionId, ['two'], 'key')).body).toMatchObject({ firstSequence: 2, lastSequence: 2 });
    expect(await stored(sessionId)).toEqual({ eventCount: 2, events: ['1 one', '2 two'] });
  });
});

describe.runIf(ENGINES.includes('sqlite'))('appends to the embedded store', () => {
  let world: World;
  let log: SessionLog;
  beforeAll(async () => {
    world = await startWorld('sqlite');
    const { db, journal } = world.service.store;
    log = new SessionLog({ db, journal, committed: () => undefined, now: () => 0 });
  });
  afterAll(() => world.service.close());

  const append = (sender: string, sessionId: string, payload: Buffer) =>
    log.append({
      organizationId: world.ours.organizationId,
      plane: 'live',
      sessionId,
      sender,
      idempotencyKey: null,
      fingerprint: '',
      events: [{ eventType: 'notice', payload }],
    });

  const open = () => openSession(world.service, world.ours.live, world.ours);
  const unavailable = expect.objectContaining({ status: 503, code: 'service_unavailable', retryAfter: 1 });

  async function payloads(sessionId: string): Promise<{ at: number }[]> {
    const url = `/v1/organizations/me/sessions/${sessionId}/events?limit=100000`;
    const { body } = await world.service.call('GET', url, { as: world.ours.owner });
    expect(body.events.map(({ sequence }: { sequence: number }) => sequence)).toEqual(
      body.events.map((_: unknown, index: number) => index + 1),
    );
    return body.events.map(({ payload }: { payload: { at: number } }) => payload);
  }

  /** Keeps the writer busy until the returned function is called. */
  async function reserveWriter(): Promise<() => Promise<unknown>> {
    let end = () => {};
    const isEnded = new Promise<void>((resolve) => {
      end = resolve;
    });
    let begun = () => {};
    const isBegun = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const reserved = world.service.store.db.transaction().execute(async () => {
      begun();
      await isEnded;
    });
    await isBegun;
    return () => {
      end();
      return reserved;
    };
  }

  test('wait in their order while another transaction is open', async () => {
    const sessionId = await open();
    const letGo = await reserveWriter();
    let answered = 0;
    const appends = Array.from({ length: 300 }, async (_, at) => {
      const outcome = await append('sender', sessionId, Buffer.from(`{"at":${at}}`));
      answered++;
      return outcome.firstSequence;
    });
    await world.service.call('GET', '/health');
    expect(answered).toBe(0);
    await letGo();
    expect(await Promise.all(appends)).toEqual(appends.map((_, index) => index + 1));
    expect((await payloads(sessionId)).map(({ at }) => at)).toEqual(appends.map((_, index) => index));
  });

  test.each([
    ['4,096 batches', 4_096, Buffer.from('{}')],
    ['64 MiB', 256, randomBytes(256 * 1024)],
  ])('are refused with a time to retry if %s wait', async (_, most, payload) => {
    const sessionId = await open();
    const letGo = await reserveWriter();
    const waiting = Array.from({ length: most }, (_, index) => append(`sender ${index % 2}`, sessionId, payload));
    await Promise.all(
      Array.from({ length: 20 }, () => expect(append('b', sessionId, payload)).rejects.toEqual(unavailable)),
    );
    await letGo();
    const outcomes = await Promise.all(waiting);
    expect(Math.max(...outcomes.map(({ lastSequence }) => lastSequence))).toBe(most);
    expect((await append('b', sessionId, Buffer.from('{}'))).firstSequence).toBe(most + 1);
  });

  test('of one sender leave half of the room to others', async () => {
    const sessionId = await open();
    const letGo = await reserveWriter();
    const waiting = Array.from({ length: 2_048 }, () => append('a', sessionId, Buffer.from('{}')));
    await expect(append('a', sessionId, Buffer.from('{}'))).rejects.toEqual(unavailable);
    waiting.push(append('b', sessionId, Buffer.from('{}')));
    await letGo();
    expect(await Promise.all(waiting)).toHaveLength(2_049);
  });

  test('of one sender do not make another sender wait for all of them', async () => {
    const [mine, theirs] = [await open(), await open()];
    const letGo = await reserveWriter();
    const order: string[] = [];
    const many = Array.from({ length: 1_000 }, () =>
      append('many', mine, Buffer.from('{}')).then(() => void order.push('many')),
    );
    const one = append('one', theirs, Buffer.from('{}')).then(() => void order.push('one'));
    await letGo();
    await Promise.all([...many, one]);
    expect(order.indexOf('one')).toBeLessThan(2 * 128);
  });

  test('are answered 503 while the disk is full, store nothing, and are accepted once there is room', async () => {
    const { service, ours } = world;
    const { db } = service.store;
    const sessionId = await open();
    const text = randomBytes(150_000).toString('base64');
    const send = () =>
      service.call('POST', `/v1/sessions/${sessionId}/events`, { as: ours.live, body: { events: [event(text)] } });
    expect((await send()).status).toBe(200);
    const pragma = async (name: string) =>
      Number(Object.values((await sql.raw<Record<string, number>>(`PRAGMA ${name}`).execute(db)).rows[0] ?? {})[0]);
    // The limit is the file's current size, so there is no room for another page.
    await pragma(`max_page_count = ${await pragma('page_count')}`);
    for (let count = 0; count < 3; count++) {
      const reply = await send();
      expectProblem(reply, 503, 'service_unavailable');
      expect(reply.headers['retry-after']).toBe('5');
    }
    expect((await payloads(sessionId)).length).toBe(1);
    await pragma('max_page_count = 1000000');
    expect((await send()).body).toMatchObject({ firstSequence: 2, lastSequence: 2 });
    expect((await payloads(sessionId)).length).toBe(2);
  });
});
