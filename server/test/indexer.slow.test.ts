import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { COMMANDS } from '../commands.ts';
import { createDeriveThread } from '../derive/derive-thread.ts';
import type { Indexer, IndexerOptions } from '../derive/indexer.ts';
import { SessionLog } from '../ingest/session-log.ts';
import { removeAllDerived } from '../store/derived-removal.ts';
import { packText } from '../store/packed.ts';
import { findSummaries } from '../store/summaries.ts';
import { wholeOrganization } from '../store/viewer.ts';
import { readDerived, VERSION_HERE } from './derived.ts';
import { attach, ENGINES, openTestStore, type TestStore } from './engines.ts';
import { createTenant, openSession, registerMachine } from './factories.ts';
import { startTestService, testConfig } from './harness.ts';
import { shut, startIndexer } from './indexing.ts';
import { countWrites } from './plans.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const SESSIONS = 8;
const LONG_MS = 60_000;
const HOUR_MS = 3_600_000;

/** The highest niceness of the system. */
const MAX_NICE = 19;

/** Niceness as in proc(5): the higher, the more the thread yields to others. */
function nicenessOf(name?: string): number {
  const threads = readdirSync('/proc/self/task');
  const named = (thread: string) => readFileSync(`/proc/self/task/${thread}/comm`, 'utf8').trim() === name;
  const thread = name === undefined ? String(process.pid) : threads.find(named);
  return Number(readFileSync(`/proc/self/task/${thread}/stat`, 'utf8').split(') ')[1]?.split(' ')[16]);
}

type Source = Awaited<ReturnType<typeof findSummaries>>[number];

