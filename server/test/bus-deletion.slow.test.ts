import { randomBytes } from 'node:crypto';
import { headers } from '@nats-io/transport-node';
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import type { Bus } from '../bus/bus.ts';
import { writeEntry } from '../bus/entry.ts';
import { deadLettersOf } from '../bus/streams.ts';
import { newUuid } from '../ids.ts';
import { encodeFrame } from '../log/frame.ts';
import { appendTexts, createTenant, openSession, readTexts, type Tenant } from './factories.ts';
import { settled, startTestService, type TestService } from './harness.ts';

const SOON = { timeout: 30_000 };

describe.runIf(inject('natsUrl'))('a deleted session leaves nothing of its events on the bus', () => {
  let service: TestService;
  let tenant: Tenant;
  let bus: Bus;
  beforeEach(async () => {
    service = await startTestService('bus');
    tenant = await createTenant(service);
    bus = service.store.bus as Bus;
  });
  afterEach(() => service.close());

  /** A session with events in a short message, in a long one, and in a dead letter. */
  async function fill(): Promise<string> {
    const sessionId = await openSession(service, tenant.live);
    await appendTexts(service, tenant, sessionId, ['one']);
    await appendTexts(service, tenant, sessionId, [1, 2, 3, 4, 5, 6, 7, 8].map(long));
    expect(await readTexts(service, tenant, sessionId)).toHaveLength(9);
    const written = headers();
    const contradicting = {
      kind: 'append',
      plane: 'live',
      firstSequence: 1,
      lastSequence: 1,
      key: null,
      fingerprint: null,
      appendId: newUuid(),
      codec: 0,
      at: 1,
    } as const;
    written.set('Capture-Entry', writeEntry(contradicting));
    const { body } = encodeFrame([{ eventType: 'notice', payload: Buffer.from('{"text":"of a dead letter"}') }]);
    await bus.client.publish(`${bus.name}.log.${tenant.organizationId}.${sessionId}`, body, { headers: written });
    await settled(bus);
    return sessionId;
  }
  const long = () => randomBytes(180_000).toString('base64');

  /** How many bytes of bodies both streams have. */
  async function bytes(): Promise<number> {
    let sum = 0;
    for (const stream of [bus.name, deadLettersOf(bus.name).stream]) {
      const { state } = await bus.manager.streams.info(stream);
      for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
        const message = await bus.manager.streams.getMessage(stream, { seq }).catch(() => null);
        sum += message?.data.byteLength ?? 0;
      }
    }
    return sum;
  }

  test('after its deletion, and other sessions keep theirs', SOON, async () => {
    const kept = await openSession(service, tenant.live);
    await appendTexts(service, tenant, kept, ['kept']);
    await settled(bus);
    const before = await bytes();
    const sessionId = await fill();
    expect(await bus.backlog()).toEqual({ deadLetters: 1, waiting: 0 });
    expect(await bytes()).toBeGreaterThan(1_000_000);
    const url = `/v1/organizations/me/sessions/${sessionId}`;
    expect((await service.call('DELETE', url, { as: tenant.admin })).status).toBe(200);
    await expect.poll(bytes, SOON).toBe(before);
    expect((await bus.backlog()).deadLetters).toBe(0);
    expect(await appendTexts(service, tenant, sessionId, ['late'])).toMatchObject({
      status: 404,
      body: { code: 'session_deleted' },
    });
    expect((await appendTexts(service, tenant, kept, ['more'])).body).toMatchObject({ firstSequence: 2 });
    expect(await readTexts(service, tenant, kept)).toEqual(['kept', 'more']);
  });

  test('after the deletion of its organization', SOON, async () => {
    const before = await bytes();
    await fill();
    const { db } = service.store;
    const mine = db.selectFrom('organizations').where('organization_id', '=', tenant.organizationId);
    const { name } = await mine.select('name').executeTakeFirstOrThrow();
    const asked = { as: tenant.owner, body: { name } };
    expect((await service.call('POST', '/v1/organizations/me/deletion', asked)).status).toBe(200);
    await expect.poll(() => mine.select('name').execute(), SOON).toEqual([]);
    expect(await bytes()).toBe(before);
    expect((await bus.backlog()).deadLetters).toBe(0);
  });
});

test.runIf(inject('natsUrl'))(
  'a message that a worker holds when it is killed gets to the next worker, although another session is removed from the bus',
  SOON,
  async () => {
    const service = await startTestService('bus', { ROLE: 'api' });
    const tenant = await createTenant(service);
    const bus = service.store.bus as Bus;
    const [removed, held] = [await openSession(service, tenant.live), await openSession(service, tenant.live)];
    const consumer = await bus.consumer();
    await appendTexts(service, tenant, removed, ['one']);
    for await (const message of await consumer.fetch({ max_messages: 3, expires: 2_000 })) await message.ackAck();
    await appendTexts(service, tenant, held, ['two']);
    const holding = await consumer.next();
    const place = `${tenant.organizationId}.${removed}`;
    expect(await bus.removeSettled(await bus.history(place))).toBe(true);
    expect(await bus.history(place)).toEqual([]);
    // As after the time in which a worker must settle it.
    holding?.nak();
    expect((await consumer.next({ expires: 2_000 }))?.seq).toBe(holding?.seq);
    await service.close();
  },
);
