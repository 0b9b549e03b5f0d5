import { generateKeyPairSync } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { zstdDecompressSync } from 'node:zlib';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { patience, times } from '../../contract/test/runs.ts';
import { AuditKey } from '../audit/heads.ts';
import { withoutContentIn } from '../derive/review.ts';
import { applyRetention } from '../erase/apply-retention.ts';
import { restoreKept } from '../erase/content-expiry.ts';
import { unpackKept } from '../erase/kept-rows.ts';
import { purgeRemoved } from '../erase/purge.ts';
import { SessionLog } from '../ingest/session-log.ts';
import { claimSession } from '../store/derived.ts';
import { removeAllDerived } from '../store/derived-removal.ts';
import { forShare } from '../store/dialect.ts';
import { finishRemoval, nextDigest } from '../store/removals.ts';
import type { Db } from '../store/schema.ts';
import { CONTENT_COLUMNS, TEXT_COLUMNS } from '../store/session-columns.ts';
import { exportRows } from '../transfer/export.ts';
import { VERSION_HERE } from './derived.ts';
import { ENGINES } from './engines.ts';
import { openSession } from './factories.ts';
import { startTestService } from './harness.ts';
import { startWorld, type World } from './world.ts';

const DAY_MS = 86_400_000;
const MARK = 'zqmarker';
const DAYS = { from: '2026-01-01', to: '2026-12-31' };
const ROUNDS = times(12);
const ignore = () => undefined;
/** Sorted, because PostgreSQL returns rows in no order. */
const sorted = (rows: object[]) =>
  rows
    .map((row) => JSON.stringify(row))
    .sort()
    .map((row) => JSON.parse(row));

const EVENTS = [
  { eventType: 'session.meta', payload: { title: `${MARK}title`, repository: 'https://h.test/own/one' } },
  { eventType: 'message.user', payload: { text: `${MARK}prompt please` } },
  { eventType: 'tool.call', payload: { name: 'Bash', callId: 'c1', input: { command: `${MARK}command --now` } } },
  { eventType: 'tool.result', payload: { callId: 'c1', output: `${MARK}output`, isError: false } },
  {
    eventType: 'tool.call',
    payload: { name: 'Bash', callId: 'c2', input: { command: `git commit -m "${MARK}commit"` } },
  },
  { eventType: 'tool.result', payload: { callId: 'c2', output: `[main a1b2c3d] ${MARK}commit\n 1 file changed` } },
  { eventType: 'message.assistant', payload: { text: `${MARK}answer`, model: 'gpt-5' } },
];