describe.each(ENGINES)('the indexer on %s', (engine) => {
  let store: TestStore;
  let organizationId: string;
  let ids: string[];
  let append: (sessionId: string, text: string, eventType?: string) => Promise<void>;

  beforeAll(async () => {
    store = await openTestStore(engine);
    const service = await startTestService(engine, {}, store);
    const tenant = await createTenant(service);
    organizationId = tenant.organizationId;
    const machine = await registerMachine(service, tenant.live);
    ids = await Promise.all(Array.from({ length: SESSIONS }, () => openSession(service, tenant.live, machine)));
    await service.close();
    const log = new SessionLog({
      db: store.db,
      journal: store.journal,
      committed: () => undefined,
      now: () => Date.UTC(2026, 10, 1),
    });
    append = async (sessionId, text, eventType = 'user.message') => {
      const events = [{ eventType, payload: Buffer.from(JSON.stringify({ text })) }];
      const place = { organizationId, plane: 'live', sessionId, sender: 'a' } as const;
      await log.append({ ...place, idempotencyKey: null, fingerprint: '', events });
    };
    for (const id of ids) await append(id, `first of ${id}`);
  });
  beforeEach(() => removeAllDerived(store.db));
  afterAll(() => store.dispose());

  const start = (options?: Partial<IndexerOptions>) => startIndexer(store, options);

  const sources = () => findSummaries(store.db, wholeOrganization(organizationId), ids);
  const through = async () => {
    const rows = await sources();
    return rows.map(({ session, derived }) => (derived?.derived_through === session.event_count ? 'all' : 'less'));
  };
  const all = (count: number) => Array.from({ length: count }, () => 'all');

  test('derives batches together that arrive fast, and announces them once', async () => {
    const { indexer, seen, told } = start();
    const [first] = ids as [string];
    for (const text of ['a', 'b', 'c', 'd']) {
      await append(first, text);
      indexer.note({ organizationId, sessionId: first });
    }
    await expect.poll(() => told, { timeout: LONG_MS }).toEqual([first]);
    expect(seen.jobs.length).toBeLessThan(4);
    await indexer.close();
  });

  test('keeps no events in memory of sessions that wait for their turn', async () => {
    const { indexer, seen } = start();
    const gate = Promise.withResolvers<void>();
    seen.gate = gate.promise;
    await append(ids[0] as string, 'new');
    const note = () => {
      const events = [{ eventType: 'notice', payload: Buffer.from('{}') }];
      const change = { organizationId, sessionId: ids[0] as string, events };
      indexer.note(change);
      return new WeakRef(events);
    };
    const events = note();
    await expect.poll(() => seen.jobs.length, { timeout: LONG_MS }).toBe(1);
    const waiting = note();
    await expect
      .poll(() => {
        collectGarbage();
        return [events.deref() === undefined, waiting.deref() === undefined];
      })
      .toEqual([true, true]);
    gate.resolve();
    await indexer.close();
  });

  test('reads each event once, even if a chunk grows by many batches', async () => {
    const { indexer, seen } = start();
    const [first] = ids as [string];
    const session = async () => (await sources()).filter(({ session }) => session.session_id === first);
    await indexer.reach(await session(), LONG_MS);
    for (const text of ['a', 'b', 'c']) {
      await append(first, text);
      await indexer.reach(await session(), LONG_MS);
    }
    const [whole, ...added] = seen.jobs;
    expect(whole?.stored?.facts).toBeNull();
    expect(added.map(({ appends, stored }) => [appends.length, stored])).toEqual([
      [1, undefined],
      [1, undefined],
      [1, undefined],
    ]);
    const grown = await readDerived(store);
    await indexer.close();
    // Another process starts from the stored rows.
    await append(first, 'd');
    const other = start();
    await other.indexer.reach(await session(), LONG_MS);
    expect(other.seen.jobs.map(({ stored }) => stored !== undefined)).toEqual([false, true]);
    await other.indexer.close();
    expect((await readDerived(store)).chunks.length).toBe(grown.chunks.length);
  });

  test('writes no rows of days for events that change none of their figures', async () => {
    const [first] = ids as [string];
    const before = start();
    await before.indexer.reach(
      (await sources()).filter(({ session }) => session.session_id === first),
      LONG_MS,
    );
    await before.indexer.close();
    await append(first, 'more', 'assistant.message');
    const { writes, db } = countWrites(store.db);
    const { indexer } = start({ db });
    await indexer.reach(
      (await sources()).filter(({ session }) => session.session_id === first),
      LONG_MS,
    );
    await indexer.close();
    // The facts and the chunk, on PostgreSQL also a replica's claim and its release. SQLite indexes words in a separate table.
    const engines = engine === 'postgres' ? ['session_facts', 'session_facts'] : ['chunk_words'];
    expect(writes.sort()).toEqual(['session_facts', 'session_chunks', ...engines].sort());
  });

  test('derives each session once, even if many requests ask at once', async () => {
    const { indexer, seen } = start();
    const asked = await sources();
    await Promise.all(Array.from({ length: 5 }, () => indexer.reach(asked, LONG_MS)));
    expect(await through()).toEqual(all(SESSIONS));
    expect(seen.jobs).toHaveLength(SESSIONS);
    expect(await indexer.reach(await sources())).toBe(false);
    await indexer.close();
  });

  test('lets a request wait only for its limit, and announces the session when it is derived', async () => {
    const { indexer, seen, told } = start();
    const open = shut(seen);
    expect(await indexer.reach(await sources(), 5)).toBe(true);
    expect(told).toEqual([]);
    open();
    await expect.poll(() => [...told].sort(), { timeout: LONG_MS }).toEqual([...ids].sort());
    await indexer.close();
  });

  test('drops sessions that exceed the queue of their organization, and derives them at the next request', async () => {
    const { indexer, seen } = start();
    const open = shut(seen);
    const [one, two, third] = (await sources()) as [Source, Source, Source];
    const begun = indexer.reach([one, two], LONG_MS);
    await expect.poll(() => seen.jobs.length).toBe(2);
    const missing = Array.from({ length: 1_200 }, (_, n) => ({
      ...third,
      session: { ...third.session, session_id: `ses_${n}` },
    }));
    await indexer.reach([...missing, third], 5);
    // Two are being derived, and a thousand wait.
    expect(indexer.waiting()).toBe(1_002);
    open();
    await begun;
    await expect.poll(() => indexer.waiting(), { timeout: LONG_MS }).toBe(0);
    const derived = (await sources()).filter(({ derived }) => derived && derived.derived_through > 0);
    expect(derived).toHaveLength(2);
    await indexer.reach([third], LONG_MS);
    expect((await through()).filter((reached) => reached === 'all')).toHaveLength(3);
    await indexer.close();
  });

  test('is catching up for an organization with a session that has waited for two seconds, and for no other', async () => {
    let now = Date.now();
    const { indexer, seen } = start({ now: () => now });
    await indexer.catchUp();
    const open = shut(seen);
    const [first] = ids as [string];
    await append(first, 'that waits');
    indexer.note({ organizationId, sessionId: first });
    expect(await indexer.isCatchingUp(organizationId)).toBe(false);
    now += 2_001;
    expect(await indexer.isCatchingUp(organizationId)).toBe(true);
    expect(await indexer.isCatchingUp('org_of-others')).toBe(false);
    open();
    await expect.poll(() => indexer.isCatchingUp(organizationId), { timeout: LONG_MS }).toBe(false);
    await indexer.close();
  });

  test('is catching up before its first check only for an organization with sessions that are behind', async () => {
    const before = start();
    await before.indexer.catchUp();
    await before.indexer.close();
    const begun = () => start().indexer;
    const told = (indexer: Indexer, of = organizationId) => expect.poll(() => indexer.isCatchingUp(of));
    await told(begun()).toBe(false);
    const [first] = ids as [string];
    await append(first, 'after the look');
    const indexer = begun();
    await told(indexer, 'org_of-others').toBe(false);
    expect(await indexer.isCatchingUp(organizationId)).toBe(true);
    await indexer.reach(await sources(), LONG_MS);
    await told(indexer).toBe(false);
    await store.db.deleteFrom('session_facts').where('session_id', '=', first).execute();
    expect(await begun().isCatchingUp(organizationId)).toBe(true);
    await indexer.close();
  });

  test('is not catching up if a session gets events repeatedly and each waits only briefly', async () => {
    let now = Date.now();
    const { indexer, seen } = start({ now: () => now });
    await indexer.catchUp();
    const [first] = ids as [string];
    const told: boolean[] = [];
    const count = async () =>
      (await sources()).find(({ session }) => session.session_id === first)?.session.event_count;
    let open = shut(seen);
    for (let round = 1; round <= 4; round++) {
      await append(first, `in round ${round}`);
      indexer.note({ organizationId, sessionId: first });
      // These events are requested while the events of the round before are being derived.
      await pause(300);
      const release = round > 1 ? open : undefined;
      if (release) open = shut(seen);
      release?.();
      const events = await count();
      await expect.poll(() => seen.jobs.at(-1)?.eventCount, { timeout: LONG_MS }).toBe(events);
      now += 900;
      told.push(await indexer.isCatchingUp(organizationId));
    }
    expect(told).toEqual([false, false, false, false]);
    open();
    await indexer.close();
  });

  test('derives events that arrive while their session is being derived', async () => {
    const { indexer, seen } = start();
    const [first] = ids as [string];
    const open = shut(seen);
    const session = (await sources()).filter(({ session }) => session.session_id === first);
    const reached = indexer.reach(session, LONG_MS);
    await expect.poll(() => seen.jobs.length).toBe(1);
    await append(first, 'meanwhile');
    const again = indexer.reach(session, LONG_MS);
    open();
    await Promise.all([reached, again]);
    const [row] = (await sources()).filter(({ session }) => session.session_id === first);
    expect(row?.derived?.derived_through).toBe(row?.session.event_count);
    await indexer.close();
  });

  test('catches up with all sessions that are behind, newest first, and skips unreadable ones', async () => {
    const { indexer, seen, errors } = start();
    seen.fails = ({ appends }) => String(Buffer.from(appends[0]?.body ?? [])).includes(`first of ${ids[3]}`);
    await indexer.catchUp();
    const done = (await sources())
      .filter(({ derived }) => derived?.summary !== '{}')
      .map((row) => row.session.session_id);
    expect(done.sort()).toEqual(ids.filter((_, at) => at !== 3).sort());
    expect(String(errors)).toContain('nobody can read that');
    const order = seen.jobs.map(
      ({ appends }) => /first of (ses_\w+)/.exec(String(Buffer.from(appends[0]?.body ?? [])))?.[1],
    );
    expect(order).toEqual([...ids].sort().reverse());
    await indexer.close();
  });

  test('derives the data of an earlier version again without reading it, and leaves the data of a later version alone', async () => {
    const first = start();
    await first.indexer.catchUp();
    const before = await readDerived(store);
    const [old, later] = ids as [string, string];
    await store.db
      .updateTable('session_facts')
      .set({ version: 0, prompts: 7_000, facts: packText('{"a shape":"that nobody knows"}') })
      .where('session_id', '=', old)
      .execute();
    await store.db
      .updateTable('session_facts')
      .set({ version: VERSION_HERE + 1, prompts: 7_000 })
      .where('session_id', '=', later)
      .execute();
    const second = start();
    await second.indexer.catchUp();
    expect(second.seen.jobs).toHaveLength(1);
    const after = await readDerived(store);
    expect([after.days, after.sums]).toEqual([before.days, before.sums]);
    expect(after.facts.find(({ session_id }) => session_id === old)).toEqual(
      before.facts.find((row) => row.session_id === old),
    );
    expect(after.facts.find(({ session_id }) => session_id === later)).toMatchObject({
      version: VERSION_HERE + 1,
      prompts: 7_000,
    });
    for (const { indexer } of [first, second]) await indexer.close();
  });

  test('skips closed sessions that are derived, and checks sessions that are new or may still get events', async () => {
    const now = Date.UTC(2027, 0, 1);
    const { indexer, seen } = start({ now: () => now });
    await indexer.catchUp();
    const [closed, grown, fresh, finished] = ids as [string, string, string, string];
    const facts = (id: string) => store.db.updateTable('session_facts').where('session_id', '=', id);
    // Only a defect leaves rows like these; they show which sessions are checked.
    await facts(closed).set({ is_final: 1, derived_through: 0 }).execute();
    await append(grown, 'more');
    await store.db.deleteFrom('session_facts').where('session_id', '=', fresh).execute();
    await store.db.updateTable('sessions').set({ created_at: now }).where('session_id', '=', fresh).execute();
    await store.db.updateTable('sessions').set({ status: 'completed' }).where('session_id', '=', finished).execute();
    const jobs = seen.jobs.length;
    await indexer.catchUp();
    const rows = await store.db
      .selectFrom('session_facts')
      .select(['session_id', 'derived_through', 'is_final'])
      .execute();
    const of = (id: string) => rows.find((row) => row.session_id === id);
    expect(of(closed)).toMatchObject({ derived_through: 0 });
    expect(of(grown)?.derived_through).toBeGreaterThan(1);
    expect(of(fresh)?.derived_through).toBeGreaterThan(0);
    expect(of(finished)).toMatchObject({ is_final: 1 });
    expect(seen.jobs.length).toBe(jobs + 2);
    await store.db.updateTable('sessions').set({ status: 'active' }).where('session_id', '=', finished).execute();
    await indexer.close();
  });

  test('retries a closed session of an earlier version that failed the first time', async () => {
    const earlier = start();
    await earlier.indexer.catchUp();
    await earlier.indexer.close();
    const [closed] = ids as [string];
    const facts = store.db.updateTable('session_facts').where('session_id', '=', closed);
    await facts.set({ is_final: 1, version: 0 }).execute();
    let now = Date.now();
    const { indexer, seen, errors } = start({ now: () => now });
    seen.fails = () => true;
    await indexer.catchUp();
    expect(String(errors)).toContain('nobody can read that');
    seen.fails = () => false;
    // The clock moves past the claim, which another process may hold until then.
    now += 60_000;
    await indexer.catchUp();
    const [row] = (await sources()).filter(({ session }) => session.session_id === closed);
    expect(row?.derived?.version).toBe(VERSION_HERE);
    await indexer.close();
  });

  test('checks all sessions again once a day, even those without derived rows', async () => {
    let now = Date.UTC(2027, 0, 1);
    const { indexer } = start({ now: () => now });
    await indexer.catchUp();
    const [lost, waiting] = ids as [string, string];
    // An interrupted `reindex` leaves the first session like this, and a check that found no room for it leaves the second.
    await store.db.deleteFrom('session_facts').where('session_id', '=', lost).execute();
    const facts = store.db.updateTable('session_facts').where('session_id', '=', waiting);
    await facts.set({ is_final: 1, derived_through: 0 }).execute();
    now += 23 * HOUR_MS;
    await indexer.catchUp();
    expect((await through()).filter((reached) => reached === 'less')).toHaveLength(2);
    now += HOUR_MS;
    await indexer.catchUp();
    expect(await through()).toEqual(all(SESSIONS));
    await indexer.close();
  });

  test('of two replicas derives each session once', async () => {
    const other = engine === 'postgres' ? await attach(store.dataDir, store.databaseUrl) : store;
    const replicas = [start(), start({ db: other.db })];
    await Promise.all(replicas.map(({ indexer }) => indexer.catchUp()));
    for (const { indexer } of replicas) await indexer.catchUp();
    expect(await through()).toEqual(all(SESSIONS));
    const [one, two] = await Promise.all([readDerived(store), readDerived(other)]);
    expect(one).toEqual(two);
    // A session that the other replica has claimed is not even read.
    if (engine === 'postgres') expect(replicas.flatMap(({ seen }) => seen.jobs)).toHaveLength(SESSIONS);
    for (const { indexer } of replicas) await indexer.close();
    if (other !== store) await other.close();
  });

  test('continues where it was stopped', async () => {
    const first = start();
    const open = shut(first.seen);
    void first.indexer.catchUp();
    await expect.poll(() => first.seen.jobs.length).toBe(1);
    // A killed process leaves a claim, and no derived rows.
    await store.db.updateTable('session_facts').set({ claimed_until: 0 }).execute();
    const second = start();
    await second.indexer.catchUp();
    expect(await through()).toEqual(all(SESSIONS));
    const derived = await readDerived(store);
    // A process that only slept is too late, and changes nothing.
    open();
    await first.indexer.close();
    expect(await readDerived(store)).toEqual(derived);
    await second.indexer.close();
  });

  test('derives the same on its own thread as on this thread', async () => {
    const { indexer } = start();
    await indexer.catchUp();
    await indexer.close();
    const here = await readDerived(store);
    await removeAllDerived(store.db);
    const thread = createDeriveThread();
    const aside = start({ thread });
    await aside.indexer.catchUp();
    expect(await readDerived(store)).toEqual(here);
    if (process.platform === 'linux') {
      expect(nicenessOf('indexer')).toBe(Math.min(MAX_NICE, nicenessOf() + 10));
    }
    await aside.indexer.close();
    await thread.close();
  });

  test('starts again from nothing with `reindex`', async () => {
    const { indexer } = start();
    await indexer.catchUp();
    await indexer.close();
    const before = await readDerived(store);
    await sql`update session_days set prompts = 7000`.execute(store.db);
    await store.close();
    const lines: string[] = [];
    const config = testConfig({ DATA_DIR: store.dataDir, DATABASE_URL: store.databaseUrl });
    await COMMANDS.reindex?.(config, (line) => void lines.push(line), []);
    store = await attach(store.dataDir, store.databaseUrl);
    expect(lines.at(-1)).toBe(`Derived ${SESSIONS} sessions.`);
    expect(await readDerived(store)).toEqual(before);
  });
});
