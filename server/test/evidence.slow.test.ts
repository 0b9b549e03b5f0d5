import { generateKeyPairSync } from 'node:crypto';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import {
  type CheckedEvent,
  chainStart,
  checkChain,
  contentDigest,
  digestOfMasked,
  eventDigest,
} from '../../contract/chain.ts';
import { type Envelope, openEnvelope, signStatement } from '../../contract/dsse.ts';
import { COUNTERSIGNATURE, type Countersigned, type Evidence } from '../../contract/evidence.ts';
import { type SaltKeys, saltsOf } from '../../contract/salts.ts';
import { headAfter, notices } from '../../contract/test/heads.ts';
import { allRows } from '../store/rows.ts';
import { findSaltKeys } from '../store/salt-keys.ts';
import type { SessionChainRow } from '../store/schema.ts';
import { ENGINES } from './engines.ts';
import { appendTexts, createTenant, event, openSession } from './factories.ts';
import { serve, settled, startTestService } from './harness.ts';
import { playScenarios } from './scenarios.ts';
import { EVIDENCE } from './tables/evidence.ts';
import { startWorld, type World } from './world.ts';

playScenarios('evidence', EVIDENCE);

/** Payloads in the forms in which a sender may write them. */
const TEXTS = ['{"text":"one"}', '{ "n": 1.50, "much": 1e400 }', '{"é":"\\u00e9 é 😀"}', '{}'];

describe.each(ENGINES)('the chain of a session on %s', (engine) => {
  let world: World;
  beforeEach(async () => {
    world = await startWorld(engine);
  });
  afterEach(() => world.service.close());

  const readChains = () =>
    allRows(world.service.store.db, sql<SessionChainRow>`select * from session_chains order by session_id`);

  async function open(): Promise<string> {
    const { environmentId, installationId, live } = world.ours;
    const body = { environmentId, agentInstallationId: installationId };
    return (await world.service.call('POST', '/v1/sessions', { as: live, body })).body.sessionId;
  }

  async function append(sessionId: string, texts: readonly string[]): Promise<void> {
    const events = texts.map((text) => `{"eventType":"notice","payload":${text}}`);
    const reply = await world.service.call('POST', `/v1/sessions/${sessionId}/events`, {
      as: world.ours.live,
      body: Buffer.from(`{"events":[${events.join(',')}]}`),
      headers: { 'content-type': 'application/json' },
    });
    expect(reply.status).toBe(200);
  }

  async function show(sessionId: string): Promise<Evidence & { signed: Countersigned }> {
    const url = `/v1/organizations/me/sessions/${sessionId}/evidence`;
    const { body } = await world.service.call('GET', url, { as: world.ours.member });
    const evidence = body as Evidence;
    return { ...evidence, signed: signedIn(evidence.countersignature) };
  }

  const signedIn = (envelope: Envelope) => openEnvelope(envelope, COUNTERSIGNATURE).statement as Countersigned;

  const headOf = (start: string, texts: readonly string[], saltKeys: SaltKeys): string =>
    headAfter({ sequence: 0, hash: start }, notices(texts), saltKeys).hash;

  test('is computed from the exact texts that were sent, in any batches', async () => {
    const sessionId = await open();
    await append(sessionId, TEXTS.slice(0, 1));
    expect((await show(sessionId)).signed).toMatchObject({ events: 1 });
    await append(sessionId, TEXTS.slice(1));
    const { signed, saltKeys } = await show(sessionId);
    expect(signed).toMatchObject({ sessionId, events: TEXTS.length, head: headOf(signed.start, TEXTS, saltKeys) });
    expect(signed.start).toBe(chainStart(signed.agentId, sessionId).hash);
  });

  const chainOf = async (sessionId: string) => (await readChains()).find((row) => row.session_id === sessionId);

  test('is countersigned soon after the session has ended, without a request, and not before', async () => {
    const [sessionId, running] = [await open(), await open()];
    for (const one of [sessionId, running]) await append(one, TEXTS);
    const { service, ours } = world;
    const reply = await service.call('POST', `/v1/sessions/${sessionId}/complete`, { as: ours.live, body: {} });
    expect(reply.status).toBe(200);
    await vi.waitFor(async () => {
      const chain = await chainOf(sessionId);
      expect(chain).toMatchObject({ sequence: TEXTS.length });
      const signed = signedIn(JSON.parse(chain?.envelope ?? '') as Envelope);
      expect(signed).toMatchObject({ sessionId, events: TEXTS.length, head: chain?.hash });
    }, 8_000);
    expect(await chainOf(running)).toBeUndefined();
  });

  test.each([
    ['at the next start', true],
    ['every hour', false],
  ])('of an open session is countersigned %s, without a request', async (_, isBefore) => {
    const { store, ...earlier } = world.service;
    // In one case the service starts with the events, in the other case they arrive later.
    const sessionId = await open();
    if (isBefore) await append(sessionId, TEXTS);
    const later = await serve(store, { earlier, isShared: true });
    onTestFinished(() => later.close());
    if (!isBefore) {
      await append(sessionId, TEXTS);
      await later.run('countersigning');
    }
    await vi.waitFor(async () => expect(await chainOf(sessionId)).toMatchObject({ sequence: TEXTS.length }), 8_000);
  });

  test('is the same if heads are lost and computed again', async () => {
    const sessionId = await open();
    await append(sessionId, TEXTS);
    const { signed } = await show(sessionId);
    await sql`delete from session_chains`.execute(world.service.store.db);
    expect((await show(sessionId)).signed.head).toBe(signed.head);
  });

  test('covers the accepted text of an event that is masked later, before and after signing', async () => {
    const texts = ['{"text":"a planted phrase"}', '{"text":"nothing"}'];
    const [before, after] = [await open(), await open()];
    for (const sessionId of [before, after]) await append(sessionId, texts);
    const saltKeysBefore = new Map([
      [before, (await show(before)).saltKeys],
      [after, (await show(after)).saltKeys],
    ]);
    await sql`delete from session_chains where session_id = ${after}`.execute(world.service.store.db);
    const url = (sessionId: string) => `/v1/organizations/me/sessions/${sessionId}/mask`;
    for (const sessionId of [before, after]) {
      const body = { text: 'planted phrase' };
      const reply = await world.service.call('POST', url(sessionId), { as: world.ours.member, body });
      expect(reply.body).toMatchObject({ events: 1 });
      const { signed, masked, saltKeys } = await show(sessionId);
      const known = saltKeysBefore.get(sessionId) ?? {};
      const salt = saltsOf(known)(1) ?? '';
      const digest = eventDigest(salt, contentDigest('notice', texts[0] as string));
      expect(masked).toEqual([{ sequence: 1, digest }]);
      expect(signed.masked).toBe(digestOfMasked([[1, digest]]));
      expect(saltsOf(saltKeys)(1)).toBeUndefined();
      expect(saltsOf(saltKeys)(2)).toBe(saltsOf(known)(2));
      expect(signed.head).toBe(headOf(signed.start, texts, known));
      const events: CheckedEvent[] = ['{"text":"a [REDACTED:manual:1f0c]"}', texts[1] as string].map((payload, at) => ({
        sequence: at + 1,
        eventType: 'notice',
        payload,
      }));
      const chain = { start: signed.start, head: { sequence: signed.events, hash: signed.head }, saltKeys };
      expect(checkChain({ ...chain, masked: new Map([[1, masked[0]?.digest ?? '']]) }, events)).toBeUndefined();
      const whole = { ...chain, saltKeys: known, masked: new Map() };
      expect(checkChain(whole, events)).toEqual(expect.stringContaining('not as it was sent'));
    }
  });

  test('is signed again once the service has another key', async () => {
    const sessionId = await open();
    await append(sessionId, TEXTS);
    const { signed, countersignature } = await show(sessionId);
    const former = signStatement(COUNTERSIGNATURE, signed, generateKeyPairSync('ed25519').privateKey);
    await sql`update session_chains set envelope = ${JSON.stringify(former)} where session_id = ${sessionId}`.execute(
      world.service.store.db,
    );
    const again = await show(sessionId);
    expect(again.countersignature.signatures[0]?.keyid).toBe(countersignature.signatures[0]?.keyid);
    expect(again.signed.head).toBe(signed.head);
  });

  test('is removed with its session', async () => {
    const sessionId = await open();
    await append(sessionId, TEXTS);
    await show(sessionId);
    const url = `/v1/organizations/me/sessions/${sessionId}`;
    expect((await world.service.call('DELETE', url, { as: world.ours.admin })).status).toBe(200);
    await vi.waitFor(async () => {
      expect((await readChains()).map((row) => row.session_id)).not.toContain(sessionId);
    }, 8_000);
  });
});

