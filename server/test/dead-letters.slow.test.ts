import { randomBytes } from 'node:crypto';
import { headers } from '@nats-io/transport-node';
import { sql } from 'kysely';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { Bus } from '../bus/bus.ts';
import { retryDeadLetters } from '../bus/dead-letters.ts';
import { type AppendEntry, writeEntry } from '../bus/entry.ts';
import { removeOld } from '../bus/retention.ts';
import { COMMANDS } from '../commands.ts';
import { newUuid } from '../ids.ts';
import { encodeFrame } from '../log/frame.ts';
import { createMetrics } from '../operations/metrics.ts';
import { again } from './engines.ts';
import { appendTexts, createTenant, openSession, readTexts, type Tenant } from './factories.ts';
import { settled, startTestService, type TestService, testConfig } from './harness.ts';

describe.runIf(inject('natsUrl'))('messages that a worker cannot write', () => {
  let service: TestService;
  let tenant: Tenant;
  let others: Tenant;
  let bus: Bus;
  beforeAll(async () => {
    service = await startTestService('bus');
    tenant = await createTenant(service);
    others = await createTenant(service);
    bus = service.store.bus as Bus;
  });
  afterAll(() => service.close());

  const append = (sessionId: string, texts: readonly string[], on = service, key?: string) =>
    appendTexts(on, tenant, sessionId, texts, key);
  const complete = (sessionId: string) =>
    service.call('POST', `/v1/sessions/${sessionId}/complete`, { as: tenant.live });
  const read = (sessionId: string) => readTexts(service, tenant, sessionId);
  const put = async (place: string, entry: string | undefined, body?: Uint8Array) => {
    const written = headers();
    if (entry !== undefined) written.set('Capture-Entry', entry);
    await bus.client.publish(`${bus.name}.log.${place}`, body, { headers: written });
  };
  const foreign = (fields: Partial<AppendEntry>): string =>
    writeEntry({
      ...{ kind: 'append', plane: 'live', firstSequence: 1, lastSequence: 1, key: null, fingerprint: null },
      ...{ appendId: newUuid(), codec: 0, at: 1 },
      ...fields,
    });
  const { body } = encodeFrame([{ eventType: 'notice', payload: Buffer.from('{}') }]);

  test.each<[string, (sessionId: string) => [place: string, entry: string | undefined]]>([
    ['a message that the worker does not understand', () => ['org_1.ses_1', undefined]],
    ['a message of another version', () => ['org_1.ses_1', '{"kind":"renamed"}']],
    ['a message for an unknown session', () => [`${tenant.organizationId}.ses_1`, foreign({})]],
    [
      'a message for a session of another organization',
      (sessionId) => [`${others.organizationId}.${sessionId}`, foreign({})],
    ],
    ['a message that contradicts the store', (sessionId) => [`${tenant.organizationId}.${sessionId}`, foreign({})]],
    ['a message that fits no column', () => [`${tenant.organizationId}.ses_1`, foreign({ codec: 2 ** 40 })]],
  ])('%s becomes a dead letter and is counted, and other messages are written', async (_, make) => {
    const metrics = createMetrics();
    metrics.watchBus(bus);
    const before = (await bus.backlog()).deadLetters;
    const spoiled = await openSession(service, tenant.live);
    const sound = await openSession(service, tenant.live);
    await append(spoiled, ['one']);
    await settled(bus);
    const [place, entry] = make(spoiled);
    await Promise.all([append(sound, ['one']), put(place, entry, body), append(sound, ['two'])]);
    expect(await read(sound)).toHaveLength(2);
    expect(await read(spoiled)).toEqual(['one']);
    expect((await metrics.read()).text).toContain(`capture_bus_messages{state="dead_letter"} ${before + 1}\n`);
    expect((await metrics.read()).text).toContain('capture_bus_messages{state="waiting"} 0\n');
    expect(service.log.join('')).toContain(`${place}, is a dead letter: `);
  });

  /** Resets the store to its state before the session had events. */
  async function restore(sessionId: string): Promise<void> {
    const { db } = service.store;
    await db.deleteFrom('appends').where('session_id', '=', sessionId).execute();
    await db.updateTable('sessions').set({ event_count: 0 }).where('session_id', '=', sessionId).execute();
  }

  describe('a close without its events in the store', () => {
    test.each<[string, (sessionId: string) => Promise<unknown>]>([
      [
        'because the store refuses an append',
        (sessionId) =>
          put(`${tenant.organizationId}.${sessionId}`, foreign({ firstSequence: 2, lastSequence: 2, codec: 2 ** 40 })),
      ],
      ['because the store was restored to an earlier time', restore],
    ])('%s becomes a dead letter, and the bus drops its messages', async (_, spoil) => {
      const sessionId = await openSession(service, tenant.live);
      await append(sessionId, ['one']);
      await settled(bus);
      await spoil(sessionId);
      expect((await complete(sessionId)).status).toBe(200);
      await settled(bus);
      expect(service.log.join('')).toContain(`${sessionId}, is a dead letter: events before this close`);
      await removeOld(bus, Date.now() + 60_000);
      expect((await bus.manager.streams.info(bus.name)).state.messages).toBe(0);
    });
  });

  test('keeps its numbers even if neither the bus nor the replica has the session any more', async () => {
    const sessionId = await openSession(service, tenant.live);
    await append(sessionId, ['one']);
    await put(`${tenant.organizationId}.${sessionId}`, foreign({ firstSequence: 2, lastSequence: 2, codec: 2 ** 40 }));
    expect((await append(sessionId, ['three'])).body).toMatchObject({ firstSequence: 3 });
    await settled(bus);
    await removeOld(bus, Date.now() + 60_000);
    const store = await again(service.store);
    const other = await startTestService('bus', { ROLE: 'api' }, store);
    expect((await append(sessionId, ['four'], other)).body).toMatchObject({ firstSequence: 4 });
    await other.close();
    await store.close();
  });

  test.each<[string, boolean, number, object]>([
    ['its number, if it was the last', false, 202, { firstSequence: 3 }],
    ['the end of its session', true, 409, { code: 'session_closed' }],
  ])('keeps %s', async (_, closes, status, answer) => {
    const sessionId = await openSession(service, tenant.live);
    await append(sessionId, ['one']);
    const place = `${tenant.organizationId}.${sessionId}`;
    await put(
      place,
      foreign({ firstSequence: 2, lastSequence: 2, codec: 2 ** 40, key: 'two', fingerprint: 'of another' }),
    );
    if (closes) expect((await complete(sessionId)).status).toBe(200);
    await settled(bus);
    await removeOld(bus, Date.now() + 60_000);
    const store = await again(service.store);
    const other = await startTestService('bus', { ROLE: 'api' }, store);
    const reused = await append(sessionId, ['two'], other, 'two');
    expect(reused).toMatchObject({ status: 400, body: { code: 'idempotency_key_reused' } });
    expect(await append(sessionId, ['three'], other)).toMatchObject({ status, body: answer });
    await other.close();
    await store.close();
  });

  test('of another version makes its session wait, because it may have numbered events', async () => {
    const sessionId = await openSession(service, tenant.live);
    await append(sessionId, ['one']);
    await put(`${tenant.organizationId}.${sessionId}`, '{"kind":"renamed"}');
    await settled(bus);
    await removeOld(bus, Date.now() + 60_000);
    const store = await again(service.store);
    const other = await startTestService('bus', { ROLE: 'api' }, store);
    expect((await append(sessionId, ['two'], other)).status).toBe(503);
    await other.close();
    await store.close();
  });

  test('is no reason to stop if a message before it was written, even if both arrive together', async () => {
    const sessionId = await openSession(service, tenant.live);
    const place = `${tenant.organizationId}.${sessionId}`;
    await append(sessionId, ['one']);
    await settled(bus);
    for (const name of ['first', 'second']) await put(`org_1.${name}`, '{"kind":"renamed"}');
    await settled(bus);
    const { codec, body } = encodeFrame([{ eventType: 'notice', payload: Buffer.from('{"text":"two"}') }]);
    await Promise.all([
      put(place, foreign({ codec, firstSequence: 2, lastSequence: 2 }), body),
      put('org_1.third', '{"kind":"renamed"}'),
    ]);
    expect(await read(sessionId)).toEqual(['one', 'two']);
    await append(sessionId, ['three']);
    expect(await read(sessionId)).toEqual(['one', 'two', 'three']);
  });

  /** Makes the store refuse the append that begins with the second event of the session. */
  const refuseSecond = ({ db }: TestService['store'], sessionId: string) =>
    sql`ALTER TABLE appends ADD CONSTRAINT no_second CHECK (session_id <> ${sql.lit(sessionId)} or first_sequence <> 2)`.execute(
      db,
    );

  test('is listed, and is written once that is possible', async () => {
    const { databaseUrl: DATABASE_URL, busUrl: BUS_URL, dataDir: DATA_DIR } = service.store;
    const call = async (words: string) => {
      const lines: string[] = [];
      await COMMANDS[words]?.(testConfig({ DATABASE_URL, BUS_URL, DATA_DIR }), (line) => void lines.push(line), []);
      return lines.filter((line) => line.includes(sessionId));
    };
    const sessionId = await openSession(service, tenant.live);
    const place = `${tenant.organizationId}.${sessionId}`;
    await append(sessionId, ['one']);
    const { db } = service.store;
    await refuseSecond(service.store, sessionId);
    const { codec, body } = encodeFrame([{ eventType: 'notice', payload: Buffer.from('{"text":"two"}') }]);
    await put(place, foreign({ codec, firstSequence: 2, lastSequence: 2 }), body);
    await append(sessionId, ['three']);
    await complete(sessionId);
    expect(await read(sessionId)).toEqual(['one']);
    expect(await call('dead-letter list')).toEqual([
      expect.stringMatching(/^\d+ \S+Z \S+: .*violates check constraint/),
      expect.stringMatching(/: events before this close are not in the store$/),
    ]);
    const before = (await bus.backlog()).deadLetters;
    expect(await call('dead-letter retry')).toEqual(await call('dead-letter list'));

    await sql`ALTER TABLE appends DROP CONSTRAINT no_second`.execute(db);
    expect(await call('dead-letter retry')).toEqual([
      expect.stringMatching(/: is settled$/),
      expect.stringMatching(/: is settled$/),
    ]);
    expect(await call('dead-letter list')).toEqual([]);
    expect((await bus.backlog()).deadLetters).toBe(before - 2);
    expect(await read(sessionId)).toEqual(['one', 'two', 'three']);
    const url = `/v1/organizations/me/sessions/${sessionId}`;
    const { session } = (await service.call('GET', url, { as: tenant.member })).body;
    expect(session).toMatchObject({ status: 'completed', eventCount: 3 });
  });

  /** Random, so that compression does not make it shorter. */
  const longText = () => randomBytes(150_000).toString('base64');
  const LONG = Array.from({ length: 8 }, longText);

  test('of a long append is written after the bus has dropped its messages', async () => {
    const sessionId = await openSession(service, tenant.live);
    const { db } = service.store;
    await sql`ALTER TABLE appends ADD CONSTRAINT full_session CHECK (session_id <> ${sql.lit(sessionId)})`.execute(db);
    expect((await append(sessionId, LONG)).status).toBe(202);
    await settled(bus);
    await removeOld(bus, Date.now() + 60_000);
    await sql`ALTER TABLE appends DROP CONSTRAINT full_session`.execute(db);
    const lines: string[] = [];
    await retryDeadLetters(bus, service.store.pool as pg.Pool, (line) => void lines.push(line));
    expect(lines.filter((line) => line.includes(sessionId))).toEqual([expect.stringMatching(/: is settled$/)]);
    expect(await read(sessionId)).toEqual(LONG);
    const { messages } = (await bus.manager.streams.info(`${bus.name}_dead`)).state;
    expect(messages).toBe((await bus.backlog()).deadLetters);
  });

  test('is written even if the store was restored and the workers start from the beginning', async () => {
    const sessionId = await openSession(service, tenant.live);
    for (const text of ['one', 'two']) await append(sessionId, [text]);
    await complete(sessionId);
    await settled(bus);
    await restore(sessionId);
    expect(await read(sessionId)).toEqual([]);
    await bus.manager.consumers.delete(bus.name, 'workers');
    await expect.poll(() => read(sessionId).catch(() => [])).toEqual(['one', 'two']);
  });
});
