import { channel } from 'node:diagnostics_channel';
import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { removeDeletedOrganizations } from '../erase/session-groups.ts';
import { ENGINES, LOGS } from './engines.ts';
import { issueSecret, whenDerived } from './factories.ts';
import type { TestService } from './harness.ts';
import { startWorld, type World } from './world.ts';

/** The tables in which a row has one of the texts. */
async function tablesWith({ store: { db } }: TestService, texts: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const { name } of await db.introspection.getTables()) {
    // SQLite's index of words cannot be read row by row; deletion.slow.test.ts searches its file.
    if (name === 'chunk_words') continue;
    const { rows } = await sql<Record<string, unknown>>`select * from ${sql.table(name)}`.execute(db);
    const isText = (value: unknown) => texts.some((text) => written(value).includes(text));
    if (rows.some((row) => Object.values(row).some(isText))) found.push(name);
  }
  return found.sort();
}

/** Tables with rows of no organization. A new table is listed here, or its rows are removed with their organization. */
const OF_NO_ORGANIZATION = [
  'accounts',
  'chunk_words',
  'durability',
  'links',
  'provider_records',
  'rate_limits',
  'schema_changes',
  'settings',
  'users',
];

/** Gives the organization a row in every table, including tables that this test does not use otherwise. */
async function fillTables({ service, ours }: World): Promise<void> {
  const { db } = service.store;
  const { organizationId, sessionId } = ours;

  const tables = await db.introspection.getTables();
  const ofNone = tables.filter(({ columns }) => !columns.some(({ name }) => name === 'organization_id'));
  expect(ofNone.map(({ name }) => name).filter((name) => !name.startsWith('chunk_words_'))).toEqual(
    OF_NO_ORGANIZATION.filter((table) => tables.some(({ name }) => name === table)),
  );
  for (const { name, columns } of tables.filter((table) => !ofNone.includes(table))) {
    const table = sql.table(name);
    const own = sql`select 1 from ${table} where organization_id = ${organizationId} limit 1`;
    if ((await own.execute(db)).rows.length > 0) continue;
    const values = columns.map((column) => {
      if (column.name === 'organization_id') return organizationId;
      // Rows of a session are removed with the session.
      if (column.name === 'session_id' && name.startsWith('session_')) return sessionId;
      return /text|char/i.test(column.dataType)
        ? `planted ${column.name}`
        : /int|double|float/i.test(column.dataType)
          ? 1
          : null;
    });
    await sql`
      insert into ${table} (${sql.join(columns.map((column) => sql.ref(column.name)))})
      values (${sql.join(values)})`.execute(db);
  }
}

const written = (value: unknown) =>
  value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : String(value);

/** Sends half of a request, waits until the service has admitted it, runs `between`, and sends the rest. */
async function sendAround(service: TestService, path: string, as: string, body: object, between: () => Promise<void>) {
  await service.app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = service.app.server.address() as AddressInfo;
  const admitted = Promise.withResolvers<void>();
  const handlers = channel('tracing:fastify.request.handler:start');
  const onStart = () => admitted.resolve();
  handlers.subscribe(onStart);
  const text = JSON.stringify(body);
  const headers = {
    authorization: `Bearer ${as}`,
    'content-type': 'application/json',
    'content-length': text.length,
    connection: 'close',
  };
  const sent = request({ port, path, method: 'POST', headers });
  const status = new Promise<number | undefined>((resolve, reject) => {
    sent.on('error', reject).on('response', (reply) => resolve(reply.resume().statusCode));
  });
  sent.write(text.slice(0, 1));
  await admitted.promise;
  handlers.unsubscribe(onStart);
  await between();
  sent.end(text.slice(1));
  return status;
}

