import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { runs } from '../../contract/test/runs.ts';
import type { Bus } from '../bus/bus.ts';
import { type AppendEntry, type Entry, readEntry, writeEntry } from '../bus/entry.ts';
import { again, type TestStore } from './engines.ts';
import { appendTexts, createTenant, type Machine, readTexts, registerMachine, type Tenant } from './factories.ts';
import { settled, startTestService, type TestService } from './harness.ts';

/** A machine whose clock was never set, in a zone west of Greenwich. */
const BEFORE_1970 = '1969-12-31T19:00:00.000Z';

describe.runIf(inject('natsUrl'))('a session that ended before 1970', () => {
  let service: TestService;
  let store: TestStore;
  let other: TestService;
  let tenant: Tenant;
  let machine: Machine;
  let bus: Bus;
  beforeAll(async () => {
    service = await startTestService('bus');
    store = await again(service.store);
    other = await startTestService('bus', { ROLE: 'api' }, store);
    tenant = await createTenant(service);
    machine = await registerMachine(service, tenant.live);
    bus = service.store.bus as Bus;
  });
  afterAll(async () => {
    await other.close();
    await store.close();
    await service.close();
  });

  async function open(clientKey: string, endedAt?: string): Promise<string> {
    const { environmentId, installationId: agentInstallationId } = machine;
    const session = { environmentId, agentInstallationId, clientKey, startedAt: BEFORE_1970, endedAt };
    const { body } = await service.call('POST', '/v1/captured-sessions', {
      as: tenant.live,
      body: { sessions: [session] },
    });
    return body.results[0].session.sessionId;
  }
  const close = (sessionId: string, endedAt?: string) =>
    service.call('POST', `/v1/sessions/${sessionId}/complete`, { as: tenant.live, body: { endedAt } });
  async function endOf(sessionId: string) {
    const url = `/v1/organizations/me/sessions/${sessionId}`;
    const { status, endedAt } = (await service.call('GET', url, { as: tenant.member })).body.session;
    return { status, endedAt };
  }

  test.each([
    ['by its close', undefined, BEFORE_1970],
    ['by its opening', BEFORE_1970, undefined],
  ])('%s is stored like any other, on every replica, and stops no worker', async (name, atOpening, atClose) => {
    const sessionIds = await Promise.all(
      [1, 2, 3, 4].map((at) => open(`session-ended-${name.replaceAll(' ', '-')}-${at}`, atOpening)),
    );
    for (const sessionId of sessionIds) {
      expect((await appendTexts(other, tenant, sessionId, ['one'])).status).toBe(202);
      expect((await close(sessionId, atClose)).status).toBe(200);
      expect((await appendTexts(other, tenant, sessionId, ['two'])).body).toMatchObject({ code: 'session_closed' });
    }
    await settled(bus);
    expect((await bus.backlog()).deadLetters).toBe(0);
    for (const sessionId of sessionIds) {
      expect(await readTexts(service, tenant, sessionId)).toEqual(['one']);
      expect(await endOf(sessionId)).toEqual({ status: 'completed', endedAt: BEFORE_1970 });
    }
  });
});

describe('the entry of a message', () => {
  const at = fc.integer({ min: -8.64e15, max: 8.64e15 });
  const eventCount = fc.nat();
  const plane = fc.constantFrom('live' as const, 'test' as const);
  const status = fc.constantFrom('completed' as const, 'failed' as const);
  const append: AppendEntry = {
    kind: 'append',
    plane: 'live',
    firstSequence: 1,
    lastSequence: 1,
    key: null,
    fingerprint: null,
    appendId: '0'.repeat(32),
    codec: 0,
    at: 0,
  };
  const entries: fc.Arbitrary<Entry> = fc.oneof(
    fc.record({ kind: fc.constant('opened' as const), plane, clientEndedAt: fc.option(at) }),
    fc.record({ kind: fc.constant('closed' as const), status, endedAt: at, eventCount, at }),
    fc.record({ key: fc.option(fc.string({ unit: 'binary' })), at }).map((fields) => ({ ...append, ...fields })),
    fc.string({ unit: 'binary' }).map((id): Entry => ({ kind: 'deleted', by: { kind: 'person', id } })),
  );

  test('is read as it was written, in ASCII and in one line', () => {
    fc.assert(
      fc.property(entries, (entry) => {
        const text = writeEntry(entry);
        expect(text).toMatch(/^[\x20-\x7e]+$/);
        expect(readEntry(text)).toEqual(entry);
      }),
      runs(300),
    );
  });

  test('is not written if nobody could read it', () => {
    expect(() => writeEntry({ ...append, codec: -1 })).toThrow('an entry of the kind append cannot be read again');
  });
});
