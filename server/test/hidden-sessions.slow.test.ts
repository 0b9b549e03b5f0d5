import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PolicyBody } from '../../contract/policy.ts';
import type { Visibility } from '../../contract/session.ts';
import type { Deps } from '../deps.ts';
import { createLive } from '../ingest/live.ts';
import { streamEvents } from '../ingest/page.ts';
import { foundReadable } from '../routes/answers.ts';
import { liveHandlers } from '../routes/live.ts';
import { findSession } from '../store/sessions.ts';
import { asOrganization } from '../store/tenant.ts';
import { viewerOf } from '../store/viewer.ts';
import { ENGINES } from './engines.ts';
import { createTenant, type Machine, registerMachine, type Tenant, whenDerived } from './factories.ts';
import { startTestService, type TestService } from './harness.ts';
import { answered, called, find, said } from './searched.ts';
import { openingOn, openSigned, signInMachine } from './signed-in.ts';
import { startWorld, type World } from './world.ts';

/** Sessions by their number of failures. Private sessions of the member rank between sessions that everybody may know of. */
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

  test('take no place of other sessions in the overview', async () => {
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

describe.each(ENGINES)('a session that is hidden during an answer on %s', (engine) => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld(engine);
  });
  afterAll(() => world.service.close());

  test('is not streamed to an admin who loses the right to see everything after the stream is open', async () => {
    const { service, ours } = world;
    const say = (body: PolicyBody) =>
      service.call('PUT', '/v1/organizations/me/policy', { as: ours.owner, body }).then(({ status }) => status);
    expect(await say({ adminsSeeAll: true })).toBe(200);
    let isSaid = false;
    const db = service.store.db.withPlugin({
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        if (!isSaid) {
          isSaid = true;
          await say({});
        }
        return result;
      },
    });
    const live = createLive(Date.now, { ask: () => undefined, forget: () => undefined });
    const caller = { ...ours, userId: ours.ownerId, role: 'owner' as const, claims: {} };
    const ask = { caller, query: {}, signal: new AbortController().signal };
    const { body } = await liveHandlers({ changes: { live }, store: { db } } as unknown as Deps).streamChanges(
      ask as never,
    );
    expect(await text(body)).toBe(': connected\n\n');
  });

  test.each([
    { once: 'it is hidden', visibility: 'team', before: {} },
    { once: 'its reader loses the right to see everything', visibility: 'private', before: { adminsSeeAll: true } },
  ] as const)('breaks off visibly once $once', async ({ visibility, before }) => {
    const { service, ours } = world;
    const { db } = service.store;
    const say = (body: PolicyBody) =>
      service.call('PUT', '/v1/organizations/me/policy', { as: ours.owner, body }).then(({ status }) => status);
    expect(await say(before)).toBe(200);
    const sessionId = await openSigned(world, ours.member, visibility);
    const events = Array.from({ length: 20 }, (_, n) => said(`${n} ${'word '.repeat(50_000)}`));
    for (const one of events)
      await service.call('POST', `/v1/sessions/${sessionId}/events`, { as: ours.live, body: { events: [one] } });
    const viewer = await viewerOf(db, { ...ours, userId: ours.ownerId, role: 'owner' });
    const session = foundReadable(viewer, await findSession(db, viewer, sessionId));
    const page = await asOrganization(
      ours.organizationId,
      () => streamEvents(db, viewer, session, { from: 1, limit: events.length }),
      viewer.seesAll ? undefined : viewer.userId,
    );
    const parts = page[Symbol.asyncIterator]();
    await parts.next();
    const url = `/v1/organizations/me/sessions/${sessionId}/visibility`;
    if (viewer.seesAll) expect(await say({})).toBe(200);
    else
      expect((await service.call('PUT', url, { as: ours.member, body: { visibility: 'private' } })).status).toBe(200);
    await setTimeout(600);
    const read = async () => {
      for (let part = await parts.next(); !part.done; part = await parts.next());
    };
    await expect(read()).rejects.toThrow('hidden or deleted while it was read');
  });
});
