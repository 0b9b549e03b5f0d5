import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { openStore } from '../store/open.ts';
import { ENGINES, openTestStore, type TestStore } from './engines.ts';
import { event, openSession } from './factories.ts';
import { startTestService, type TestService } from './harness.ts';
import { PGBOUNCER, type PgBouncer, startPgBouncer } from './pgbouncer.ts';
import { type AnyRouteName, RIGHT, RIGHT_CALLER, ROUTE_NAMES, request, TABLE } from './requests.ts';
import { createWorld, type World } from './world.ts';

/** Routes that destroy things that the other routes need. */
const LAST: AnyRouteName[] = ['completeSession', 'revokeEnvironment', 'revokeSecret', 'leaveOrganization'];
/** All routes whose answer ends. */
const ROUTES = [...ROUTE_NAMES.filter((route) => ![...LAST, 'streamChanges'].includes(route)), ...LAST];
/** Routes that the world's own caller may not call, or that somebody has called before. */
const REFUSED: Partial<Record<AnyRouteName, number>> = {
  acceptInvitation: 409,
  changeVisibility: 403,
  completeSession: 409,
  deleteAccount: 409,
  deleteOrganization: 403,
  getDeletionReceipt: 404,
  issueDirectoryToken: 403,
  listSessionViews: 403,
  passOwnership: 403,
  replacePolicy: 403,
  revokeDirectoryToken: 403,
  revokeShare: 404,
};

describe.skipIf(!ENGINES.includes('postgres') || !PGBOUNCER)(
  'behind PgBouncer in transaction mode, the service',
  () => {
    const name = `pooled_${randomBytes(6).toString('hex')}`;
    let admin: TestStore;
    let pooler: PgBouncer;
    let replicas: TestService[];
    let world: World;
    beforeAll(async () => {
      admin = await openTestStore('postgres');
      // The owner role as an administrator would create it: no superuser, because row-level security does not apply to
      // superusers.
      await sql`create role ${sql.id(name)} login createrole`.execute(admin.db);
      for (const limit of ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout']) {
        await sql`alter role ${sql.id(name)} set ${sql.raw(limit)} = '9s'`.execute(admin.db);
      }
      await sql`create database ${sql.id(name)} owner ${sql.id(name)}`.execute(admin.db);
      const direct = new URL(inject('postgresUrl'));
      Object.assign(direct, { username: name, pathname: `/${name}` });
      pooler = await startPgBouncer(String(PGBOUNCER), direct.href);
      const open = { dataDir: '', databaseUrl: pooler.url, listenUrl: direct.href, onError: () => undefined };
      // All start at once, and one of them creates the schema.
      const stores = await Promise.all([openStore(open), openStore(open)]);
      replicas = await Promise.all(stores.map((store) => startTestService('postgres', {}, { ...admin, ...store })));
      world = await createWorld(replicas[0] as TestService);
    }, 120_000);
    afterAll(async () => {
      for (const { app, store } of replicas) {
        await app.close();
        await store.close();
      }
      await pooler.dispose();
      await sql`drop database ${sql.id(name)} with (force)`.execute(admin.db);
      await sql`drop role ${sql.id(`${name}_tenant`)}, ${sql.id(name)}`.execute(admin.db);
      await admin.dispose();
    });

    const append = (on: TestService, sessionId: string, as: string, text: string) =>
      on.call('POST', `/v1/sessions/${sessionId}/events`, {
        as,
        body: { events: [event(text)] },
        headers: { 'idempotency-key': text },
      });

    test('numbers appends through two replicas without a gap, and once for each key', async () => {
      const { live } = world.ours;
      const sessionId = await openSession(replicas[0] as TestService, live, world.ours);
      const texts = Array.from({ length: 60 }, (_, index) => `text-${index >> 1}`);
      const replies = await Promise.all(
        texts.map((text, index) => append(replicas[index % 2] as TestService, sessionId, live, text)),
      );
      // Of two simultaneous appends with the same key, one may get 409 with a time to wait.
      for (const { status } of replies) expect([200, 409]).toContain(status);
      const firsts = new Set(replies.flatMap(({ status, body }) => (status === 200 ? [body.firstSequence] : [])));
      expect([...firsts].sort((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, index) => index + 1));
    });

    test('shows changes of another replica on the live stream', async () => {
      const [here, there] = replicas as [TestService, TestService];
      const port = Number(new URL(await there.app.listen({ port: 0 })).port);
      const headers = { authorization: `Bearer ${world.ours.member}` };
      const asked = get({ port, path: '/v1/organizations/me/live', headers });
      const [reply] = (await once(asked, 'response')) as [IncomingMessage];
      let text = '';
      reply.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      await expect.poll(() => text, { timeout: 60_000 }).toContain(': connected');
      const sessionId = await openSession(here, world.ours.live, world.ours);
      await expect.poll(() => text, { timeout: 60_000 }).toContain(sessionId);
      asked.destroy();
    });

    test('shows each of many members on shared connections only their own data', async () => {
      const sides = [world.ours, world.theirs];
      const asked = Array.from({ length: 80 }, (_, index) => {
        const { member } = sides[index % 2] as World['ours'];
        return (replicas[(index >> 1) % 2] as TestService).call('GET', '/v1/organizations/me/sessions', { as: member });
      });
      for (const [index, { status, text }] of (await Promise.all(asked)).entries()) {
        expect(status, text).toBe(200);
        const [own, foreign] = index % 2 === 0 ? sides : [...sides].reverse();
        expect(text).toContain(own?.sessionId);
        expect(text).not.toContain(foreign?.organizationId);
      }
      expect(replicas.map(({ store }) => store.hasRowSecurity)).toEqual([true, true]);
    });

    test.each(ROUTES)('answers %s', async (route) => {
      const [service] = replicas as [TestService];
      const reply = await request(service, route, RIGHT[route](world), RIGHT_CALLER[TABLE[route].auth](world));
      const right = REFUSED[route] ?? Number(Object.keys(TABLE[route].replies)[0]);
      expect(reply.status, reply.text).toBe(right);
    });

    test('continues once the pooler is back', async () => {
      const { live, sessionId } = world.theirs;
      await pooler.restart();
      for (const service of replicas) {
        await expect
          .poll(async () => (await append(service, sessionId, live, 'again')).status, { timeout: 60_000 })
          .toBe(200);
      }
    });
  },
);
