import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { MAX_BATCH_EVENTS, MAX_PAYLOAD_BYTES } from '../../contract/event.ts';
import type { Bus } from '../bus/bus.ts';
import { removeOld } from '../bus/retention.ts';
import { again } from './engines.ts';
import { appendTexts, createTenant, event, openSession, readTexts, type Tenant } from './factories.ts';
import { settled, startTestService, type TestService } from './harness.ts';

describe.runIf(inject('natsUrl'))('a service on an event bus', () => {
  let service: TestService;
  let tenant: Tenant;
  let bus: Bus;
  beforeAll(async () => {
    service = await startTestService('bus');
    tenant = await createTenant(service);
    bus = service.store.bus as Bus;
  });
  afterAll(() => service.close());

  const append = (sessionId: string, texts: readonly string[], key?: string, on = service) =>
    appendTexts(on, tenant, sessionId, texts, key);
  const read = (sessionId: string) => readTexts(service, tenant, sessionId);

  test('answers appends 202 with their numbers, and they are readable once a worker has written them', async () => {
    const sessionId = await openSession(service, tenant.live);
    const first = await append(sessionId, ['one', 'two']);
    const numbers = { sessionId, accepted: 2, firstSequence: 1, lastSequence: 2, async: true };
    expect(first).toMatchObject({ status: 202, body: numbers });
    expect((await append(sessionId, ['three'])).body).toMatchObject({ firstSequence: 3, lastSequence: 3 });
    expect(await read(sessionId)).toEqual(['one', 'two', 'three']);
  });

  test('accepts an append of the largest size between short ones', async () => {
    const sessionId = await openSession(service, tenant.live);
    const texts = Array.from({ length: MAX_BATCH_EVENTS }, () =>
      randomBytes(((MAX_PAYLOAD_BYTES - 1_000) / 4) * 3).toString('base64'),
    );
    await append(sessionId, ['one']);
    const first = await append(sessionId, texts, 'long');
    expect(first).toMatchObject({ status: 202, body: { lastSequence: MAX_BATCH_EVENTS + 1 } });
    expect((await append(sessionId, texts, 'long')).text).toBe(first.text);
    await append(sessionId, ['last']);
    await settled(bus);
    const { db } = service.store;
    const { bytes } = await db
      .selectFrom('appends')
      .select(({ fn }) => fn.max<number>(sql`length(body)`).as('bytes'))
      .where('session_id', '=', sessionId)
      .executeTakeFirstOrThrow();
    expect(bytes).toBeGreaterThan(9_000_000);
    const session = db.selectFrom('sessions').select('event_count').where('session_id', '=', sessionId);
    expect(await session.executeTakeFirstOrThrow()).toEqual({ event_count: MAX_BATCH_EVENTS + 2 });
  });

  test('finds a key in the store if neither the bus nor the replica has it any more', async () => {
    const sessionId = await openSession(service, tenant.live);
    const first = await append(sessionId, ['one'], 'old');
    await settled(bus);
    await removeOld(bus, Date.now() + 60_000);
    expect(await bus.history(`${tenant.organizationId}.${sessionId}`)).toEqual([]);
    const store = await again(service.store);
    const other = await startTestService('bus', {}, store);
    const repeated = await append(sessionId, ['one'], 'old', other);
    expect(repeated).toMatchObject({ status: 202, text: first.text, headers: { 'idempotency-replayed': 'true' } });
    expect((await append(sessionId, ['two'], 'new', other)).body).toMatchObject({ firstSequence: 2 });
    await other.close();
    await store.close();
    // This replica still has the old end of the subject in memory.
    expect((await append(sessionId, ['three'], 'newer')).body).toMatchObject({ firstSequence: 3 });
    expect(await read(sessionId)).toEqual(['one', 'two', 'three']);
  });

  test.each<[string, (sessionId: string, on: TestService) => Promise<{ status: number }>]>([
    ['continued', (sessionId, on) => append(sessionId, ['three'], 'third', on)],
    ['closed', (sessionId, on) => on.call('POST', `/v1/sessions/${sessionId}/complete`, { as: tenant.live })],
  ])('recognizes a key that the bus has dropped if another replica has since %s the session', async (_, goOn) => {
    const sessionId = await openSession(service, tenant.live);
    await append(sessionId, ['one'], 'first');
    const store = await again(service.store);
    const other = await startTestService('bus', { ROLE: 'api' }, store);
    const second = await append(sessionId, ['two'], 'second', other);
    await settled(bus);
    await removeOld(bus, Date.now() + 60_000);
    expect((await goOn(sessionId, other)).status).toBeLessThan(300);
    await other.close();
    await store.close();
    // This replica still has the session's end behind its first event in memory.
    const repeated = await append(sessionId, ['two'], 'second');
    expect(repeated).toMatchObject({ status: 202, text: second.text, headers: { 'idempotency-replayed': 'true' } });
    expect((await read(sessionId)).slice(0, 2)).toEqual(['one', 'two']);
  });

  test('continues a session that was idle until the bus had dropped all its messages', async () => {
    const sessionId = await openSession(service, tenant.live);
    await append(sessionId, ['one']);
    await settled(bus);
    await removeOld(bus, Date.now() + 60_000);
    expect(await append(sessionId, ['two'])).toMatchObject({ status: 202, body: { firstSequence: 2 } });
    expect(await read(sessionId)).toEqual(['one', 'two']);
  });

  test('recognizes the keys of a session with more appends than memory holds', async () => {
    const sessionId = await openSession(service, tenant.live);
    const first = await append(sessionId, ['one'], 'key-1');
    await settled(bus);
    const { db } = service.store;
    await sql`
      insert into appends (session_id, first_sequence, last_sequence, organization_id, append_id, created_at,
        idempotency_key, fingerprint, codec, body)
      select session_id, i, i, organization_id, append_id || i, created_at, 'key-' || i, fingerprint, codec, body
      from appends, generate_series(2, 6000) as i where session_id = ${sessionId}`.execute(db);
    await sql`update sessions set event_count = 6000 where session_id = ${sessionId}`.execute(db);
    await removeOld(bus, Date.now() + 60_000);
    expect((await append(sessionId, ['new'], 'key-6001')).body).toMatchObject({ firstSequence: 6001 });
    expect((await append(sessionId, ['one'], 'key-1')).text).toBe(first.text);
    expect((await append(sessionId, ['one'], 'key-5000')).body).toMatchObject({ firstSequence: 5000 });
    expect((await append(sessionId, ['other'], 'key-5000')).body.code).toBe('idempotency_key_reused');
  });

  test('keeps unwritten messages on the bus at any age', async () => {
    const idle = await startTestService('bus', { ROLE: 'api' });
    const own = await createTenant(idle);
    const sessionId = await openSession(idle, own.live);
    const { bus: other } = idle.store;
    const body = { events: [event('one')] };
    await idle.call('POST', `/v1/sessions/${sessionId}/events`, { as: own.live, body });
    await removeOld(other as Bus, Date.now() + 60_000);
    const kept = await other?.history(`${own.organizationId}.${sessionId}`);
    expect(kept?.map(({ entry }) => entry.kind)).toEqual(['opened', 'append']);
    await idle.close();
  });
});