describe.each(ENGINES)('a person who leaves, on %s', (engine) => {
  let world: World;
  beforeEach(async () => {
    world = await startWorld(engine);
  });
  afterEach(() => world.service.close());

  const idOf = async (as: string) => (await world.service.call('GET', '/v1/me', { as })).body.userId as string;
  const statusOf = async (secret: string) => (await world.service.call('GET', '/v1/secret', { as: secret })).status;

  test.each([
    ['', 401],
    ['?secrets=revoke', 401],
    ['?secrets=keep', 200],
  ])('removed with "%s": their own secrets get %i, and secrets of others keep working', async (query, status) => {
    const { service, ours } = world;
    const secret = await issueSecret(service, ours.admin, 'live');
    expect([await statusOf(secret), await statusOf(ours.live)]).toEqual([200, 200]);
    const path = `/v1/organizations/me/members/${await idOf(ours.admin)}${query}`;
    expect((await service.call('DELETE', path, { as: ours.owner })).status).toBe(200);
    expect([await statusOf(secret), await statusOf(ours.live)]).toEqual([status, 200]);
  });

  test.each([
    ['', 401],
    ['?secrets=revoke', 401],
    ['?secrets=keep', 200],
  ])('left with "%s": their own secrets get %i, and secrets of others keep working', async (query, status) => {
    const { service, ours } = world;
    const secret = await issueSecret(service, ours.admin, 'live');
    expect([await statusOf(secret), await statusOf(ours.live)]).toEqual([200, 200]);
    expect((await service.call('DELETE', `/v1/me/membership${query}`, { as: ours.admin })).status).toBe(200);
    expect([await statusOf(secret), await statusOf(ours.live)]).toEqual([status, 200]);
  });

  test.each([
    ['secrets', 'removed', { name: 'kept for later' }],
    ['secrets', 'demoted', { name: 'kept for later' }],
    ['members', 'removed', { email: 'friend@example.com' }],
    ['members', 'demoted', { email: 'friend@example.com' }],
  ])('adds nothing to %s if they were %s before their request was complete', async (list, what, body) => {
    const { service, ours } = world;
    const path = `/v1/organizations/me/${list}`;
    const show = async () => (await service.call('GET', path, { as: ours.owner })).text;
    const member = `/v1/organizations/me/members/${await idOf(ours.admin)}`;
    const status = await sendAround(service, path, ours.admin, body, async () => {
      const change = { as: ours.owner, body: { role: 'member' } };
      const reply = await (what === 'removed'
        ? service.call('DELETE', member, { as: ours.owner })
        : service.call('PATCH', member, change));
      expect(reply.status).toBe(200);
    });
    expect(status).toBe(403);
    expect(await show()).not.toMatch(/kept for later|friend@example/);
  });

  test('loses their account: afterwards no table has their e-mail or their identity at the provider', async () => {
    const { service, ours } = world;
    const secret = await issueSecret(service, ours.admin, 'live');
    const userId = await idOf(ours.admin);
    expect(await tablesWith(service, ['ours-admin'])).toEqual(['members', 'users']);
    expect((await service.call('DELETE', '/v1/me', { as: ours.admin })).body).toEqual({ userId });
    expect(await tablesWith(service, ['ours-admin'])).toEqual([]);
    // The issuer of a secret and the actor of an entry stay as an id that names nobody any more.
    expect(await tablesWith(service, [userId])).toEqual(['audit_entries', 'masks', 'secrets']);
    expect(await statusOf(secret)).toBe(401);
    const { users } = (await service.call('GET', '/v1/organizations/me/members', { as: ours.owner })).body;
    expect(users.map((user: { userId: string }) => user.userId)).not.toContain(userId);
  });

  test('without an organization loses their account and invitations', async () => {
    const { service, ours } = world;
    const as = await service.identity.token({ subject: 'ours-invited', email: 'ours-invited@example.com' });
    await service.call('DELETE', '/v1/me', { as });
    expect(await tablesWith(service, ['ours-invited'])).toEqual([]);
    expect((await service.call('GET', '/v1/me', { as: ours.owner })).status).toBe(200);
  });
});