describe.runIf(inject('natsUrl'))('the chain of a session on an event bus', () => {
  test('covers the events that a worker has written, in the order of the bus', async () => {
    const service = await startTestService('bus');
    onTestFinished(() => service.close());
    const tenant = await createTenant(service);
    const sessionId = await openSession(service, tenant.live);
    const texts = Array.from({ length: 120 }, (_, n) => `text ${n}`);
    for (let at = 0; at < texts.length; at += 3) {
      expect((await appendTexts(service, tenant, sessionId, texts.slice(at, at + 3))).status).toBe(202);
    }
    await settled(service.store.bus);
    const closing = await service.call('POST', `/v1/sessions/${sessionId}/complete`, { as: tenant.live, body: {} });
    expect(closing.status).toBeLessThan(300);
    await vi.waitFor(async () => {
      const row = await service.store.db
        .selectFrom('session_chains')
        .selectAll()
        .where('session_id', '=', sessionId)
        .executeTakeFirst();
      const { statement } = openEnvelope(JSON.parse(row?.envelope ?? '{}') as Envelope, COUNTERSIGNATURE);
      const { start, events, head } = statement as Countersigned;
      const sent = texts.map(event).map((one) => ({ ...one, payload: JSON.stringify(one.payload) }));
      const saltKeys = await findSaltKeys(service.store.db, { organizationId: tenant.organizationId, sessionId });
      const expected = headAfter({ sequence: 0, hash: start }, sent, saltKeys);
      expect({ events, head }).toEqual({ events: texts.length, head: expected.hash });
    }, 15_000);
  });
});