describe.each(ENGINES)('expired content on %s', (engine) => {
  let world: World;
  beforeEach(async () => {
    world = await startWorld(engine);
  });
  afterEach(async () => {
    vi.useRealTimers();
    await world.service.close();
  });

  const get = async (path: string, as = world.ours.member) => (await world.service.call('GET', path, { as })).body;
  const facts = (id: string) => get(`/v1/organizations/me/sessions/${id}/facts`);

  /** A derived session that ended this many days ago. */
  async function past(isOpen = false, days = 40): Promise<string> {
    const { service, ours } = world;
    const id = await openSession(service, ours.live, ours);
    await service.call('POST', `/v1/sessions/${id}/events`, { as: ours.live, body: { events: EVENTS } });
    if (!isOpen) await service.call('POST', `/v1/sessions/${id}/complete`, { as: ours.live, body: {} });
    await expect.poll(async () => (await facts(id)).summary?.summarizedThrough).toBe(EVENTS.length);
    const at = service.clock.now - days * DAY_MS;
    const { db } = service.store;
    await db.updateTable('sessions').set({ created_at: at, updated_at: at }).where('session_id', '=', id).execute();
    return id;
  }

  const setPolicy = async (retention: object[]) => {
    const asked = { as: world.ours.owner, body: { retention } };
    expect((await world.service.call('PUT', '/v1/organizations/me/policy', asked)).status).toBe(200);
  };
  const ORGANIZATION = { target: { kind: 'organization' }, contentDays: 30 };

  /** Marks the content as expired, and leaves it in the store. */
  async function expire(): Promise<void> {
    const { store, clock } = world.service;
    const { db, journal } = store;
    const now = () => clock.now;
    const sessionLog = new SessionLog({ db, journal, committed: ignore, now });
    const told = { version: VERSION_HERE, withoutContent: withoutContentIn, onContentGone: ignore, bounds: {} };
    await applyRetention({ db, sessionLog, ...told, now, signal: new AbortController().signal });
  }

  /** Does the work of one hourly run. */
  async function run(): Promise<void> {
    const { store, clock } = world.service;
    await expire();
    await purgeRemoved(store.db, () => clock.now);
  }

  test('have nothing in the columns of the session that may have content', async () => {
    const id = await past();
    const { db } = world.service.store;
    const texts = Object.fromEntries(TEXT_COLUMNS.map((name) => [name, `${MARK} ${name}`]));
    await db.updateTable('sessions').set(texts).where('session_id', '=', id).execute();
    await setPolicy([ORGANIZATION]);
    await run();
    const row = await db.selectFrom('sessions').selectAll().where('session_id', '=', id).executeTakeFirstOrThrow();
    const gone = Object.fromEntries(CONTENT_COLUMNS.map((name) => [name, null]));
    expect(row).toMatchObject({ ...texts, ...gone });
  });

  test('are gone from every table, and facts and sums stay as they were', async () => {
    const { service, ours } = world;
    const id = await past();
    const other = await past();
    await service.call('POST', '/v1/organizations/me/holds', {
      as: ours.admin,
      body: { target: { kind: 'session', id: other }, reason: 'a lawsuit' },
    });
    await setPolicy([ORGANIZATION]);
    const usage = `/v1/organizations/me/usage?from=${DAYS.from}&to=${DAYS.to}`;
    const sums = async () => {
      const { total, days, groups, tools, hours } = await get(usage);
      return { total, days, groups, tools, hours };
    };
    const [before, summed] = [await facts(id), await sums()];
    expect(before).toMatchObject({
      contentKeptUntil: { days: 30 },
      commands: [{ command: `${MARK}command --now` }, {}],
    });
    await run();
    const after = await facts(id);
    expect(JSON.stringify(after)).not.toContain(MARK);
    expect(after).toMatchObject({
      contentRemoved: { days: 30, target: { kind: 'organization' } },
      tools: before.tools,
      files: before.files,
      usage: before.usage,
      commands: [],
      summary: { toolCalls: before.summary.toolCalls, repository: before.summary.repository },
    });
    expect(await sums()).toEqual(summed);
    const { db } = service.store;
    for (const table of ['appends', 'session_chunks', 'stored_bytes'] as const) {
      const rows = db.selectFrom(table).select('session_id').where('session_id', '=', id);
      expect(await rows.execute(), table).toEqual([]);
    }
    // All tables that exist. The index of words cannot be listed: the search below queries it.
    for (const { name } of await db.introspection.getTables()) {
      if (name === 'chunk_words') continue;
      const { rows } = await sql<object>`select * from ${sql.table(name)}`.execute(db);
      const texts = rows.map((row) => JSON.stringify(row)).filter((text) => !text.includes(other));
      expect(texts.join('\n'), name).not.toContain(MARK);
    }
    const [expired] = await db.selectFrom('removals').select('kept').where('session_id', '=', id).execute();
    expect(JSON.stringify(unpackKept(expired?.kept ?? ''))).not.toContain(MARK);
    for (const path of ['events', 'index']) {
      const reply = await service.call('GET', `/v1/organizations/me/sessions/${id}/${path}`, { as: ours.owner });
      expect(reply).toMatchObject({ status: 403, body: { code: 'content_withheld' } });
    }
    const found = await get(`/v1/organizations/me/search?q=${MARK}prompt`);
    expect(found.sessions.map(({ session }: { session: { sessionId: string } }) => session.sessionId)).toEqual([other]);
    const receipt = await get(`/v1/organizations/me/sessions/${id}/receipt`, ours.admin);
    expect(receipt).toMatchObject({
      why: 'policy',
      events: EVENTS.length,
      appends: 1,
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const { entries } = await get('/v1/organizations/me/audit?action=session.content_expired', ours.admin);
    expect(entries).toMatchObject([{ target: { kind: 'session', id }, details: { events: EVENTS.length } }]);
    expect((await facts(other)).summary.title).toContain(MARK);
    await run();
    expect((await get(usage)).total).toEqual(summed.total);
  });

  test('are gone from derived rows that are rebuilt after all derived rows were emptied', async () => {
    const id = await past();
    await setPolicy([ORGANIZATION]);
    await run();
    const { db } = world.service.store;
    const read = () =>
      Promise.all(
        (['session_facts', 'session_values', 'session_days'] as const).map((table) =>
          db.selectFrom(table).selectAll().where('session_id', '=', id).execute().then(sorted),
        ),
      );
    const before = await read();
    await removeAllDerived(db);
    await facts(id);
    await expect.poll(read).toEqual(before);
    expect(before[0]).toMatchObject([{ is_final: 1, claimed_until: 0 }]);
  });

  test('are either kept by a concurrent hold, or gone before the hold was answered', async () => {
    const { service, ours } = world;
    const { db } = service.store;
    await setPolicy([ORGANIZATION]);
    const ids = await Promise.all(Array.from({ length: 6 }, () => past()));
    const gone = async () => {
      const rows = db.selectFrom('sessions').select('session_id').where('content_expired_at', 'is not', null);
      return sorted(await rows.where('session_id', 'in', ids).execute());
    };
    let total = 0;
    for (let round = 0; round < ROUNDS; round++) {
      await db.updateTable('sessions').set({ content_expired_at: null }).where('session_id', 'in', ids).execute();
      await db.deleteFrom('removals').execute();
      const body = { target: { kind: 'everything' }, reason: 'a lawsuit' };
      const placing = async () => {
        await pause(round * 5);
        const reply = await service.call('POST', '/v1/organizations/me/holds', { as: ours.admin, body });
        return { holdId: reply.body.hold.holdId as string, goneAtOnce: await gone() };
      };
      const [{ holdId, goneAtOnce }] = await Promise.all([placing(), expire()]);
      expect(await gone()).toEqual(goneAtOnce);
      total += goneAtOnce.length;
      await service.call('DELETE', `/v1/organizations/me/holds/${holdId}`, { as: ours.admin });
    }
    expect(total).toBeGreaterThan(0);
    await expire();
    expect(await gone()).toHaveLength(ids.length);
  });

  test('wait for a mask in progress, and the kept facts have nothing of the masked text', async () => {
    const { db } = world.service.store;
    const id = await past(false, 33);
    await setPolicy([ORGANIZATION]);
    const mine = { session_id: id, organization_id: world.ours.organizationId };
    const none = { events: 0, fields: 0, places: 0, sessions: 0, found: 0, held: 0, damaged: 0 };
    const given = {
      ...mine,
      ...none,
      mask_id: 'msk_1',
      mark: 'm',
      requested_by: 'usr_1',
      is_dry: 0,
      accepted_events: 0,
      requested_at: 1,
    };
    const meanwhile = async (work: (transaction: Db) => Promise<void>) => {
      let expiring: Promise<void> | undefined;
      await db.transaction().execute(async (transaction) => {
        await work(transaction);
        expiring = expire();
        await pause(100);
      });
      await expiring;
      const row = db.selectFrom('sessions').select('content_expired_at').where('session_id', '=', id);
      expect(await row.execute()).toEqual([{ content_expired_at: null }]);
    };
    // As at the start of masking.
    await meanwhile(async (transaction) => {
      await sql`select 1 from sessions where session_id = ${id} ${forShare(transaction)}`.execute(transaction);
      await transaction.insertInto('masks').values(given).execute();
    });
    // As at the end of masking: the derived rows go in the same transaction, and are derived again.
    await meanwhile(async (transaction) => {
      await transaction.updateTable('sessions').set({ masks: 1 }).where('session_id', '=', id).execute();
      await transaction.deleteFrom('session_facts').where('session_id', '=', id).execute();
      await transaction.updateTable('masks').set({ finished_at: 2 }).where('mask_id', '=', 'msk_1').execute();
    });
    await expect.poll(async () => (await facts(id)).summary?.summarizedThrough).toBe(EVENTS.length);
    await expire();
    expect(await facts(id)).toMatchObject({ contentRemoved: { days: 30 }, tools: [{ name: 'Bash' }] });
  });

  test('are removed a week later if nothing could be derived from them', async () => {
    const { db } = world.service.store;
    await setPolicy([ORGANIZATION]);
    const [early, late] = [await past(false, 36), await past(false, 38)];
    // A session that was closed and read waits twice in the queue, so it may be derived again after the first removal.
    const removal = db.deleteFrom('session_facts').where('session_id', 'in', [early, late]);
    await expect.poll(async () => Number((await removal.executeTakeFirst()).numDeletedRows), { interval: 200 }).toBe(0);
    await expire();
    const gone = db.selectFrom('sessions').select('session_id').where('content_expired_at', 'is not', null);
    expect(await gone.execute()).toEqual([{ session_id: late }]);
    expect(await facts(late)).toMatchObject({ contentRemoved: { days: 30 }, commands: [], tools: [] });
  });

  test('are not derived again for an earlier reader after all derived rows were emptied', async () => {
    const { db } = world.service.store;
    const id = await past();
    const mine = () => db.selectFrom('sessions').selectAll().where('session_id', '=', id).executeTakeFirstOrThrow();
    const before = await mine();
    await setPolicy([ORGANIZATION]);
    await run();
    const read = () => db.selectFrom('session_facts').selectAll().where('session_id', '=', id).execute();
    const kept = await read();
    expect(await claimSession(db, before, world.service.clock.now, world.service.clock.now + 1)).toBeUndefined();
    expect(await read()).toEqual(kept);
    await db.deleteFrom('session_facts').where('session_id', '=', id).execute();
    expect(await claimSession(db, before, world.service.clock.now, 0)).toBeUndefined();
    expect(await restoreKept(db, await mine())).toBe(true);
    expect(await read()).toEqual(kept);
  });

  test('are in no export during their removal, and an export of their person has the kept data', async () => {
    const { store, clock } = world.service;
    const { ours } = world;
    const id = await past();
    await store.db.updateTable('sessions').set({ user_id: ours.memberId }).where('session_id', '=', id).execute();
    await setPolicy([ORGANIZATION]);
    await expire();
    const folder = mkdtempSync(join(tmpdir(), 'capture-expiry-'));
    const key = new AuditKey(generateKeyPairSync('ed25519').privateKey);
    for (const person of [undefined, ours.memberId]) {
      const file = join(folder, `${person}.export`);
      const asked = { db: store.db, organization: 'ours', person, file, key, now: () => clock.now };
      const rows = await exportRows(asked);
      expect(zstdDecompressSync(readFileSync(file)).toString()).not.toContain(MARK);
      expect(rows.get('removals')).toBe(1);
    }
    rmSync(folder, { recursive: true });
  });

  test('of an open session expire after its close, counted from its last change, and its client continues in a new session', async () => {
    const { service, ours } = world;
    const id = await past(true);
    await setPolicy([ORGANIZATION]);
    await run();
    await expect
      .poll(() =>
        run()
          .then(() => facts(id))
          .then(({ contentRemoved }) => contentRemoved?.days),
      )
      .toBe(30);
    const { session } = await get(`/v1/organizations/me/sessions/${id}`);
    expect(session).toMatchObject({ status: 'failed', updatedAt: session.endedAt });
    const sent = { as: ours.live, body: { events: EVENTS } };
    expect(await service.call('POST', `/v1/sessions/${id}/events`, sent)).toMatchObject({
      status: 409,
      body: { code: 'session_closed' },
    });
  });

  test('are counted before the rules are saved, and the deletion takes over their receipt', async () => {
    const { service, ours } = world;
    const id = await past();
    const preview = { as: ours.owner, body: { retention: [ORGANIZATION] } };
    expect(await service.call('POST', '/v1/organizations/me/retention-preview', preview)).toMatchObject({
      status: 200,
      body: { content: 1, contentHeld: 0, facts: 0, factsHeld: 0 },
    });
    await setPolicy([ORGANIZATION]);
    await run();
    const path = `/v1/organizations/me/sessions/${id}`;
    const before = await get(`${path}/receipt`, ours.admin);
    await service.call('DELETE', path, { as: ours.owner });
    await expect
      .poll(() => get(`${path}/receipt`, ours.admin))
      .toMatchObject({ why: 'person', events: before.events, digest: before.digest });
    const removals = await service.store.db.selectFrom('removals').selectAll().execute();
    expect(removals).toMatchObject([{ session_id: id, what: 'session', kept: null, days: null }]);
  });

  test('are in the audit log although their session is deleted at once, and so is an expired session that is then forgotten', async () => {
    const { service, ours } = world;
    const [withoutContent, forgotten] = [await past(), await past(false, 90)] as const;
    await setPolicy([{ ...ORGANIZATION, factsDays: 60 }]);
    await expire();
    for (const id of [withoutContent, forgotten]) {
      const path = `/v1/organizations/me/sessions/${id}`;
      await service.call('DELETE', path, { as: ours.owner });
    }
    await run();
    const entriesOf = async (action: string) =>
      (await get(`/v1/organizations/me/audit?action=${action}`, ours.admin)).entries;
    const entry = { actor: { kind: 'service', id: 'retention' }, details: { events: EVENTS.length } };
    const about = (id: string) => [{ ...entry, target: { kind: 'session', id } }];
    expect(await entriesOf('session.content_expired')).toMatchObject(about(withoutContent));
    expect(await entriesOf('session.expired')).toMatchObject(about(forgotten));
  });

  test('leave the time of the last event to a session that expires later', async () => {
    const { db } = world.service.store;
    const id = await past();
    await setPolicy([ORGANIZATION]);
    await run();
    const find = () => db.selectFrom('removals').selectAll().where('session_id', '=', id).executeTakeFirstOrThrow();
    const { last_event_at } = await find();
    const session = db.selectFrom('sessions').select('created_at').where('session_id', '=', id);
    expect(Number(last_event_at)).toBeGreaterThan(Number((await session.executeTakeFirstOrThrow()).created_at));
    await setPolicy([{ ...ORGANIZATION, factsDays: 35 }]);
    await run();
    expect(await find()).toMatchObject({ what: 'session', last_event_at });
    const { entries } = await get('/v1/organizations/me/audit?action=session.expired', world.ours.admin);
    expect(entries).toMatchObject([{ target: { kind: 'session', id }, details: { events: EVENTS.length } }]);
  });

  test('that a stopped process has removed in part are in one receipt with the rest, which a deletion removes', async () => {
    const { service, ours } = world;
    const { db } = service.store;
    const id = await past(true);
    for (let batch = 0; batch < 24; batch++) {
      const body = { events: [{ eventType: 'notice', payload: { batch } }] };
      expect((await service.call('POST', `/v1/sessions/${id}/events`, { as: ours.live, body })).status).toBe(200);
    }
    await service.call('POST', `/v1/sessions/${id}/complete`, { as: ours.live, body: {} });
    await expect.poll(async () => (await facts(id)).summary?.summarizedThrough).toBe(EVENTS.length + 24);
    const at = service.clock.now - 40 * DAY_MS;
    await db.updateTable('sessions').set({ updated_at: at }).where('session_id', '=', id).execute();
    const appends = await db
      .selectFrom('appends')
      .selectAll()
      .where('session_id', '=', id)
      .orderBy('first_sequence')
      .execute();
    await setPolicy([ORGANIZATION]);
    await expire();
    let asked = 0;
    const stopsAfterOneSlice = {
      get aborted() {
        return ++asked > 2;
      },
    } as AbortSignal;
    await purgeRemoved(db, () => service.clock.now, { signal: stopsAfterOneSlice });
    const path = `/v1/organizations/me/sessions/${id}`;
    const half = await get(`${path}/receipt`, ours.admin);
    expect(half).toMatchObject({ why: 'policy', appends: 20 });
    expect(half).not.toHaveProperty('removedAt');
    await service.call('DELETE', path, { as: ours.owner });
    // The removal of content that another process has begun does not end the deletion.
    await db
      .transaction()
      .execute((transaction) =>
        finishRemoval(transaction, { organizationId: ours.organizationId, sessionId: id }, 'content', 1),
      );
    await purgeRemoved(db, () => service.clock.now);
    const digest = appends.reduce<string | null>((before, { body }) => nextDigest(before, body), null);
    await expect
      .poll(() => get(`${path}/receipt`, ours.admin))
      .toMatchObject({
        ...{ why: 'person', appends: 25, events: EVENTS.length + 24, digest },
        removedAt: new Date(service.clock.now).toISOString(),
      });
    expect(await db.selectFrom('appends').select('append_id').where('session_id', '=', id).execute()).toEqual([]);
  });

  test('stay if a rule for the repository or the plane says so', async () => {
    const id = await past();
    await setPolicy([ORGANIZATION, { target: { kind: 'repository', id: 'h.test/own/one' }, contentDays: null }]);
    await run();
    expect((await facts(id)).summary.title).toContain(MARK);
    await setPolicy([ORGANIZATION, { target: { kind: 'plane', id: 'live' }, contentDays: 50 }]);
    await run();
    expect((await facts(id)).contentKeptUntil).toMatchObject({ days: 50, target: { kind: 'plane', id: 'live' } });
  });

  test('leave the file of SQLite and its log within 30 s', { timeout: patience(60_000) }, async () => {
    if (engine !== 'sqlite') return;
    const { store } = world.service;
    const next = await startTestService(engine, {}, store);
    const id = await past();
    await setPolicy([ORGANIZATION]);
    await expire();
    const { db } = store;
    const { rows } = await sql<{ file: string }>`select file from pragma_database_list where name = 'main'`.execute(db);
    const file = rows[0]?.file ?? '';
    const isLeft = () => [file, `${file}-wal`].some((path) => existsSync(path) && readFileSync(path).includes(MARK));
    expect(isLeft()).toBe(true);
    // The first call may join the run of the service's start.
    for (const round of ['purge', 'purge'] as const) await next.run(round);
    await expect.poll(isLeft, { timeout: 30_000, interval: 500 }).toBe(false);
    await next.close();
    expect(file).not.toBe('');
    expect((await facts(id)).contentRemoved).toBeDefined();
  });
});