describe.each(LOGS)('a deleted organization on %s', (engine) => {
  let world: World;
  beforeEach(async () => {
    world = await startWorld(engine);
  });
  afterEach(async () => {
    await world.service.close();
  });

  test('locks out its members and secrets at once, and leaves nothing in any table', async () => {
    const { service, ours, theirs } = world;
    for (const text of ['planted one', 'planted two']) {
      const body = { events: [{ eventType: 'user.message', payload: { text } }] };
      await service.call('POST', `/v1/sessions/${ours.sessionId}/events`, { as: ours.live, body });
    }
    await whenDerived(service, ours.member, ours.sessionId, 4);
    const { organizationId } = ours;
    await fillTables(world);
    const request = { as: ours.owner, body: { name: 'ours' } };
    const deleted = await service.call('POST', '/v1/organizations/me/deletion', request);
    expect(deleted, deleted.text).toMatchObject({ status: 200, body: { organizationId } });
    expect((await service.call('GET', '/v1/secret', { as: ours.live })).status).toBe(401);
    expect((await service.call('GET', '/v1/organizations/me', { as: ours.owner })).status).toBe(403);
    const afterRounds = async () => {
      for (const round of ['organizations', 'counters'] as const) await service.run(round);
      return tablesWith(service, [organizationId, ours.sessionId, ours.environmentId, ours.secretId]);
    };
    await expect.poll(afterRounds, { timeout: 30_000 }).toEqual([]);
    const theirSession = `/v1/organizations/me/sessions/${theirs.sessionId}/events`;
    expect((await service.call('GET', theirSession, { as: theirs.member })).body.events).toHaveLength(2);
    expect((await service.call('GET', '/v1/secret', { as: theirs.live })).status).toBe(200);
    const founded = await service.call('POST', '/v1/organizations', { as: ours.owner, body: { name: 'ours' } });
    expect(founded.body).toMatchObject({ slug: 'ours' });
  }, 60_000);

  test('has nothing of the events that were on their way while it ended', async () => {
    const { service, ours } = world;
    const texts = [ours.organizationId, ours.sessionId];
    const path = `/v1/sessions/${ours.sessionId}/events`;
    const body = { events: [{ eventType: 'user.message', payload: { text: 'planted' } }] };
    const afterRounds = async () => {
      for (const round of ['organizations', 'counters'] as const) await service.run(round);
      return tablesWith(service, texts);
    };
    const send = () => service.call('POST', path, { as: ours.live, body });
    const status = await sendAround(service, path, ours.live, body, async () => {
      const sent = [send(), send(), send()];
      const deleted = service.call('POST', '/v1/organizations/me/deletion', { as: ours.owner, body: { name: 'ours' } });
      sent.push(send(), send(), send());
      expect((await deleted).status).toBe(200);
      const left = expect.poll(afterRounds, { timeout: 30_000 }).toEqual([]);
      await Promise.all([...sent, left]);
    });
    expect(status).toBeGreaterThanOrEqual(400);
    await expect.poll(afterRounds, { timeout: 30_000 }).toEqual([]);
  }, 90_000);
});

describe.each(ENGINES)('removing deleted organizations on %s', (engine) => {
  test('continues with the others if a session of one cannot be deleted, and reports the error', async () => {
    const world = await startWorld(engine);
    const { service, ours, theirs } = world;
    const { db } = service.store;
    // Otherwise the job of the service's start may remove one of them.
    await service.app.close();
    await db.updateTable('organizations').set({ status: 'deleted' }).execute();
    const removed: string[] = [];
    const removal = removeDeletedOrganizations({
      db,
      signal: new AbortController().signal,
      sessionLog: {
        async delete({ sessionId }) {
          if (sessionId === ours.sessionId) throw new Error('cannot be deleted');
          await db.deleteFrom('appends').where('session_id', '=', sessionId).execute();
          await db.deleteFrom('sessions').where('session_id', '=', sessionId).execute();
          removed.push(sessionId);
        },
      },
      purge: async () => undefined,
    });
    await expect(removal).rejects.toThrow('cannot be deleted');
    expect(removed).toContain(theirs.sessionId);
    expect(removed).toContain(ours.spareSessionId);
    const left = await db.selectFrom('organizations').select('organization_id').execute();
    expect(left.map(({ organization_id }) => organization_id)).toEqual([ours.organizationId]);
    await service.close();
  });
});
