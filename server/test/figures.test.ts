import { setImmediate } from 'node:timers/promises';
import type { KyselyPlugin } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Change } from '../ingest/session-log.ts';
import { createSummaries, type Summaries, type SummariesOptions } from '../ingest/summaries.ts';
import { addEvent, emptySummary } from '../ingest/summary.ts';
import { findSummarySources, type SummarySource, writeSummaries } from '../store/summaries.ts';
import { attach, ENGINES, openTestStore, type TestStore } from './engines.ts';
import { createTenant, event, openSession, registerMachine } from './factories.ts';
import { startTestService } from './harness.ts';

const SESSIONS = 100;
const LONG_MS = 15_000;

const prompt = (text: string) => ({ eventType: 'user.message', payload: Buffer.from(JSON.stringify({ text })) });

/** What is asked of a table, and a gate before the answers. */
function watchTable(table: string) {
  const asked: string[] = [];
  let running = 0;
  const seen = { asked, mostAtOnce: 0, gate: Promise.resolve() };
  const mine = new WeakSet<object>();
  const plugin: KyselyPlugin = {
    transformQuery({ node, queryId }) {
      const text = JSON.stringify(node, (_, value) => (typeof value === 'bigint' ? Number(value) : value));
      if (text.includes(`"name":"${table}"`) && !text.includes('"name":"sessions"')) {
        mine.add(queryId);
        asked.push(text);
        seen.mostAtOnce = Math.max(seen.mostAtOnce, ++running);
      }
      return node;
    },
    async transformResult({ result, queryId }) {
      if (mine.has(queryId)) {
        await seen.gate;
        running--;
      }
      return result;
    },
  };
  /** Queries that brought the bodies of a session's appends. */
  const readsOf = (sessionId: string) =>
    asked.filter(
      (text) => text.includes(sessionId) && text.includes('"name":"body"') && !text.includes('octet_length'),
    );
  return { seen, plugin, readsOf };
}

