import { createHash } from 'node:crypto';
import { copyFileSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { purgeRemoved } from '../erase/purge.ts';
import { SESSION_TABLES } from '../store/tables.ts';
import { attach, LOGS, reopen, type TestStore } from './engines.ts';
import { issueSecret, openSession, registerMachine, whenDerived } from './factories.ts';
import { settled, startTestService, type TestService } from './harness.ts';
import { startWorld, type World } from './world.ts';

/** All tables with rows of single sessions, apart from the receipts of deletions. */
const REMOVED = SESSION_TABLES.filter((table) => table !== 'removals');
const NOTHING = Object.fromEntries(REMOVED.map((table) => [table, 0]));

/** Counts the rows that the store has of the session, by table. */
async function heldOf({ db }: TestStore, sessionId: string): Promise<Record<string, number>> {
  const counts = REMOVED.map(async (table) => {
    const { rows } = await sql`select 1 from ${sql.table(table)} where session_id = ${sessionId}`.execute(db);
    return [table, rows.length] as const;
  });
  return Object.fromEntries(await Promise.all(counts));
}

/** Adds a row of the session to each table that has none. */
async function fillTables(store: TestStore, organizationId: string, sessionId: string): Promise<void> {
  const known = { organization_id: organizationId, session_id: sessionId };
  const tables = await store.db.introspection.getTables();
  for (const [table, count] of Object.entries(await heldOf(store, sessionId))) {
    if (count > 0) continue;
    const columns = tables.find(({ name }) => name === table)?.columns ?? [];
    const filled = columns.filter(({ name, isNullable }) => name in known || !isNullable);
    const values = filled.map(({ name, dataType }) => {
      if (name in known) return known[name as keyof typeof known];
      if (/text|char/i.test(dataType)) return 'x';
      return /blob|bytea/i.test(dataType) ? Buffer.of() : 1;
    });
    // The service may fill a table meanwhile: it signs the head of a session.
    await sql`
      insert into ${sql.table(table)} (${sql.join(filled.map(({ name }) => sql.ref(name)))})
      values (${sql.join(values)}) on conflict do nothing`.execute(store.db);
  }
}

/** Leaves the session in the state of a process that stops before the purge. */
async function markDeleted({ db }: TestStore, organizationId: string, sessionId: string): Promise<void> {
  const marked = { deleted_at: 1, status: 'failed' } as const;
  await db.updateTable('sessions').set(marked).where('session_id', '=', sessionId).execute();
  const row = {
    session_id: sessionId,
    organization_id: organizationId,
    what: 'session',
    plane: 'live',
    client_key: null,
  } as const;
  await db
    .insertInto('removals')
    .values({
      ...row,
      environment_id: 'env_1',
      requested_at: 1,
      finished_at: null,
      event_count: 0,
      last_event_at: null,
      ...NOBODY,
    })
    .execute();
}

const NOBODY = { by_kind: null, by_id: null, days: null, target_kind: null, target_id: null, kept: null, digest: null };

describe.each(LOGS)('a deleted session on %s', (engine) => {
  let world: World;
  beforeEach(async () => {
    world = await startWorld(engine);
  });
  afterEach(async () => {
    vi.useRealTimers();
    await world.service.close();
  });

  const heldAfterPurge = async (service: TestService, sessionId: string) => {
    await service.run('purge');
    return heldOf(service.store, sessionId);
  };

  const fill = async (appends: number) => {
    const { service, ours } = world;
    const sessionId = await openSession(service, ours.live, ours);
    for (let i = 0; i < appends; i++) {
      const body = { events: [{ eventType: 'user.message', payload: { text: `planted secret ${i}` } }] };
      await service.call('POST', `/v1/sessions/${sessionId}/events`, { as: ours.live, body });
    }
    return sessionId;
  };
  const remove = (sessionId: string) =>
    world.service.call('DELETE', `/v1/organizations/me/sessions/${sessionId}`, { as: world.ours.admin });

  test('leaves nothing in the store', async () => {
    const { service, ours } = world;
    const sessionId = await fill(45);
    await service.call('GET', `/v1/organizations/me/session-summaries?sessionIds=${sessionId}`, { as: ours.member });
    expect((await remove(sessionId)).status).toBe(200);
    await expect.poll(() => heldOf(service.store, sessionId)).toEqual(NOTHING);
  });

  test('leaves no row in any table of sessions', async () => {
    const { service, ours } = world;
    const sessionId = await fill(2);
    await whenDerived(service, ours.member, sessionId, 2);
    await fillTables(service.store, ours.organizationId, sessionId);
    expect(Object.values(await heldOf(service.store, sessionId))).not.toContain(0);
    expect((await remove(sessionId)).status).toBe(200);
    await expect.poll(() => heldOf(service.store, sessionId)).toEqual(NOTHING);
  });

  test('leaves a receipt of the stored data, even if another process removes the rest', async () => {
    const { service, ours } = world;
    const sessionId = await fill(45);
    await settled(service.store.bus);
    const stored = await service.store.db
      .selectFrom('appends')
      .select('body')
      .where('session_id', '=', sessionId)
      .orderBy('first_sequence')
      .execute();
    const digest = stored.reduce(
      (before, { body }) => createHash('sha256').update(before).update(body).digest(),
      Buffer.of(),
    );
    const bytes = stored.reduce((sum, { body }) => sum + body.byteLength, 0);
    await remove(sessionId);
    // Runs at the same time as the service's own purge.
    await purgeRemoved(service.store.db, () => service.clock.now);
    const path = `/v1/organizations/me/sessions/${sessionId}/receipt`;
    const read = async () => (await service.call('GET', path, { as: ours.admin })).body;
    const removed = { why: 'person', events: 45, appends: 45, bytes, digest: digest.toString('hex') };
    await expect.poll(read).toMatchObject({ ...removed, removedAt: expect.any(String) });
    const log = '/v1/organizations/me/audit?action=session.removed';
    const { entries } = (await service.call('GET', log, { as: ours.admin })).body;
    expect(entries).toMatchObject([{ target: { id: sessionId }, details: removed }]);
  });

  test('leaves nothing in the store even if its facts cannot be read', async () => {
    const { service, ours } = world;
    const sessionId = await fill(2);
    await service.call('GET', `/v1/organizations/me/session-summaries?sessionIds=${sessionId}`, { as: ours.member });
    const { db } = service.store;
    await db
      .updateTable('session_facts')
      .set({ facts: Buffer.from('not packed') })
      .where('session_id', '=', sessionId)
      .execute();
    expect((await remove(sessionId)).status).toBe(200);
    await expect.poll(() => heldOf(service.store, sessionId)).toEqual(NOTHING);
  });

  test('is removed by the next process if the first process stopped', async () => {
    const { service, ours } = world;
    const sessionId = await fill(3);
    await markDeleted(service.store, ours.organizationId, sessionId);
    const next = await startTestService(engine, {}, service.store);
    await expect.poll(() => heldOf(service.store, sessionId)).toEqual(NOTHING);
    await next.close();
    await purgeRemoved(service.store.db, () => 2);
    const { rows } = await sql<{ finished: number }>`SELECT count(*) AS finished FROM removals
      WHERE finished_at IS NOT NULL`.execute(service.store.db);
    expect(Number(rows[0]?.finished)).toBe(1);
  });

  test('is removed by the next round in any case', async () => {
    const { service, ours } = world;
    const sessionId = await fill(1);
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const next = await startTestService(engine, {}, service.store);
    await markDeleted(service.store, ours.organizationId, sessionId);
    await expect.poll(() => heldAfterPurge(next, sessionId), { timeout: 60_000 }).toEqual(NOTHING);
    await next.close();
    expect(vi.getTimerCount()).toBe(0);
  });

  test('may have been idle for longer than the retention period', async () => {
    const { service, ours } = world;
    const [old, recent] = [await fill(2), await fill(2)];
    await settled(service.store.bus);
    for (const [sessionId, days] of [
      [old, 30],
      [recent, 28],
    ] as const) {
      const past = service.clock.now - days * 86_400_000;
      const changed = { created_at: past, updated_at: past };
      await service.store.db.updateTable('sessions').set(changed).where('session_id', '=', sessionId).execute();
    }
    const keepsThem = await startTestService(engine, {}, service.store);
    await keepsThem.app.close();
    expect(await heldOf(service.store, old)).toMatchObject({ sessions: 1, appends: 2 });

    const next = await startTestService(engine, { RETENTION_DAYS: 29 }, service.store);
    await expect.poll(() => heldOf(service.store, old)).toEqual(NOTHING);
    await next.app.close();
    expect(await heldOf(service.store, recent)).toMatchObject({ sessions: 1, appends: 2 });
    const body = { events: [{ eventType: 'notice' }] };
    const late = await service.call('POST', `/v1/sessions/${old}/events`, { as: ours.live, body });
    expect(late).toMatchObject({ status: 404, body: { code: 'session_deleted' } });
  });

  test('is distinguished from an expired session until a person deletes that one too', async () => {
    const { service, ours } = world;
    const key = (name: string) => name.padEnd(43, '_');
    const capture = async (...sessions: object[]) => {
      const place = { environmentId: ours.environmentId, agentInstallationId: ours.installationId };
      const body = { sessions: sessions.map((session) => ({ ...place, ...session })) };
      return (await service.call('POST', '/v1/captured-sessions', { as: ours.live, body })).body.results;
    };
    const append = (sessionId: string, idempotencyKey: string) => {
      const body = { events: [{ eventType: 'notice' }, { eventType: 'notice' }], idempotencyKey };
      return service.call('POST', `/v1/sessions/${sessionId}/events`, { as: ours.live, body });
    };
    const [{ session: old }, { session: deleted }] = await capture({ clientKey: key('a') }, { clientKey: key('b') });
    expect((await append(old.sessionId, 'the-first')).status).toBeLessThan(300);
    await settled(service.store.bus);
    const { db } = service.store;
    const past = service.clock.now - 30 * 86_400_000;
    const changed = { created_at: past - 1, updated_at: past };
    await db.updateTable('sessions').set(changed).where('session_id', '=', old.sessionId).execute();
    await db.updateTable('appends').set({ created_at: past }).where('session_id', '=', old.sessionId).execute();
    const lastEventAt = new Date(past).toISOString();
    await remove(deleted.sessionId);
    const next = await startTestService(engine, { RETENTION_DAYS: 29 }, service.store);
    await expect.poll(() => heldAfterPurge(next, old.sessionId), { timeout: 60_000 }).toEqual(NOTHING);
    await next.app.close();

    const asked = [{ clientKey: key('a') }, { clientKey: key('b') }, { clientKey: key('c'), continues: key('a') }];
    expect(await capture(...asked)).toMatchObject([
      { clientKey: key('a'), outcome: 'expired', eventCount: 2, lastEventAt },
      { clientKey: key('b'), outcome: 'deleted' },
      { clientKey: key('c'), outcome: 'opened' },
    ]);
    for (const idempotencyKey of ['a-new-one', 'the-first']) {
      const late = await append(old.sessionId, idempotencyKey);
      expect(late).toMatchObject({ status: 404, body: { code: 'session_deleted' } });
    }
    const other = await issueSecret(service, ours.owner, 'live');
    await registerMachine(service, other);
    const refused = await service.call('DELETE', `/v1/captured-sessions/${key('a')}`, { as: other });
    expect(refused).toMatchObject({ status: 403, body: { code: 'other_machine' } });
    expect(await capture({ clientKey: key('a') })).toMatchObject([{ outcome: 'expired' }]);
    const gone = await service.call('DELETE', `/v1/captured-sessions/${key('a')}`, { as: ours.live });
    expect(gone).toMatchObject({ status: 200, body: { sessionId: old.sessionId } });
    expect(await capture({ clientKey: key('a') })).toEqual([{ clientKey: key('a'), outcome: 'deleted' }]);
  });

  test('of many appends delays no process from closing', async () => {
    const { service, ours } = world;
    const sessionId = await fill(1);
    await settled(service.store.bus);
    const { db } = service.store;
    const numbers =
      engine === 'sqlite'
        ? sql`(with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000) select i from n)`
        : sql`(select i from generate_series(1, 20000) as i)`;
    await sql`
      insert into appends (session_id, first_sequence, last_sequence, organization_id, append_id, created_at, codec, body)
      select session_id, first_sequence + i, last_sequence + i, organization_id, append_id || i, created_at, codec, body
      from appends, ${numbers} as n where session_id = ${sessionId}`.execute(db);
    await markDeleted(service.store, ours.organizationId, sessionId);
    const next = await startTestService(engine, {}, service.store);
    await next.app.close();
    expect((await heldOf(service.store, sessionId)).appends).toBeGreaterThan(0);
  });

  test('is removed from the links of the session that continues it', async () => {
    const { service, ours } = world;
    const [first, second] = ['first-of-the-two', 'second-of-the-two'];
    const place = { environmentId: ours.environmentId, agentInstallationId: ours.installationId };
    const sessions = [
      { clientKey: first, ...place },
      { clientKey: second, continues: first, forkedFrom: first, ...place },
    ];
    const { body } = await service.call('POST', '/v1/captured-sessions', { as: ours.live, body: { sessions } });
    const [one, other] = body.results.map(({ session }: { session: { sessionId: string } }) => session.sessionId);
    const path = `/v1/organizations/me/session-summaries?sessionIds=${other}`;
    const find = async () => (await service.call('GET', path, { as: ours.member })).body.summaries[0];
    expect(await find()).toMatchObject({ continues: one, forkedFrom: one });
    await markDeleted(service.store, ours.organizationId, one);
    const { continues, forkedFrom } = await find();
    expect([continues, forkedFrom]).toEqual([undefined, undefined]);
  });

  test('is announced on the live stream', async () => {
    const { service, ours } = world;
    const sessionId = await fill(1);
    const stream = service.app.inject({
      url: '/v1/organizations/me/live',
      headers: { authorization: `Bearer ${ours.member}` },
      payloadAsStream: true,
    });
    const body = (await stream).stream();
    const told = body
      .filter((chunk) => String(chunk).includes('"deleted"'))
      .take(1)
      .toArray();
    await remove(sessionId);
    expect(String(await told)).toContain(`"sessionId":"${sessionId}"`);
  });
});

describe('the embedded store', () => {
  let world: World;
  beforeEach(async () => {
    world = await startWorld('sqlite');
  });
  afterEach(() => world.service.close());

  const MARKER = 'unmistakable';
  const append = async (sessionId: string, text: string) => {
    const body = { events: [{ eventType: 'user.message', payload: { text } }] };
    await world.service.call('POST', `/v1/sessions/${sessionId}/events`, { as: world.ours.live, body });
  };
  /** Names the files of the store that contain the marker. */
  const filesWithMarker = ({ dataDir }: TestStore) =>
    readdirSync(dataDir).filter(
      (name) => name.startsWith('session-capture.sqlite') && readFileSync(join(dataDir, name)).includes(MARKER),
    );
  const deleteMarked = async () => {
    const { service, ours } = world;
    const sessionId = await openSession(service, ours.live, ours);
    await append(sessionId, MARKER);
    const find = `/v1/organizations/me/session-summaries?sessionIds=${sessionId}`;
    await service.call('GET', find, { as: ours.member });
    // The marker is in the log, or in the file if the service has just emptied its log.
    expect(filesWithMarker(service.store)).not.toEqual([]);
    await service.call('DELETE', `/v1/organizations/me/sessions/${sessionId}`, { as: ours.admin });
    await expect.poll(() => heldOf(service.store, sessionId)).toEqual(NOTHING);
  };

  test('has nothing of a deleted session in its file and its log soon after the deletion', async () => {
    await deleteMarked();
    await expect.poll(() => filesWithMarker(world.service.store), { timeout: 60_000 }).toEqual([]);
  });

  test('keeps a deleted session in its log while a reader needs it, and removes it afterwards', async () => {
    const reader = new DatabaseSync(join(world.service.store.dataDir, 'session-capture.sqlite'), { readOnly: true });
    const sessionId = await openSession(world.service, world.ours.live, world.ours);
    await append(sessionId, 'before');
    reader.exec('begin');
    reader.prepare('select count(*) from sessions').get();
    await deleteMarked();
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    expect(filesWithMarker(world.service.store)).toContain('session-capture.sqlite-wal');
    // The writer continues meanwhile.
    await append(sessionId, 'meanwhile');
    reader.exec('commit');
    await expect.poll(() => filesWithMarker(world.service.store), { timeout: 60_000 }).toEqual([]);
    reader.close();
  });

  test('removes sessions from its log that a killed process has deleted', async () => {
    const { service } = world;
    // While a reader is open, the service cannot empty its log before the copy.
    const reader = new DatabaseSync(join(service.store.dataDir, 'session-capture.sqlite'), { readOnly: true });
    reader.exec('begin');
    reader.prepare('select count(*) from sessions').get();
    await deleteMarked();
    // A copy of the files of a running service equals the files of a killed process.
    const dataDir = mkdtempSync(join(tmpdir(), 'capture-killed-'));
    for (const name of readdirSync(service.store.dataDir).filter((file) => file.includes('.sqlite'))) {
      copyFileSync(join(service.store.dataDir, name), join(dataDir, name));
    }
    reader.close();
    const store = await attach(dataDir, undefined);
    expect(filesWithMarker(store)).toEqual(['session-capture.sqlite-wal']);
    const next = await startTestService('sqlite', {}, store);
    await expect.poll(() => filesWithMarker(store), { timeout: 60_000 }).toEqual([]);
    await next.close();
  });

  test('has nothing of a deleted session in its file once it is closed', async () => {
    await deleteMarked();
    await world.service.app.close();
    const store = await reopen(world.service.store);
    await store.close();
    expect(filesWithMarker(store)).toEqual([]);
    await store.dispose();
  });
});
