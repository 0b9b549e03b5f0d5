import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Visibility } from '../../contract/session.ts';
import { ENGINES } from './engines.ts';
import { createTenant, type Machine, registerMachine, type Tenant, whenDerived } from './factories.ts';
import { startTestService, type TestService } from './harness.ts';
import { answered, called, find } from './searched.ts';
import { openingOn, signInMachine } from './signed-in.ts';

/** By their failures; between those that all may know of are those of the member alone. */
const SESSIONS: { failures: number; visibility: Visibility }[] = [
  { failures: 9, visibility: 'team' },
  ...[8, 7, 6, 5, 4].map((failures) => ({ failures, visibility: 'private' as const })),
  { failures: 3, visibility: 'facts' },
  { failures: 2, visibility: 'team' },
];

describe.each(ENGINES)('private sessions that rank above others on %s', (engine) => {
  let service: TestService;
  let tenant: Tenant;
  const ids: string[] = [];
  beforeAll(async () => {
    service = await startTestService(engine);
    tenant = await createTenant(service);
    const secret = await signInMachine(service, tenant.member, 'laptop');
    const machine = await registerMachine(service, secret, 'laptop');
    for (const one of SESSIONS) ids.push(await sessionWith(secret, machine, one));
  }, 60_000);
  afterAll(() => service.close());

  async function sessionWith(secret: string, machine: Machine, { failures, visibility }: (typeof SESSIONS)[number]) {
    const body = openingOn(machine, visibility);
    const { sessionId } = (await service.call('POST', '/v1/sessions', { as: secret, body })).body;
    const events = Array.from({ length: failures }, (_, n) => [
      called('Bash', { command: 'false' }, `call-${n}`),
      answered('failed', { callId: `call-${n}`, isError: true }),
    ]).flat();
    await service.call('POST', `/v1/sessions/${sessionId}/events`, { as: secret, body: { events } });
    await whenDerived(service, tenant.member, sessionId, events.length);
    return sessionId as string;
  }

  const shown = SESSIONS.flatMap(({ visibility }, at) => (visibility === 'private' ? [] : [at]));

  test('are in no cursor of another member, in any order', async () => {
    for (const order of ['failures', 'events', 'started']) {
      for (const direction of ['desc', 'asc']) {
        const found: number[] = [];
        let cursor: string | null = null;
        do {
          const asked: Record<string, string | number> = { order, direction, limit: 1, ...(cursor && { cursor }) };
          const { sessions, nextCursor } = (await find(service, tenant.admin, asked)).body;
          found.push(
            ...sessions.map(({ session }: { session: { sessionId: string } }) => ids.indexOf(session.sessionId)),
          );
          cursor = nextCursor;
          const held = Buffer.from(cursor ?? '', 'base64url').toString();
          for (const [at, { visibility }] of SESSIONS.entries())
            if (visibility === 'private') expect(held).not.toContain(ids[at]);
        } while (cursor);
        expect(found.sort()).toEqual(shown);
      }
    }
  });

  test('take no place of others in the overview', async () => {
    const failing = async (as: string) => {
      const { body } = await service.call('GET', '/v1/organizations/me/usage', { as });
      return body.attention.flatMap(({ reason, session }: { reason: string; session: { sessionId: string } }) =>
        reason === 'failures' ? [ids.indexOf(session.sessionId)] : [],
      );
    };
    expect(await failing(tenant.member)).toEqual([0, 1, 2, 3, 4]);
    expect(await failing(tenant.admin)).toEqual(shown);
  });
});