describe.each(ENGINES)('figures of sessions on %s', (engine) => {
  let store: TestStore;
  let organizationId: string;
  let ids: string[];
  const made: Summaries[] = [];

  beforeAll(async () => {
    store = await openTestStore(engine);
    const service = await startTestService(engine, {}, store);
    const tenant = await createTenant(service);
    organizationId = tenant.organizationId;
    const machine = await registerMachine(service, tenant.live);
    ids = await Promise.all(Array.from({ length: SESSIONS }, () => openSession(service, tenant.live, machine)));
    const body = { events: [event('one'), event('two')] };
    await Promise.all(ids.map((id) => service.call('POST', `/v1/sessions/${id}/events`, { as: tenant.live, body })));
    await service.close();
    await store.db.deleteFrom('summaries').execute();
  });
  afterEach(async () => {
    for (const summaries of made.splice(0)) await summaries.close();
    await store.db.deleteFrom('summaries').execute();
  });
  afterAll(() => store.dispose());

  /** Figures as a process that was just started has them. */
  function start(options: Partial<SummariesOptions> = {}): Summaries & { errors: unknown[] } {
    const errors: unknown[] = [];
    const onError = (error: unknown) => void errors.push(error);
    const summaries = createSummaries({
      db: store.db,
      onError,
      flushEveryMs: 3_600_000,
      patienceMs: LONG_MS,
      ...options,
    });
    made.push(summaries);
    return Object.assign(summaries, { errors });
  }

  const sources = (of = ids) => findSummarySources(store.db, organizationId, of);
  const change = (sessionId: string, eventCount: number, text = 'x'): Change => ({
    organizationId,
    sessionId,
    status: 'active',
    eventCount,
    events: [prompt(text)],
  });

  /** Resolves when all that was noted has been counted: the last thing noted is an event nobody can read. */
  async function counted(summaries: Summaries & { errors: unknown[] }): Promise<void> {
    const events = [{ eventType: 'user.message', payload: Buffer.from('{') }];
    summaries.note({ ...change('ses_unreadable', 1), events });
    await expect.poll(() => summaries.errors.length, { timeout: LONG_MS }).toBe(1);
    summaries.errors.length = 0;
  }

  test('are derived once a session, two at a time, however many ask at once', async () => {
    const { seen, plugin, readsOf } = watchTable('appends');
    const summaries = start({ db: store.db.withPlugin(plugin) });
    const asked = await sources();
    const answers = await Promise.all(Array.from({ length: 6 }, () => summaries.read(asked)));
    for (const answer of answers) {
      expect(answer.map(({ through, summary }) => [through, summary.prompts])).toEqual(ids.map(() => [2, 2]));
    }
    for (const id of ids) expect(readsOf(id)).toHaveLength(1);
    expect(seen.mostAtOnce).toBe(2);
  });

  test('that lag are answered as far as they are known, and told of once they have been made up for', async () => {
    const { seen, plugin } = watchTable('appends');
    let open = () => {};
    seen.gate = new Promise((resolve) => {
      open = resolve;
    });
    const told: string[] = [];
    const onCaughtUp = ({ sessionId }: SummarySource) => void told.push(sessionId);
    const summaries = start({ db: store.db.withPlugin(plugin), patienceMs: 5, onCaughtUp });
    const asked = await sources();
    expect((await summaries.read(asked)).map(({ through }) => through)).toEqual(ids.map(() => 0));
    expect(told).toEqual([]);
    open();
    await expect.poll(() => [...told].sort(), { timeout: LONG_MS }).toEqual([...ids].sort());
    expect((await summaries.read(asked)).map(({ through }) => through)).toEqual(ids.map(() => 2));
  });

  test('of a session whose appends are missing are not told of for ever', async () => {
    const told: string[] = [];
    const { seen, plugin } = watchTable('appends');
    const onCaughtUp = ({ sessionId }: SummarySource) => void told.push(sessionId);
    const summaries = start({ db: store.db.withPlugin(plugin), patienceMs: 0, onCaughtUp });
    const [first, second] = await sources(ids.slice(0, 2));
    const tooMany = { ...(first as SummarySource), eventCount: 5 };
    const read = () => summaries.read([tooMany, second as SummarySource]);
    let open = () => {};
    seen.gate = new Promise((resolve) => {
      open = resolve;
    });
    await read();
    open();
    await expect.poll(() => told).toEqual([second?.sessionId]);
    await expect.poll(async () => (await read()).map(({ through }) => through)).toEqual([2, 2]);
    expect(told).toEqual([second?.sessionId]);
  });

  test('are written again where writing them failed', async () => {
    let failing = true;
    const plugin: KyselyPlugin = {
      transformQuery({ node }) {
        if (failing && node.kind === 'RawNode') throw new Error('the disk is on fire');
        return node;
      },
      transformResult: async ({ result }) => result,
    };
    const summaries = start({ db: store.db.withPlugin(plugin) });
    await summaries.read(await sources());
    await expect(summaries.flush()).rejects.toThrow('on fire');
    await expect(summaries.flush()).rejects.toThrow('on fire');
    failing = false;
    await summaries.flush();
    expect((await sources()).map(({ stored }) => stored?.through)).toEqual(ids.map(() => 2));
  });

  test('are written before a flush that was asked for later is over', async () => {
    const { seen, plugin } = watchTable('summaries');
    const summaries = start({ db: store.db.withPlugin(plugin) });
    const [first, second] = ids as [string, string];
    await summaries.read(await sources([first]));
    let open = () => {};
    seen.gate = new Promise((resolve) => {
      open = resolve;
    });
    const flushes = [summaries.flush()];
    await summaries.read(await sources([second]));
    flushes.push(summaries.flush(), summaries.flush());
    open();
    await flushes[2];
    expect((await sources([second]))[0]?.stored?.through).toBe(2);
    await Promise.all(flushes);
  });

  test('of a session that is gone do not keep the others from being written', async () => {
    const summaries = start();
    summaries.note(change('ses_gone', 1));
    await summaries.read(await sources());
    await counted(summaries);
    await summaries.flush();
    expect((await sources()).map(({ stored }) => stored?.through)).toEqual(ids.map(() => 2));
  });

  test.each([
    ['an earlier version', 0, true],
    ['a later version', 99, false],
  ])('that %s of the program wrote are not believed; replaced: %s', async (_, version, isReplaced) => {
    const [sessionId] = ids as [string];
    const wrong = JSON.stringify({ ...emptySummary(), prompts: 7_000 });
    await writeSummaries(store.db, [{ organizationId, sessionId, version, through: 2, summary: wrong }]);
    const summaries = start();
    expect((await summaries.read(await sources([sessionId])))[0]?.summary.prompts).toBe(2);
    await summaries.flush();
    const [after] = await sources([sessionId]);
    expect(after?.stored?.version === version).toBe(!isReplaced);
    expect(JSON.parse(String(after?.stored?.summary)).prompts).toBe(isReplaced ? 2 : 7_000);
  });

  test('that count less never take the place of those that count more', async () => {
    const [sessionId] = ids as [string];
    const row = { organizationId, sessionId, version: 1 };
    for (const through of [1, 2, 1])
      await writeSummaries(store.db, [{ ...row, through, summary: `{"at":${through}}` }]);
    const [after] = await sources([sessionId]);
    expect(after?.stored).toEqual({ version: 1, through: 2, summary: '{"at":2}' });
  });

  test('of five thousand sessions are kept in memory, and of no more, though none could be written', async () => {
    const { seen, plugin } = watchTable('appends');
    const summaries = start({ db: store.db.withPlugin(plugin) });
    const [source] = await sources(ids.slice(0, 1));
    const of = (index: number) => ({ ...(source as SummarySource), sessionId: `ses_${index}`, eventCount: 1 });
    for (let index = 0; index < 6_000; index++) summaries.note(change(`ses_${index}`, 1));
    await counted(summaries);
    await summaries.read([of(5_999), of(1_000)]);
    expect(seen.asked).toEqual([]);
    await summaries.read([of(999)]);
    expect(seen.asked.length).toBeGreaterThan(0);
  });

  test('are counted in many short turns, between which others are answered', async () => {
    const summaries = start();
    const payload = Buffer.from(`{"text":"x","slow to read":[${'{},'.repeat(80_000)}0]}`);
    for (let eventCount = 1; eventCount <= 100; eventCount++) {
      summaries.note({ ...change('ses_long', eventCount), events: [{ eventType: 'user.message', payload }] });
    }
    let isDone = false;
    const done = counted(summaries).then(() => {
      isDone = true;
    });
    let turns = 0;
    while (!isDone) {
      await setImmediate();
      if (summaries.errors.length === 0) turns++;
    }
    await done;
    // These 24 MB take 300 ms to parse, and the fastest machine more than 20; a turn lasts 4 ms and one event more.
    expect(turns).toBeGreaterThan(4);
  });
});

describe.runIf(ENGINES.includes('postgres'))('figures that two replicas write at once', () => {
  test('are all kept, and neither waits for the other in a circle', async () => {
    const store = await openTestStore('postgres');
    const other = await attach(store.dataDir, store.databaseUrl);
    const service = await startTestService('postgres', {}, store);
    const tenant = await createTenant(service);
    const machine = await registerMachine(service, tenant.live);
    const ids = await Promise.all(Array.from({ length: 40 }, () => openSession(service, tenant.live, machine)));
    const errors: unknown[] = [];
    const replicas = [store, other].map(({ db }) =>
      createSummaries({ db, onError: (error) => errors.push(error), flushEveryMs: 3_600_000 }),
    );
    const rounds = 200;
    for (let round = 1; round <= rounds; round++) {
      for (const [at, replica] of replicas.entries()) {
        for (const sessionId of at === 0 ? ids : ids.toReversed()) {
          const { organizationId } = tenant;
          replica.note({ organizationId, sessionId, status: 'active', eventCount: round, events: [prompt('x')] });
        }
      }
      await setImmediate();
      await setImmediate();
      await Promise.all(replicas.map((replica) => replica.flush()));
    }
    for (const replica of replicas) await replica.close();
    const stored = await findSummarySources(store.db, tenant.organizationId, ids);
    expect(stored.map((source) => source.stored?.through)).toEqual(ids.map(() => rounds));
    expect(stored.map((source) => JSON.parse(String(source.stored?.summary)).prompts)).toEqual(ids.map(() => rounds));
    expect(errors).toEqual([]);
    await service.close();
    await other.close();
    await store.dispose();
  }, 60_000);
});

describe('the response counted last', () => {
  const usage = (responseId: string, outputTokens: number) => Buffer.from(JSON.stringify({ responseId, outputTokens }));
  const long = 'x'.repeat(250_000);

  test('is known again by an id of any length, of which little is kept', () => {
    const summary = emptySummary();
    for (const tokens of [10, 30]) addEvent(summary, 'usage', usage(long, tokens));
    expect(summary.outputTokens).toBe(30);
    addEvent(summary, 'usage', usage(`${long}y`, 5));
    expect(summary.outputTokens).toBe(35);
    expect(JSON.stringify(summary).length).toBeLessThan(1_000);
  });
});
